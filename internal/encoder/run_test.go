package encoder

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// countSlowly is what countVarints does, one varint at a time.
func countSlowly(run []byte, kind uint8) (count int, ok bool) {
	bits := map[uint8]uint{kindI16: 16, kindI32: 32, kindI64: 64}[kind]
	for len(run) > 0 {
		v, n := protowire.ConsumeVarint(run)
		if n < 0 || n != protowire.SizeVarint(v) || bits < 64 && v>>bits != 0 {
			return 0, false
		}
		run = run[n:]
		count++
	}
	return count, true
}

// TestCountVarints compares the check of packed runs by words with one varint by varint: runs of all lengths, good ones and
// such with a fault at any place.
func TestCountVarints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7)) // repeatable on purpose
	good, bad := 0, 0
	check := func(run []byte, kind uint8) {
		t.Helper()
		in := append([]byte{0x80, 0x80, 0x80, 0x01}, run...)
		want, wantOK := countSlowly(run, kind)
		got, ok := countVarints(in, 4, len(in), kind)
		if ok != wantOK || ok && got != want {
			t.Fatalf("countVarints(%x, kind %d) = %d, %t, want %d, %t", run, kind, got, ok, want, wantOK)
		}
		if ok {
			good++
		} else {
			bad++
		}
	}
	for kind, bits := range map[uint8]int{kindI16: 16, kindI32: 32, kindI64: 64} {
		for range 20_000 {
			var run []byte
			for range 1 + random.IntN(40) {
				v := random.Uint64() >> (64 - bits) >> random.IntN(bits)
				if random.IntN(4) == 0 {
					v = 1<<bits - 1 // the longest
				}
				run = protowire.AppendVarint(run, v)
			}
			check(run, kind)
			spoiled := bytes.Clone(run)
			switch at := random.IntN(len(run)); random.IntN(4) {
			case 0:
				spoiled[at] = 0
			case 1:
				spoiled[at] |= 0x80
			case 2:
				spoiled[at] += byte(1 + random.IntN(16))
			default:
				spoiled = spoiled[:at+1]
			}
			check(spoiled, kind)
		}
		// Every length of a varint at every place of a word, the longest allowed last byte and the one after it.
		for at := range 70 {
			for size := 1; size <= 11; size++ {
				for _, last := range []byte{0, 1, 2, 3, 4, 15, 16, 127} {
					run := append(make([]byte, at), bytes.Repeat([]byte{0x80}, size-1)...)
					check(append(run, last), kind)
					check(append(append(run, last), make([]byte, 70)...), kind)
				}
			}
		}
	}
	// More than a block of words, where the counters are added up.
	for _, kind := range []uint8{kindI16, kindI32, kindI64} {
		check(bytes.Repeat([]byte{0x80, 0x01}, 5000), kind)
	}
	if good < 10_000 || bad < 10_000 {
		t.Errorf("%d good runs and %d bad ones, want many of both", good, bad)
	}
}

// TestBools has runs of bools of all lengths, with a byte above 1 at every place.
func TestBools(t *testing.T) {
	t.Parallel()
	for length := 1; length < 100; length++ {
		run := make([]byte, length)
		for i := range run {
			run[i] = byte(i*i) / 3 & 1
		}
		wire := submessage(kindList, submessage(kindBool, run))
		got := mustEncode(t, wire, &Options{Limits: testLimits})
		for i, b := range got[len(got)-length:] {
			if b != 2-run[i] {
				t.Errorf("element %d of %d = %d, want %d", i, length, b, 2-run[i])
			}
		}
		for at := range length {
			for _, b := range []byte{2, 3, 0x80, 0xff} {
				run[at], b = b, run[at]
				if areBools(run) {
					t.Errorf("areBools(%x)", run)
				}
				run[at] = b
			}
		}
	}
}
