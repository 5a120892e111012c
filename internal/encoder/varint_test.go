package encoder

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"
)

func TestVarint(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		v    uint64
		want string
	}{
		{"zero", 0, "00"},
		{"largest of one byte", 0x7f, "7f"},
		{"smallest of two bytes", 0x80, "8001"},
		{"300, the example of the specification", 300, "ac02"},
		{"largest of two bytes", 1<<14 - 1, "ff7f"},
		{"smallest of three bytes", 1 << 14, "808001"},
		{"largest of 32 bits", math.MaxUint32, "ffffffff0f"},
		{"largest of eight bytes", 1<<56 - 1, "ffffffffffffff7f"},
		{"smallest of nine bytes", 1 << 56, "808080808080808001"},
		{"largest of nine bytes", 1<<63 - 1, "ffffffffffffffff7f"},
		{"smallest of ten bytes", 1 << 63, "80808080808080808001"},
		{"largest of 64 bits", math.MaxUint64, "ffffffffffffffffff01"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for _, room := range []int{0, maxVarint64} { // room of ten bytes chooses the branchless way
				got := AppendVarint(make([]byte, 0, room), test.v)
				if hex.EncodeToString(got) != test.want {
					t.Errorf("AppendVarint(room %d, %d) = %x, want %s", room, test.v, got, test.want)
				}
			}
			if got, want := SizeVarint(test.v), len(test.want)/2; got != want {
				t.Errorf("SizeVarint(%d) = %d, want %d", test.v, got, want)
			}
		})
	}
}

// TestVarintAgainstStandardLibrary compares every bit length, with values around it and random ones, with encoding/binary.
func TestVarintAgainstStandardLibrary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6153, 0))
	check := func(v uint64) {
		want := binary.AppendUvarint(nil, v)
		var b [maxVarint64]byte
		if got := b[:PutVarint64(&b, v)]; !bytes.Equal(got, want) {
			t.Fatalf("PutVarint64(%d) = %x, want %x", v, got, want)
		}
		if got := SizeVarint(v); got != len(want) {
			t.Fatalf("SizeVarint(%d) = %d, want %d", v, got, len(want))
		}
		if v > math.MaxUint32 {
			return
		}
		if n := putVarint32((*[8]byte)(b[:8]), uint32(v)); !bytes.Equal(b[:n], want) {
			t.Fatalf("putVarint32(%d) = %x, want %x", v, b[:n], want)
		}
	}
	for shift := range 64 {
		low := uint64(1) << shift
		for _, v := range []uint64{low - 1, low, low + 1, low | low>>1} {
			check(v)
		}
		for range 200 {
			check(random.Uint64() >> shift)
		}
	}
}

func TestZigzag(t *testing.T) {
	t.Parallel()
	tests := []struct {
		v    int64
		want uint64
	}{
		{0, 0},
		{-1, 1},
		{1, 2},
		{-2, 3},
		{math.MaxInt32, math.MaxUint32 - 1},
		{math.MinInt32, math.MaxUint32},
		{math.MaxInt64, math.MaxUint64 - 1},
		{math.MinInt64, math.MaxUint64},
	}
	for _, test := range tests {
		if got := Zigzag64(test.v); got != test.want {
			t.Errorf("Zigzag64(%d) = %d, want %d", test.v, got, test.want)
		}
		if v := int32(test.v); int64(v) == test.v {
			if got := Zigzag32(v); uint64(got) != test.want {
				t.Errorf("Zigzag32(%d) = %d, want %d", v, got, test.want)
			}
		}
	}
}

func TestAppendFieldHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		lastID, id int16
		want       string
	}{
		{"smallest short step", 0, 1, "15"},
		{"largest short step", 0, 15, "f5"},
		{"step of 16", 0, 16, "0520"},
		{"the same id again", 1, 1, "0502"},
		{"backwards", 5, 1, "0502"},
		{"id 0", 0, 0, "0500"},
		{"negative id", 0, -1, "0501"},
		{"short step across zero", -1, 14, "f5"},
		{"smallest id", 0, math.MinInt16, "05ffff03"},
		{"largest id after the smallest: the step is wider than 16 bits", math.MinInt16, math.MaxInt16, "05feff03"},
		{"smallest id after the largest", math.MaxInt16, math.MinInt16, "05ffff03"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := AppendFieldHeader(nil, test.lastID, test.id, 5); hex.EncodeToString(got) != test.want {
				t.Errorf("AppendFieldHeader(%d, %d) = %x, want %s", test.lastID, test.id, got, test.want)
			}
		})
	}
}

// BenchmarkVarint compares the branchless way with the loop, on sizes that a branch predictor cannot learn and on sizes
// that it can.
func BenchmarkVarint(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	mixed, small := make([]uint64, 1<<16), make([]uint64, 1<<16)
	for i := range mixed {
		mixed[i], small[i] = random.Uint64()>>random.UintN(64), random.Uint64N(100)
	}
	buf := make([]byte, 0, len(mixed)*maxVarint64)
	ways := []struct {
		name   string
		append func([]byte, uint64) []byte
	}{{"branchless", AppendVarint}, {"loop", binary.AppendUvarint}}
	for _, values := range []struct {
		name string
		list []uint64
	}{{"mixed", mixed}, {"small", small}} {
		for _, way := range ways {
			b.Run(values.name+"/"+way.name, func(b *testing.B) {
				for b.Loop() {
					out := buf
					for _, v := range values.list {
						out = way.append(out, v)
					}
					b.SetBytes(int64(len(out)))
				}
			})
		}
	}
}
