package stream

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/thriftpack/thriftpack/internal/fault"
)

func TestChunkSize(t *testing.T) {
	tests := []struct {
		name      string
		requested int32
		want      int
		wantErr   string
	}{
		{"default", 0, 32_763, ""},
		{"smallest", 4096, 4096, ""},
		{"below the smallest", 4095, 0, "chunk_size: out of range: 4095, want 0 or 4096..1048576"},
		{"negative", -1, 0, "chunk_size: out of range: -1, want 0 or 4096..1048576"},
		{"largest", 1 << 20, 1 << 20, ""},
		{"above the largest", 1<<20 + 1, 0, "chunk_size: out of range: 1048577, want 0 or 4096..1048576"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := ChunkSize(test.requested)
			if got != test.want {
				t.Errorf("ChunkSize(%d) = %d, want %d", test.requested, got, test.want)
			}
			if (err == nil) != (test.wantErr == "") || err != nil && err.Error() != test.wantErr {
				t.Errorf("ChunkSize(%d) error = %v, want %q", test.requested, err, test.wantErr)
			}
			if err != nil && !errors.Is(err, fault.New(fault.BadOption, "")) {
				t.Errorf("ChunkSize(%d) error = %v, want reason %s", test.requested, err, fault.BadOption)
			}
		})
	}
}

func TestNewSenderRefusesChunkSize(t *testing.T) {
	for _, size := range []int{-1, 0, MinChunkSize - 1, MaxChunkSize + 1} {
		if _, err := NewSender(t.Context(), SenderConfig{Pool: NewPool(), ChunkSize: size}); !errors.Is(err, fault.New(fault.BadOption, "")) {
			t.Errorf("NewSender with chunk size %d = %v, want reason %s", size, err, fault.BadOption)
		}
	}
}

// receiver is a send function that does as gRPC does: it takes the bytes, copies them to the wire and frees them.
type receiver struct {
	messages [][]byte
	fail     error // returned after the bytes were taken
}

func (r *receiver) send(message *Message) error {
	data, ok := message.Take()
	if !ok {
		return errors.New("message was taken before")
	}
	defer data.Free()
	if r.fail != nil {
		return r.fail
	}
	r.messages = append(r.messages, data.Materialize())
	return nil
}

// parse returns the data of a message that is one bytes field 1 and nothing else, written in the shortest way.
func parse(t *testing.T, message []byte) []byte {
	t.Helper()
	number, kind, n := protowire.ConsumeTag(message)
	if n != 1 || number != 1 || kind != protowire.BytesType {
		t.Fatalf("message begins with % x, want tag 0a", message[:min(4, len(message))])
	}
	data, m := protowire.ConsumeBytes(message[n:])
	if m < 0 || n+m != len(message) {
		t.Fatalf("message of %d bytes: field of %d bytes", len(message), m)
	}
	if want := n + protowire.SizeBytes(len(data)); want != len(message) {
		t.Fatalf("message of %d bytes for %d bytes of data, want %d", len(message), len(data), want)
	}
	return data
}

// source is data that does not repeat at the size of a chunk.
func source(n int) []byte {
	data := make([]byte, n)
	for i := 0; i+4 <= n; i += 4 {
		binary.LittleEndian.PutUint32(data[i:], uint32(i)*2654435761)
	}
	return data
}

func TestSenderCutsMessages(t *testing.T) {
	const room = DefaultChunkSize - 4
	tests := []struct {
		name      string
		chunkSize int
		total     int
		want      []int // lengths of the messages
	}{
		{"nothing", DefaultChunkSize, 0, nil},
		{"one byte", DefaultChunkSize, 1, []int{3}},
		{"largest length of one byte", DefaultChunkSize, 127, []int{129}},
		{"smallest length of two bytes", DefaultChunkSize, 128, []int{131}},
		{"largest length of two bytes", DefaultChunkSize, 16_383, []int{16_386}},
		{"smallest length of three bytes", DefaultChunkSize, 16_384, []int{16_388}},
		{"one less than full", DefaultChunkSize, room - 1, []int{32_762}},
		{"full", DefaultChunkSize, room, []int{32_763}},
		{"one more than full", DefaultChunkSize, room + 1, []int{32_763, 3}},
		{"three full", DefaultChunkSize, 3 * room, []int{32_763, 32_763, 32_763}},
		{"three and a bit", DefaultChunkSize, 3*room + 200, []int{32_763, 32_763, 32_763, 203}},
		{"smallest chunk", MinChunkSize, 2*4093 + 5, []int{4096, 4096, 7}},
		{"largest chunk", MaxChunkSize, 1048572 + 5, []int{1 << 20, 7}},
		// A length of 16,383 takes two bytes and one of 16,384 three, so that no message has 16,387 bytes.
		{"a size that no message has", 16_387, 16_383 + 5, []int{16_386, 7}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pool := NewCheckedPool()
			account := newAccount(pool)
			receiver := &receiver{}
			sender, err := NewSender(t.Context(), SenderConfig{
				Pool: pool, Account: account, ChunkSize: test.chunkSize, Tag: 0x0a, Send: receiver.send,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer sender.Close()
			data := source(test.total)
			if err := sendAll(sender, data); err != nil {
				t.Fatal(err)
			}
			sender.Close()
			var joined []byte
			lengths := make([]int, 0, len(receiver.messages))
			for _, message := range receiver.messages {
				lengths = append(lengths, len(message))
				joined = append(joined, parse(t, message)...)
			}
			if !equal(lengths, test.want) {
				t.Errorf("messages of %v bytes, want %v", lengths, test.want)
			}
			if !bytes.Equal(joined, data) {
				t.Errorf("joined data differs from what was written")
			}
			if got := sender.Bytes(); got != int64(test.total) {
				t.Errorf("Bytes() = %d, want %d", got, test.total)
			}
			if got, want := sender.CRC32C(), crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)); got != want {
				t.Errorf("CRC32C() = %08x, want %08x", got, want)
			}
			checkAllReturned(t, pool)
			if got := account.Owed(); got != 0 {
				t.Errorf("Owed() = %d, want 0", got)
			}
		})
	}
}

