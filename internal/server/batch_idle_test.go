package server

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// TestIdleBatchesHoldNothing leaves batch streams open after a message that took much memory. While they wait for the next one they hold
// nothing of the budget, so that they may not hold the memory either.
func TestIdleBatchesHoldNothing(t *testing.T) {
	const streams, most = 6, 24 << 20
	h := start(t, withExample)
	idle := map[string]func(t *testing.T) func(){
		"a set with a duplicate at its end": func(t *testing.T) func() {
			t.Helper()
			s, err := h.client.EncodeBatch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			elements := make([]int32, 1<<20)
			for i := range elements {
				elements[i] = int32(len(elements) - max(i, 1))
			}
			elements[len(elements)-1] = elements[0]
			value := thriftpackv1.StructValue(thriftpackv1.SetField(9, &thriftpackv1.List{I32S: elements}))
			if err := s.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{{
				Input: &thriftpackv1.EncodeRequest_Value{Value: value}, Type: &thriftpackv1.TypeRef{Schema: "example", Type: "S"},
			}}}); err != nil {
				t.Fatal(err)
			}
			reply, err := s.Recv()
			if err != nil || reply.GetResults()[0].GetError() == nil {
				t.Fatalf("%v, %v, want a result with an error", reply, err)
			}
			return func() { _ = s.CloseSend(); _, _ = s.Recv() }
		},
		"many structs": func(t *testing.T) func() {
			t.Helper()
			s, err := h.client.DecodeBatch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			const structs = 1 << 20
			data := protowire.AppendVarint([]byte{0x19, 0xfc}, structs) // field 1, a list of so many structs
			data = append(data, bytes.Repeat([]byte{0}, structs+1)...)
			if err := s.Send(&thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{{Data: data}}}); err != nil {
				t.Fatal(err)
			}
			reply, err := s.Recv()
			if err != nil || reply.GetResults()[0].GetResponse() == nil {
				t.Fatalf("%v, %v, want a result", reply.GetResults()[0].GetError(), err)
			}
			return func() { _ = s.CloseSend(); _, _ = s.Recv() }
		},
	}
	for name, open := range idle {
		t.Run(name, func(t *testing.T) {
			open(t)() // warm
			before := heap()
			for range streams {
				t.Cleanup(open(t))
			}
			for deadline := time.Now().Add(patience); heap() > before+most; {
				if time.Now().After(deadline) {
					t.Fatalf("%d idle streams hold %d MiB, want at most %d", streams, (heap()-before)>>20, most>>20)
				}
			}
		})
	}
}

// heap returns what is in use, without what pools give up.
func heap() uint64 {
	for range 3 { // pools give up in two steps
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
