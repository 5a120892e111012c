package decoder

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// Integers of fixed width must come out as the varints that a loop makes of them, in any room from the exact one up.
func TestFixedAgreesWithLoops(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, kind := range []uint8{kindI16, kindI32, kindI64} {
		width := binaryLeast[kind]
		for range 3000 {
			count := random.IntN(40)
			var data, want []byte
			for range count {
				v := int64(random.Uint64() >> random.UintN(64)) // any
				if random.IntN(2) == 0 {
					v = ^v
				}
				var b [8]byte
				binary.BigEndian.PutUint64(b[:], uint64(v)<<(64-8*width))
				data = append(data, b[:width]...)
				want = binary.AppendUvarint(want, zigzag(v<<(64-8*width)>>(64-8*width)))
			}
			d := Decoder{data: data, binary: true}
			end, size := d.measureFixed(kind, 0, count)
			if end != len(data) || size != len(want) {
				t.Fatalf("kind %d, %x: ends at %d, size %d, want %d, %d", kind, data, end, size, len(data), len(want))
			}
			room := make([]byte, size+random.IntN(20))
			d.beginWriting(nil, room, 0)
			if end := d.writeFixed(kind, 0, count); end != len(data) || !slices.Equal(room[:d.out.n], want) {
				t.Fatalf("kind %d, %x in %d bytes: ends at %d\n got %x\nwant %x", kind, data, len(room), end, room[:d.out.n], want)
			}
		}
	}
}

// Only a byte of 1 is true, wherever it stands.
func TestWriteBools(t *testing.T) {
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(i * 7 / 3)
	}
	for n := range data {
		d := Decoder{data: data}
		room := make([]byte, n)
		d.beginWriting(nil, room, 0)
		d.writeBools(0, n)
		for i, got := range room {
			if got != oneIfTrue(data[i]) {
				t.Fatalf("byte %d of %d, 0x%02x, became %d", i, n, data[i], got)
			}
		}
	}
}
