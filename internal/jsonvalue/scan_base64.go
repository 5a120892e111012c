package jsonvalue

// The digits of base64, of either alphabet. What is none has both bits, and so has what is of both.
const (
	scanStandard = 0x40 // + and /
	scanURLSafe  = 0x80 // - and _
	scanNeither  = scanStandard | scanURLSafe
)

// scanBase64 are the six bits of each digit.
var scanBase64 = func() (digits [256]uint8) {
	const common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range digits {
		digits[i] = scanNeither
	}
	for i := range len(common) {
		digits[common[i]] = uint8(i)
	}
	digits['+'], digits['/'] = 62|scanStandard, 63|scanStandard
	digits['-'], digits['_'] = 62|scanURLSafe, 63|scanURLSafe
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

// scanBase64Bytes writes the bytes of the digits to out, which has room for them. It is false where one is no
// digit, where both alphabets are used, and where the last has bits that belong to no byte.
func scanBase64Bytes(out, digits []byte) (ok bool) {
	seen := uint8(0)
	for len(digits) >= 4 {
		_ = out[2]
		a, b, c, d := scanBase64[digits[0]], scanBase64[digits[1]], scanBase64[digits[2]], scanBase64[digits[3]]
		seen |= a | b | c | d
		bits := uint32(a&0x3f)<<18 | uint32(b&0x3f)<<12 | uint32(c&0x3f)<<6 | uint32(d&0x3f)
		out[0], out[1], out[2] = byte(bits>>16), byte(bits>>8), byte(bits)
		digits, out = digits[4:], out[3:]
	}
	rest := uint8(0)
	switch len(digits) {
	case 2:
		a, b := scanBase64[digits[0]], scanBase64[digits[1]]
		seen |= a | b
		out[0] = a<<2 | b&0x3f>>4
		rest = b & 0x0f
	case 3:
		a, b, c := scanBase64[digits[0]], scanBase64[digits[1]], scanBase64[digits[2]]
		seen |= a | b | c
		out[0], out[1] = a<<2|b&0x3f>>4, b<<4|c&0x3f>>2
		rest = c & 0x03
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
