package decoder

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveRun is scanRun byte by byte, for as many elements as are minimal and in range.
func naiveRun(data []byte, pos, count int, kind uint8) (done, end int) {
	for ; done < count; done++ {
		u, next := consumeVarint(data, pos)
		if next < 0 || next-pos != varintSize(u) || kind == kindI32 && u > 1<<32-1 || kind == kindI16 && u > 1<<16-1 {
			break
		}
		pos = next
	}
	return done, pos
}

// The words of eight bytes must agree with the single bytes wherever a fault, or a varint as long as its kind allows, stands.
func TestScanRunAgreesWithSingleBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, kind := range []uint8{kindI16, kindI32, kindI64} {
		width := map[uint8]uint{kindI16: 16, kindI32: 32, kindI64: 64}[kind]
		for round := range 20_000 {
			var run []byte
			count := random.IntN(60)
			odd := -1
			if count > 0 && round%2 == 0 {
				odd = random.IntN(count)
			}
			for i := range count {
				v := random.Uint64() >> (64 - width) >> random.UintN(width)
				if round%3 == 0 {
					v = 1<<width - 1 // all as long as can be
				}
				run = binary.AppendUvarint(run, v)
				if i == odd {
					run = breakVarint(random, run, width)
				}
			}
			tail := make([]byte, random.IntN(10))
			data := slices.Concat(run, tail)
			wantDone, wantEnd := naiveRun(data, 0, count, kind)
			gotDone, gotEnd := scanRun(data, 0, count, kind)
			if gotDone > wantDone || gotEnd > wantEnd {
				t.Fatalf("scanRun(%x, count %d, kind %d) went on to element %d at %d; %d at %d is the last that is right",
					data, count, kind, gotDone, gotEnd, wantDone, wantEnd)
			}
			if done, end := naiveRun(data, 0, gotDone, kind); done != gotDone || end != gotEnd {
				t.Fatalf("scanRun(%x, count %d, kind %d) = %d, %d; want %d elements to end at %d", data, count, kind, gotDone, gotEnd, done, end)
			}
			if wantDone-gotDone > 24 && wantDone == count {
				t.Fatalf("scanRun(%x, count %d, kind %d) stopped at element %d", data, count, kind, gotDone)
			}
		}
	}
}

// breakVarint makes the last varint of run, which may be long already, padded or too wide.
func breakVarint(random *rand.Rand, run []byte, width uint) []byte {
	last := len(run) - 1
	switch random.IntN(4) {
	case 0: // padded by one byte
		run[last] |= 0x80
		return append(run, 0)
	case 1: // padded by more
		run[last] |= 0x80
		return append(run, 0x80, 0x80, 0)
	case 2: // one bit more than fits
		return binary.AppendUvarint(run[:last+1], 1<<(width-1)*2)
	default: // endless
		return append(run, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)
	}
}

func TestBools(t *testing.T) {
	for _, binaryProtocol := range []bool{false, true} {
		most := byte(2)
		if binaryProtocol {
			most = 1
		}
		for length := range 40 {
			b := make([]byte, length)
			for i := range b {
				b[i] = byte(i) % (most + 1)
			}
			if at, good := bools(b, binaryProtocol); !good {
				t.Errorf("bools(%x, %v): byte %d refused", b, binaryProtocol, at)
			}
			for i := range b {
				for _, wrong := range []byte{most + 1, 0x80, 0xff} {
					t.Run(fmt.Sprintf("%d of %d is %02x", i, length, wrong), func(t *testing.T) {
						kept := b[i]
						b[i] = wrong
						if at, good := bools(b, binaryProtocol); good || at != i {
							t.Errorf("bools(%x, %v) = %d, %v; want %d, false", b, binaryProtocol, at, good, i)
						}
						b[i] = kept
					})
				}
			}
		}
	}
}
