package stream

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// The oracle is hash/crc32 over all of the data.
func TestRepetition(t *testing.T) {
	table := crc32.MakeTable(crc32.Castagnoli)
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 3, 64, 1000, 4097} {
		record := make([]byte, size)
		for i := range record {
			record[i] = byte(random.Uint32())
		}
		all := bytes.Repeat(record, 20_000/size+3)
		r := &repetition{record: record, crc: crc32.Checksum(record, table)}
		for _, n := range []int{0, 1, size - 1, size, size + 1, 2 * size, 3*size - 1, len(all) - 1, len(all), random.IntN(len(all)), random.IntN(len(all))} {
			if got, want := r.upTo(int64(n)), crc32.Checksum(all[:n], table); got != want {
				t.Errorf("record of %d bytes, %d sent: %08x, want %08x", size, n, got, want)
			}
		}
	}
	if got := (&repetition{}).upTo(0); got != 0 {
		t.Errorf("of nothing: %08x", got)
	}
}

func TestCombineCRC32C(t *testing.T) {
	table := crc32.MakeTable(crc32.Castagnoli)
	data := []byte("the sum of the parts is the sum of the whole")
	for i := range data {
		first, second := crc32.Checksum(data[:i], table), crc32.Checksum(data[i:], table)
		if got, want := combineCRC32C(first, second, int64(len(data)-i)), crc32.Checksum(data, table); got != want {
			t.Errorf("parts of %d and %d bytes: %08x, want %08x", i, len(data)-i, got, want)
		}
	}
	// Four GiB of zeros, whose sum is that of two and two.
	half := combineCRC32C(0, 0, 1<<31)
	if got := combineCRC32C(half, half, 1<<31); got != combineCRC32C(0, 0, 1<<32) {
		t.Errorf("2 GiB and 2 GiB of zeros: %08x", got)
	}
}

// TestSenderRepeats sends a record in chunks, and compares the sum at each of them and at the end.
func TestSenderRepeats(t *testing.T) {
	table := crc32.MakeTable(crc32.Castagnoli)
	record := bytes.Repeat([]byte("record "), 999)
	var sent []byte
	var sender *Sender
	sender, err := NewSender(t.Context(), SenderConfig{
		Pool: NewCheckedPool(), ChunkSize: MinChunkSize, Tag: 0x0a,
		Send: func(m *Message) error {
			data, _ := m.Take()
			sent = append(sent, data.Materialize()[3:]...) // tag, and a length of two bytes
			data.Free()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	sender.Repeat(record)
	var room []byte
	for at := 0; at < 20*len(record); {
		if room, err = sender.Next(len(room)); err != nil {
			t.Fatal(err)
		}
		if got, want := sender.CRC32C(), crc32.Checksum(sent, table); got != want || sender.Bytes() != int64(len(sent)) {
			t.Fatalf("after %d bytes: %08x and %d, want %08x", len(sent), got, sender.Bytes(), want)
		}
		for i := range room {
			room[i] = record[(at+i)%len(record)]
		}
		at += len(room)
	}
	if err := sender.Flush(len(room) - 100); err != nil {
		t.Fatal(err)
	}
	sender.RepeatEnd()
	clear(record)
	if got, want := sender.CRC32C(), crc32.Checksum(sent, table); got != want || !bytes.Contains(sent, []byte("record record")) {
		t.Errorf("at the end: %08x, want %08x", got, want)
	}
	sender.RepeatEnd()
	if got, want := sender.CRC32C(), crc32.Checksum(sent, table); got != want {
		t.Errorf("ended twice: %08x, want %08x", got, want)
	}
}
