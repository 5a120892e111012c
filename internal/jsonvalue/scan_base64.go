package jsonvalue

import "encoding/binary"

// What a digit of base64 belongs to, above its bits. What is no digit has both flags, and so has text that mixes the alphabets.
const (
	scanStandard = 1 << 24 // + and /
	scanURLSafe  = 1 << 25 // - and _
	scanNeither  = scanStandard | scanURLSafe
)

// scanBase64 are the bits of each digit, at each of the four places that a digit can have in three bytes.
var scanBase64 = func() (digits [4][256]uint32) {
	const common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for place := range digits {
		d := &digits[place]
		for i := range d {
			d[i] = scanNeither
		}
		shift := 18 - 6*place
		for i := range uint32(len(common)) {
			d[common[i]] = i << shift
		}
		d['+'], d['/'] = 62<<shift|scanStandard, 63<<shift|scanStandard
		d['-'], d['_'] = 62<<shift|scanURLSafe, 63<<shift|scanURLSafe
	}
	return digits
}()

// scanBase64Size returns the digits of base64 text without its padding, and how many bytes they are. It is false for text whose length or
// padding cannot be right.
func scanBase64Size(text []byte) (digits []byte, size int, ok bool) {
	digits = text
	for len(digits) > 0 && digits[len(digits)-1] == '=' && len(text)-len(digits) < 2 {
		digits = digits[:len(digits)-1]
	}
	if len(digits) < len(text) && len(text)%4 != 0 || len(digits)%4 == 1 {
		return nil, 0, false
	}
	return digits, len(digits)/4*3 + max(len(digits)%4-1, 0), true
}

// scanBase64Bytes writes the bytes of the digits to out, which has room for them and eight more. It is false where one is no digit, where both
// alphabets are used, and where the last has bits that belong to no byte.
func scanBase64Bytes(out, digits []byte) (ok bool) {
	seen := uint32(0)
	tables := &scanBase64
	for len(digits) >= 8 {
		d := (*[8]byte)(digits)
		first := tables[0][d[0]] | tables[1][d[1]] | tables[2][d[2]] | tables[3][d[3]]
		second := tables[0][d[4]] | tables[1][d[5]] | tables[2][d[6]] | tables[3][d[7]]
		seen |= first | second
		binary.BigEndian.PutUint64(out, uint64(first)<<40|uint64(second)&0xffffff<<16) // two bytes more than there are
		digits, out = digits[8:], out[6:]
	}
	if len(digits) >= 4 {
		four := tables[0][digits[0]] | tables[1][digits[1]] | tables[2][digits[2]] | tables[3][digits[3]]
		seen |= four
		binary.BigEndian.PutUint32(out, four<<8)
		digits, out = digits[4:], out[3:]
	}
	rest := uint32(0)
	switch len(digits) {
	case 2:
		two := tables[0][digits[0]] | tables[1][digits[1]]
		seen |= two
		out[0] = byte(two >> 16)
		rest = two & 0xffff
	case 3:
		three := tables[0][digits[0]] | tables[1][digits[1]] | tables[2][digits[2]]
		seen |= three
		out[0], out[1] = byte(three>>16), byte(three>>8)
		rest = three & 0xff
	}
	return seen&scanNeither != scanNeither && rest == 0
}

// scanUUID writes the sixteen bytes of a uuid in canonical text to out. It returns false where the text is none, and lower where
// it has no upper case.
func scanUUID(out *[16]byte, text []byte) (ok, lower bool) {
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false, false
	}
	lower = true
	at := 0
	for i := range out {
		if at == 8 || at == 13 || at == 18 || at == 23 {
			at++
		}
		high, low := scanHexDigit[text[at]], scanHexDigit[text[at+1]]
		if high == 0 || low == 0 {
			return false, false
		}
		if text[at] >= 'A' && text[at] <= 'F' || text[at+1] >= 'A' && text[at+1] <= 'F' {
			lower = false
		}
		out[i] = (high-1)<<4 | (low - 1)
		at += 2
	}
	return true, lower
}