func equal(got, want []int) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i] != want[i] {
			return false
		}
	}
	return true
}

// sendAll writes data through a sender, as an encoder does.
func sendAll(sender *Sender, data []byte) error {
	room, err := sender.Next(0)
	if err != nil {
		return err
	}
	filled := 0
	for len(data) > 0 {
		if filled == len(room) {
			if room, err = sender.Next(filled); err != nil {
				return err
			}
			filled = 0
		}
		n := copy(room[filled:], data)
		data, filled = data[n:], filled+n
	}
	return sender.Flush(filled)
}

func checkAllReturned(t *testing.T, pool *Pool) {
	t.Helper()
	if stats := pool.Stats(); stats.Got != stats.Returned || stats.Faults != 0 {
		t.Errorf("Stats() = %+v, want as many returned as got, no faults", stats)
	}
}

// The CRC-32C of the check string that every description of it uses.
func TestSenderCRC32CIsCastagnoli(t *testing.T) {
	sender, err := NewSender(t.Context(), SenderConfig{
		Pool: NewPool(), ChunkSize: MinChunkSize, Tag: 0x0a, Send: (&receiver{}).send,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	if err := sendAll(sender, []byte("123456789")); err != nil {
		t.Fatal(err)
	}
	if got, want := sender.CRC32C(), uint32(0xe3069283); got != want {
		t.Errorf("CRC32C() = %08x, want %08x", got, want)
	}
}

func TestSenderLendsTheSameRoomWhenNothingWasFilled(t *testing.T) {
	pool := NewPool()
	receiver := &receiver{}
	sender, err := NewSender(t.Context(), SenderConfig{Pool: pool, ChunkSize: MinChunkSize, Tag: 0x0a, Send: receiver.send})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	first, err := sender.Next(0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := sender.Next(0)
	if err != nil {
		t.Fatal(err)
	}
	if &first[0] != &second[0] || pool.Stats().Got != 1 || len(receiver.messages) != 0 {
		t.Errorf("Next(0) twice: %d chunks, %d messages, want 1 and 0", pool.Stats().Got, len(receiver.messages))
	}
	if cap(first) != len(first) {
		t.Errorf("Next lent a slice of %d with capacity %d, want it capped", len(first), cap(first))
	}
}

func TestMessage(t *testing.T) {
	pool := NewPool()
	fresh := func() *Message {
		chunk := pool.Get(4096)
		copy(chunk.Room(5), "hello")
		return NewMessage(chunk, 0, 5)
	}
	t.Run("taken once", func(t *testing.T) {
		message := fresh()
		if got := message.Len(); got != 5 {
			t.Errorf("Len() = %d, want 5", got)
		}
		data, ok := message.Take()
		if !ok || string(data.Materialize()) != "hello" {
			t.Errorf("Take() = %q, %t, want hello", data.Materialize(), ok)
		}
		if again, ok := message.Take(); ok || again != nil {
			t.Error("Take() succeeded twice")
		}
		if got := message.Len(); got != 0 {
			t.Errorf("Len() after Take = %d, want 0", got)
		}
		message.Release() // no longer ours to give back
		data.Free()
	})
	t.Run("released", func(t *testing.T) {
		message := fresh()
		message.Release()
		message.Release()
		if _, ok := message.Take(); ok {
			t.Error("Take() after Release succeeded")
		}
	})
	checkAllReturned(t, pool)
}

// Sending a chunk costs no allocation of ours. What gRPC's codec returns is a slice, which is one of its own.
func TestSenderDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop chunks")
	}
	pool := NewPool()
	watch := NewWatch(DefaultTestTimeout, func(*fault.Error) {})
	defer watch.Stop()
	sender, err := NewSender(t.Context(), SenderConfig{
		Pool: pool, Account: newAccount(pool), Watch: watch, ChunkSize: DefaultChunkSize, Tag: 0x0a, Send: freeAtOnce,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	room, err := sender.Next(0)
	if err != nil {
		t.Fatal(err)
	}
	filled := len(room)
	const chunks = 1000
	total := testing.AllocsPerRun(1, func() {
		for range chunks {
			if _, err := sender.Next(filled); err != nil {
				t.Error(err)
				return
			}
		}
	})
	// Garbage collections in between may empty the pools, and the runtime has a few of its own.
	if total > chunks/5 {
		t.Errorf("%d chunks took %.0f allocations, want about none", chunks, total)
	}
}

// freeAtOnce is gRPC with a peer that reads everything.
func freeAtOnce(message *Message) error {
	message.Release()
	return nil
}
