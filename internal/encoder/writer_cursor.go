package encoder

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// cursorSize is the room that a cursor gives: a short header, the length and a string of medium length, which is more than any scalar
// fills. It is no more than that, so that a test sees each byte beyond it.
const cursorSize = 1 + 1 + mediumString

// cursor returns buf[filled:filled+cursorSize]. The caller has seen that filled < limit, which take chose so that this lies in
// buf, and filled is never negative. The compiler does not know that: with the slice in place of the pointer it compares twice more for
// each field, and loads and masks what it needs for that. OneOfEach into chunks then takes 50 ns and not 42 (bench/suite, tpwchunk).
func (w *Writer) cursor() *[cursorSize]byte {
	return (*[cursorSize]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(w.buf)), w.filled)) //nolint:gosec // see above
}

// stringBytes returns the bytes of s without a copy. Nobody may write to them.
func stringBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // the callers only read
}

// varint32 returns v, of up to 32 bits, as a varint, the lowest byte first, and its length. The groups of seven bits are moved
// each by itself, not in three rounds as Spread does: five are few, and none waits for another. It takes 64 bits so that the
// compiler cannot know which bytes are 0, and stores all eight at once.
func varint32(v uint64) (word uint64, n int) {
	x := v&0x7f | v<<1&0x7f00 | v<<2&0x7f0000 | v<<3&0x7f000000 | v>>28<<32
	unused := bits.LeadingZeros64(x|1) & 56 // bits in the bytes above the highest that is needed
	return x | 0x0080808080808080>>unused, 8 - unused/8
}

// varint56 is varint32 for up to 56 bits.
func varint56(v uint64) (word uint64, n int) {
	x := Spread(v)
	unused := bits.LeadingZeros64(x|1) & 56
	return x | 0x0080808080808080>>unused, 8 - unused/8
}

// shortString is the length of a string up to which textWords takes it.
const shortString = 16

// textWords returns the bytes of s, at most shortString of them, as two words with zeros behind them. Copying so few by words that
// overlap takes less time than a call of memmove, and it is seen at once whether they are ASCII.
func textWords(s string) (low, high uint64) {
	n := len(s)
	switch {
	case n >= 8:
		return loadString64(s), loadString64(s[n-8:]) >> (8 * uint(16-n)) // a shift by 64 leaves 0
	case n >= 4:
		return uint64(loadString32(s)) | uint64(loadString32(s[n-4:]))>>(8*uint(8-n))<<32, 0
	case n > 0:
		return uint64(s[0]) | uint64(s[n>>1])<<(8*uint(n>>1)) | uint64(s[n-1])<<(8*uint(n-1)), 0
	}
	return 0, 0
}

func loadString64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func loadString32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// isASCIIWords reports whether no byte of what textWords returned has its top bit set.
func isASCIIWords(low, high uint64) bool { return (low|high)&continuation == 0 }

// putWords writes what textWords returned to b.
func putWords(b *[shortString]byte, low, high uint64) {
	binary.LittleEndian.PutUint64(b[:8], low)
	binary.LittleEndian.PutUint64(b[8:], high)
}

// mediumString is the length of a string up to which putText takes it.
const mediumString = 32

// putText writes the length of s, at most mediumString, and s. Where s is not UTF-8 it writes nothing and returns false. What it
// writes behind the end of s are zeros.
func putText(b *[mediumString + 1]byte, s string) bool {
	if len(s) <= shortString {
		low, high := textWords(s)
		if !isASCIIWords(low, high) && !isShortText(stringBytes(s)) {
			return false
		}
		b[0] = byte(len(s))
		putWords((*[shortString]byte)(b[1:]), low, high)
		return true
	}
	// Two halves of sixteen bytes that overlap.
	last := len(s) - shortString
	first, second, third, fourth := loadString64(s), loadString64(s[8:]), loadString64(s[last:]), loadString64(s[last+8:])
	if !isASCIIWords(first|second, third|fourth) && !utf8.ValidString(s) {
		return false
	}
	b[0] = byte(len(s))
	putWords((*[shortString]byte)(b[1:]), first, second)
	putWords((*[shortString]byte)(b[1+last:]), third, fourth)
	return true
}
