package stream

import (
	"bytes"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
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

// TestSenderRepeats sends a record, in messages that refer to it and in chunks, and compares the bytes and the sum at each of them and at the end.
func TestSenderRepeats(t *testing.T) {
	const room = MinChunkSize - 3 // less a tag, and a length of two bytes
	table := crc32.MakeTable(crc32.Castagnoli)
	for _, size := range []int{999, room - 1, room, room + 1, 2*room - 1, 2 * room, 50_001} {
		buffers, pool := NewBuffers(), NewCheckedPool()
		held := buffers.GetUncleared(size)
		record := *held
		for i := range record {
			record[i] = byte(i * i / 7)
		}
		want := bytes.Repeat(record, 500_000/size)
		var sent []byte
		referring := 0
		sender, err := NewSender(t.Context(), SenderConfig{
			Pool: pool, ChunkSize: MinChunkSize, Tag: 0x0a,
			Send: func(m *Message) error {
				data, _ := m.Take()
				if len(data) > 1 {
					referring++
				}
				message := data.Materialize()
				if number, _, n := protowire.ConsumeField(message); n != len(message) || number != 1 {
					t.Errorf("record of %d bytes: a message of %d bytes is not one field", size, len(message))
				}
				_, _, tag := protowire.ConsumeTag(message)
				part, _ := protowire.ConsumeBytes(message[tag:])
				sent = append(sent, part...)
				data.Free()
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		sender.Repeat(held, buffers)
		check := func() {
			t.Helper()
			if got, want := sender.CRC32C(), crc32.Checksum(sent, table); got != want || sender.Bytes() != int64(len(sent)) {
				t.Fatalf("record of %d bytes, after %d: %08x and %d, want %08x", size, len(sent), got, sender.Bytes(), want)
			}
		}
		for sender.MayRefer(int64(len(want))) {
			if err := sender.SendRepeated(); err != nil {
				t.Fatal(err)
			}
			check()
		}
		if size < room != (referring == 0) || referring > 0 && len(want)-len(sent) < window {
			t.Errorf("record of %d bytes: %d messages refer to it, and %d bytes are left", size, referring, len(want)-len(sent))
		}
		for at := len(sent); at < len(want); {
			buf, err := sender.Next(0)
			if err != nil {
				t.Fatal(err)
			}
			n := copy(buf, want[at:])
			if err := sender.Flush(n); err != nil {
				t.Fatal(err)
			}
			at += n
			check()
		}
		for range 2 {
			sender.RepeatEnd()
			check()
		}
		if !bytes.Equal(sent, want) {
			t.Errorf("record of %d bytes: %d other bytes than expected", size, len(sent))
		}
		if size > 1<<smallestShelf || !raceEnabled { // under the race detector a sync.Pool forgets at random
			if back := buffers.GetUncleared(size); &(*back)[0] != &record[0] {
				t.Errorf("record of %d bytes: it did not come back", size)
			}
		}
		sender.Close()
		if stats := pool.Stats(); stats.Got != stats.Returned || stats.Faults != 0 {
			t.Errorf("record of %d bytes: %+v", size, stats)
		}
	}
}

// TestRecordIsHeld has gRPC keep messages that refer to a record when the stream has ended: only with the last of them the record goes back and
// is owed no longer.
func TestRecordIsHeld(t *testing.T) {
	buffers, pool := NewBuffers(), NewPool()
	account := newAccount(pool)
	const size = 200_000
	held := buffers.GetUncleared(size)
	record, capacity := &(*held)[0], int64(cap(*held))
	var queued []mem.BufferSlice
	sender, err := NewSender(t.Context(), SenderConfig{
		Pool: pool, Account: account, ChunkSize: MinChunkSize, Tag: 0x0a,
		Send: func(m *Message) error {
			data, _ := m.Take()
			queued = append(queued, data)
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	sender.Repeat(held, buffers)
	for range 60 { // more than once around
		if err := sender.SendRepeated(); err != nil {
			t.Fatal(err)
		}
	}
	sender.Close()
	settled := false
	sender.CloseUnlessPaid(time.Hour, func() { t.Error("connection closed") }, func() { settled = true })
	for _, data := range queued {
		if owed := sender.Owed(); owed != capacity || account.Owed() != capacity || settled {
			t.Fatalf("owed %d and %d, settled: %v; want %d", owed, account.Owed(), settled, capacity)
		}
		if other := buffers.GetUncleared(size); &(*other)[0] == record {
			t.Fatal("the record was lent again while messages refer to it")
		}
		data.Free()
	}
	if sender.Owed() != 0 || !settled || pool.Stats().Returned != 1 {
		t.Errorf("owed %d, settled: %v, %+v; want all to be back", sender.Owed(), settled, pool.Stats())
	}
	if other := buffers.GetUncleared(size); &(*other)[0] != record {
		t.Error("the record did not come back")
	}
}

// TestRecordIsLost drops messages that refer to a record, as gRPC does when a connection dies: the garbage collector finds out.
func TestRecordIsLost(t *testing.T) {
	buffers, pool := NewBuffers(), NewPool()
	account := newAccount(pool)
	sender, err := NewSender(t.Context(), SenderConfig{
		Pool: pool, Account: account, ChunkSize: MinChunkSize, Tag: 0x0a,
		Send: func(m *Message) error { _, _ = m.Take(); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	sender.Repeat(buffers.GetUncleared(50_000), buffers)
	if err := sender.SendRepeated(); err != nil {
		t.Fatal(err)
	}
	sender.Close()
	if account.Owed() < 50_000 {
		t.Errorf("owed %d while a message refers to the record", account.Owed())
	}
	eventually(t, "the record is found to be lost", func() bool {
		runtime.GC()
		return account.Owed() == 0 && pool.Stats().Lost == 1
	})
}

func TestSendRepeatedNothing(t *testing.T) {
	buffers := NewBuffers()
	for _, test := range []struct {
		name  string
		begin func(*Sender)
	}{
		{"nothing is repeated", func(*Sender) {}},
		{"a record shorter than a message", func(s *Sender) { s.Repeat(buffers.GetUncleared(100), buffers) }},
		{"a buffer is lent", func(s *Sender) { s.Repeat(buffers.GetUncleared(10_000), buffers); _, _ = s.Next(0) }},
		{"closed", func(s *Sender) { s.Repeat(buffers.GetUncleared(10_000), buffers); s.Close() }},
	} {
		sender, err := NewSender(t.Context(), SenderConfig{Pool: NewPool(), ChunkSize: MinChunkSize, Tag: 0x0a, Send: freeAtOnce})
		if err != nil {
			t.Fatal(err)
		}
		test.begin(sender)
		var f *fault.Error
		if err := sender.SendRepeated(); !errors.As(err, &f) || f.Reason != fault.Internal {
			t.Errorf("%s: %v, want INTERNAL", test.name, err)
		}
		sender.Close()
	}
}
