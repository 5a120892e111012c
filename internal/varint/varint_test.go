package varint

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// describe says of each byte, one by one, what Look says of blocks.
func describe(data []byte, before byte) (blocks []Block) {
	for at := 0; at+BlockLen <= len(data); at += BlockLen {
		var b Block
		for i, value := range data[at : at+BlockLen] {
			if before >= 0x80 {
				b.Follows |= 1 << i
				if value == 0 {
					b.Padded = 1
				}
			}
			before = value
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// same compares blocks; of Padded it counts whether it is 0.
func same(a, b []Block) bool {
	for i := range a {
		if a[i].Follows != b[i].Follows || (a[i].Padded == 0) != (b[i].Padded == 0) {
			return false
		}
	}
	return len(a) == len(b)
}

func check(t *testing.T, data []byte, before byte) {
	t.Helper()
	want := describe(data, before)
	got := make([]Block, len(want))
	Look(got, data, before)
	if !same(got, want) {
		t.Errorf("Look(%x, after %x) = %x, want %x", data, before, got, want)
	}
	if lookWords(got, data, uint64(before>>7)); !same(got, want) {
		t.Errorf("lookWords(%x, after %x) = %x, want %x", data, before, got, want)
	}
}

func TestLook(t *testing.T) {
	for _, fill := range []byte{0, 1, 0x7f, 0x80, 0xff} {
		data := bytes.Repeat([]byte{fill}, 2*BlockLen)
		check(t, data, 0)
		check(t, data, 0x80)
		// Each byte another one, after each other.
		for at := range data {
			for _, value := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				data[at] = value
				check(t, data, 0)
				data[at] = fill
			}
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		data := make([]byte, random.IntN(6*BlockLen))
		for i := range data {
			data[i] = byte(random.Uint32()) & []byte{0xff, 0x80, 0x81, 0x7f}[random.IntN(4)]
		}
		check(t, data, byte(random.Uint32()))
	}
	Look(nil, nil, 0)
}

func FuzzLook(f *testing.F) {
	f.Add(bytes.Repeat([]byte{0x80, 0}, BlockLen), byte(0))
	f.Fuzz(check)
}

func BenchmarkLook(b *testing.B) {
	data := bytes.Repeat([]byte{0x81, 0x82, 3, 4, 0xff, 0xff, 5}, 16*BlockLen/7+1)[:16*BlockLen]
	blocks := make([]Block, 16)
	b.Run("vectors", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			Look(blocks, data, 0)
		}
	})
	b.Run("words", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			lookWords(blocks, data, 0)
		}
	})
}
