package stream

import (
	"bytes"
	"testing"
)

// TestSenderWhole sends messages that the caller has put together: as they are, with all of the chunk for them, and uncounted.
func TestSenderWhole(t *testing.T) {
	pool := NewCheckedPool()
	var got receiver
	sender, err := NewSender(t.Context(), SenderConfig{Pool: pool, ChunkSize: MinChunkSize, Whole: true, Send: got.send})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	want := [][]byte{bytes.Repeat([]byte{1}, MinChunkSize), bytes.Repeat([]byte{2}, 2000), {3}}
	for _, message := range want {
		room, err := sender.Next(0)
		if err != nil || len(room) != MinChunkSize {
			t.Fatalf("Next: room of %d bytes, %v; want %d", len(room), err, MinChunkSize)
		}
		if err := sender.Flush(copy(room, message)); err != nil {
			t.Fatal(err)
		}
	}
	if len(got.messages) != len(want) {
		t.Fatalf("%d messages, want %d", len(got.messages), len(want))
	}
	for i, message := range want {
		if !bytes.Equal(got.messages[i], message) {
			t.Errorf("message %d has %d bytes, want the %d as given", i, len(got.messages[i]), len(message))
		}
	}
	if sender.Bytes() != 0 || sender.CRC32C() != 0 {
		t.Errorf("counted %d bytes, CRC %08x; want nothing", sender.Bytes(), sender.CRC32C())
	}
	if faults := pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}
