package server

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// growingMessages are two messages with a binary, the second one twice as long as the first.
func growingMessages(t *testing.T, method string) (first, second rawBytes) {
	t.Helper()
	const size = 1 << 20
	data := make([]byte, 2*size)
	if method == "DecodeParts" {
		head := protowire.AppendVarint([]byte{0x18}, 3*size) // {1: binary, and a stop
		return memberOf(2, append(head, data[:size]...)), memberOf(2, append(data, 0))
	}
	begin := beginPart(&thriftpackv1.Begin{Type: thriftpackv1.Type_TYPE_BINARY, Size: 3 * size})
	for request, message := range map[*thriftpackv1.EncodePartsRequest]*rawBytes{
		partsRequest(begin, dataPart(data[:size])): &first, partsRequest(dataPart(data), endPart()): &second,
	} {
		encoded, err := proto.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		*message = encoded
	}
	return first, second
}

// TestPartsGrow has 200 streams at once whose messages grow, and which together need more than the budget: each waits its turn, and none
// for another that waits.
func TestPartsGrow(t *testing.T) {
	streams, connections := 200, 4
	if raceEnabled {
		streams = 140
	}
	for _, inStep := range []bool{false, true} {
		t.Run(fmt.Sprintf("in step %v", inStep), func(t *testing.T) {
			h := start(t, func(s *setup) { s.cfg.StreamWait, s.cfg.StallTimeout = time.Hour, time.Hour }) // each waits for all others
			// Nobody sends the second message before all were answered the first one.
			var answered sync.WaitGroup
			answered.Add(streams)
			var group sync.WaitGroup
			for i := range streams {
				if i%(streams/connections) == 0 && i > 0 {
					h.conn = dial(t, h.addr)
				}
				conn, method := h.conn, partsMethods[i%2]
				first, second := growingMessages(t, method)
				group.Go(func() {
					once := sync.OnceFunc(answered.Done)
					defer once()
					s, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
						"/thriftpack.v1.SerializerService/"+method, grpc.ForceCodecV2(rawClientCodec{}))
					if err != nil {
						t.Error(err)
						return
					}
					_ = s.SendMsg(first) // an error is told by the receive
					var received, size rawSize
					// The last piece of the first message may wait for the second.
					for received < 1<<20-64<<10 && err == nil {
						err = s.RecvMsg(&size)
						received += size
					}
					if once(); inStep {
						answered.Wait()
					}
					sent := make(chan error, 1)
					go func() { sent <- errors.Join(s.SendMsg(second), s.CloseSend()) }()
					for err == nil {
						err = s.RecvMsg(&size)
						received += size
					}
					if !errors.Is(err, io.EOF) || received < 3<<20 {
						t.Errorf("%s: %d bytes came, %v", method, received, err)
					}
					if err := <-sent; err != nil && !errors.Is(err, io.EOF) {
						t.Errorf("%s: send: %v", method, err)
					}
				})
			}
			group.Wait()
			h.eventuallyIdle(t)
		})
	}
}

// TestPartsKeepTheirShare has an idle stream that once had a large message: all but a small share of the budget is others' again.
func TestPartsKeepTheirShare(t *testing.T) {
	h := start(t, func(s *setup) { s.cfg.StreamWait = time.Millisecond })
	for _, method := range partsMethods {
		first, _ := growingMessages(t, method)
		s, err := h.conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			"/thriftpack.v1.SerializerService/"+method, grpc.ForceCodecV2(rawClientCodec{}))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SendMsg(first); err != nil {
			t.Fatal(err)
		}
		for received, size := rawSize(0), rawSize(0); received < 1<<20-64<<10; received += size {
			if err := s.RecvMsg(&size); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "the message is given back", func() bool { return h.server.service.budget.Held() < 512<<10 })
		if held := h.server.service.budget.Held(); held < 128<<10+messageShare {
			t.Errorf("%s holds %d bytes, want its chunks and its share", method, held)
		}
		_ = s.CloseSend()
		var size rawSize
		for err = nil; err == nil; {
			err = s.RecvMsg(&size)
		}
		wantError(t, err, codes.InvalidArgument, "TRUNCATED")
		h.eventuallyIdle(t)
	}
}
