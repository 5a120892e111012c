package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
)

// No stream sees bytes of another, nor of an earlier one, nor poison, while streams end well, are cancelled in the middle
// and share the pool with unary calls.
func TestContentOverGRPC(t *testing.T) {
	h := serve(t, nil)
	const connections, streams, calls = 3, 16, 150
	var running sync.WaitGroup
	for c := range connections {
		conn := h.dial()
		for s := range streams {
			id := uint32(c*streams + s + 1)
			sizes := []uint32{MinChunkSize, DefaultChunkSize, 64 << 10, 10_000}
			o := order{id: id, total: 60*10_000 + uint64(id)*1_237, chunkSize: sizes[s%len(sizes)]}
			cancelAfter := -1
			if s%4 == 3 {
				cancelAfter = s
			}
			running.Go(func() { checkStream(t, conn, o, cancelAfter) })
		}
		running.Go(func() {
			for i := range calls {
				id := uint32(100_000*(c+1) + i)
				total := 1 + i*977%100_000
				var got []byte
				if err := conn.Invoke(t.Context(), onceMethod, order{id: id, total: uint64(total)}.bytes(), &got); err != nil {
					t.Errorf("call %d: %v", id, err)
					return
				}
				want := make([]byte, total)
				contentOf(want, id, 0)
				if !bytes.Equal(got, want) {
					t.Errorf("call %d: reply of %d bytes has %s", id, total, difference(got, want))
				}
			}
		})
	}
	running.Wait()
	h.waitEnded(connections * streams)
	h.server.GracefulStop()
	h.checkSettled()
	stats := h.pool.Stats()
	if stats.Got < 2000 {
		t.Errorf("only %d chunks were lent, want thousands", stats.Got)
	}
	if stats.Allocated > stats.Got*3/4 {
		t.Errorf("%d of %d chunks were new memory, want them reused: the test proves little", stats.Allocated, stats.Got)
	}
}

// checkStream reads a stream and compares every byte. It cancels after some messages unless that is negative.
func checkStream(t *testing.T, conn *grpc.ClientConn, o order, cancelAfter int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, sendMethod)
	if err != nil {
		t.Error(err)
		return
	}
	if err := errors.Join(stream.SendMsg(o.bytes()), stream.CloseSend()); err != nil {
		t.Error(err)
		return
	}
	got, crc, err := readContent(stream, o, cancelAfter)
	if err != nil {
		t.Errorf("stream %d: %v", o.id, err)
		return
	}
	if cancelAfter >= 0 {
		return
	}
	if got != o.total {
		t.Errorf("stream %d: %d bytes, want %d", o.id, got, o.total)
	}
	checkTrailer(t, stream, got, crc)
}

// readContent reads a stream to its end, comparing every byte. A status that ends it is not an error here: the caller
// reads it with stream.RecvMsg.
func readContent(stream grpc.ClientStream, o order, limit int) (total uint64, crc uint32, err error) {
	want := make([]byte, MaxChunkSize)
	for i := 0; i != limit; i++ {
		var message []byte
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			return total, crc, nil
		} else if err != nil {
			return total, crc, err
		}
		data, n := protowire.ConsumeBytes(message[1:])
		if message[0] != 0x0a || n != len(message)-1 {
			return total, crc, fmt.Errorf("message of %d bytes begins with % x", len(message), message[:4])
		}
		contentOf(want[:len(data)], o.id, total)
		if !bytes.Equal(data, want[:len(data)]) {
			return total, crc, errors.New("wrong bytes: " + difference(data, want[:len(data)]))
		}
		crc = crc32.Update(crc, castagnoli, data)
		total += uint64(len(data))
	}
	return total, crc, nil
}

func checkTrailer(t *testing.T, stream grpc.ClientStream, total uint64, crc uint32) {
	t.Helper()
	trailer := stream.Trailer()
	want := fmt.Sprintf("[%d] [%08x]", total, crc)
	if got := fmt.Sprintf("%s %s", trailer.Get("bytes"), trailer.Get("crc32c")); got != want {
		t.Errorf("trailers bytes, crc32c = %s, want %s", got, want)
	}
}

// difference says where two slices differ first.
func difference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d: % x…, want % x…", i, got[i:min(i+8, len(got))], want[i:min(i+8, len(want))])
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}
