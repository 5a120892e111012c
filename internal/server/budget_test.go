package server

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// heapInUse is what the heap holds when all that is garbage or idle in a pool is gone, which takes some collections, and cleanups
// after them.
func heapInUse(t *testing.T) int64 {
	t.Helper()
	least := int64(math.MaxInt64)
	for range 8 {
		runtime.GC()
		wait(t, 5*time.Millisecond)
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		least = min(least, int64(stats.HeapAlloc))
	}
	return least
}

// hold opens a stream with a request that is bytes already and waits until it is blocked, since nobody reads it, or refused.
func (h *harness) hold(ctx context.Context, t *testing.T, method string, request []byte) error {
	t.Helper()
	s, err := h.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/thriftpack.v1.SerializerService/"+method, grpc.ForceCodecV2(rawClientCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SendMsg(rawBytes(request)); err != nil {
		t.Fatal(err)
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var size rawSize
	return s.RecvMsg(&size)
}

// worstRequests are requests that make the most of their size.
func worstRequests(size int) map[string]struct {
	method  string
	request []byte
} {
	// A value in two pieces of which one has to be normalised, with 100,000 members less some.
	numbers := bytes.Repeat([]byte{0x28, 0x01}, 99_000)
	long := protowire.AppendBytes(protowire.AppendTag(nil, 8, protowire.BytesType), make([]byte, size-len(numbers)-200))
	fields := append(memberOf(1, long), memberOf(1, memberOf(9, numbers))...)
	value := memberOf(12, fields)
	pieces := append(memberOf(1, memberOf(12, nil)), memberOf(1, value)...)
	merged := memberOf(1, pieces)
	// Lists of two bools: two thirds of an entry for each byte.
	lists := append([]byte{0xF9, 0x80, 0x80, 0x40}, bytes.Repeat([]byte{0x21, 1, 1}, 1<<20)...)
	lists = append(memberOf(1, lists[:4+3*(size/3-100)]), memberOf(3, []byte{0x20, 9})...)
	n := size/3 - 100
	copy(lists[len(lists)-len(memberOf(3, []byte{0x20, 9}))-3*n-3:], []byte{byte(n) | 0x80, byte(n>>7) | 0x80, byte(n >> 14)})
	return map[string]struct {
		method  string
		request []byte
	}{
		"merged":             {"EncodeStream", merged},
		"merged, many times": {"EncodeStream", protowire.AppendVarint(protowire.AppendTag(merged[:len(merged):len(merged)], 3, protowire.VarintType), 1<<40)},
		"decoded":            {"DecodeStream", memberOf(1, lists)},
	}
}

// TestBudgetHoldsTheHeap opens streams that make the most of their requests until one is refused, and lets nobody read them: what they hold
// is what the budget has given out, and no more.
func TestBudgetHoldsTheHeap(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	const size, budget = 3 << 20, 40 << 20
	requests := worstRequests(size)
	typed := worstTypedRequests(t, size)
	maps.Copy(requests, typed)
	for name, worst := range requests {
		t.Run(name, func(t *testing.T) {
			h := start(t, withExample, func(s *setup) {
				s.cfg.MaxRequestBytes, s.cfg.StreamBudget, s.cfg.StreamWait = 4<<20, budget, 0
				s.cfg.MaxDecodedNodes = 1 << 30
				// A window that does not grow with what the client measures.
				s.dial = []grpc.DialOption{grpc.WithStaticStreamWindowSize(64 << 10)}
			})
			if err := h.oneCall(t.Context(), "EncodeStream"); err != nil {
				t.Fatal(err)
			}
			h.eventuallyIdle(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			before, streams := heapInUse(t), 0
			for ; ; streams++ {
				if err := h.hold(ctx, t, worst.method, worst.request); err != nil {
					wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "--stream-budget")
					break
				}
			}
			h.settled(t)
			held, grown := h.server.service.budget.Held(), heapInUse(t)-before
			t.Logf("%d streams of %d bytes: the budget of %d gave %d, the heap grew by %d", streams, len(worst.request), budget, held, grown)
			least := 2
			if _, ok := typed[name]; ok {
				least = 1
			}
			if streams < least || held > budget {
				t.Errorf("%d streams hold %d of %d", streams, held, budget)
			}
			// The client has 64 KiB of each stream, both ends have what a stream is, and the runtime and gRPC have what differs from run to run.
			if slack := int64(streams*(64<<10+64<<10) + 4<<20); grown > held+slack {
				t.Errorf("%d streams: the heap grew by %d, the budget gave %d", streams, grown, held)
			}
			cancel()
			h.eventuallyIdle(t)
		})
	}
}

// TestCostFormulas compares what the settings say that work takes with what encoder, decoder and pools take.
func TestCostFormulas(t *testing.T) {
	cfg := config.Default()
	cfg.MaxRequestBytes = 4 << 20
	s := newServer(t, cfg)
	for _, n := range []int{1, 100, 5000, 1<<17 + 1, 1 << 20, 1<<20 + 1, 4 << 20, 33 << 20} {
		buffer := s.service.buffers.Get(n)
		if got, most := int64(cap(*buffer)), config.BufferMost(int64(n)); got > most {
			t.Errorf("a buffer of %d bytes takes %d, want %d at most", n, got, most)
		}
		s.service.buffers.Put(buffer)
		cfg.MaxUnaryReplyBytes = n
		if got, want := cfg.MostUnread(), 8*int64(stream.Capacity(n)); got > want || n > stream.MinChunkSize && got < want {
			t.Errorf("unread replies of %d bytes take %d, want %d", n, got, want)
		}
	}
	for name, worst := range worstRequests(3 << 20) {
		var taken, most int64
		if worst.method == "EncodeStream" {
			var r encodeStreamRequest
			if err := parseEncodeStreamRequest(&r, worst.request); err != nil {
				t.Fatal(err)
			}
			value, err := r.request.join(func(r *encodeRequest) error {
				again := encodeStreamRequest{request: *r}
				err := parseEncodeStreamRequest(&again, worst.request)
				*r = again.request
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var e encoder.Encoder
			o := encoder.Options{Limits: encoder.Limits{Depth: 64, Elements: 1 << 30, StringBytes: 1 << 30, SlowNodes: cfg.MaxSlowNodes}}
			o.Reserve = func(bytes int64) error { taken = bytes; return nil }
			if _, err := e.Prepare(value, &o); err != nil || !e.SlowPath() {
				t.Fatalf("%s: slow path %v, %v", name, e.SlowPath(), err)
			}
			most = cfg.EncodeMost(int64(len(value)))
		} else {
			var r decodeStreamRequest
			if err := parseDecodeStreamRequest(&r, worst.request); err != nil {
				t.Fatal(err)
			}
			var d decoder.Decoder
			o := decoder.Options{Root: thriftpackv1.Type_TYPE_LIST, Limits: decoder.Limits{Depth: 64, Elements: 1 << 30, StringBytes: 1 << 30, Nodes: 1 << 30}}
			if _, err := d.Prepare(r.request.data, &o); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			taken, most = d.Held(), cfg.DecodeMost(int64(len(r.request.data)))
		}
		if taken == 0 || taken > most {
			t.Errorf("%s: %d bytes taken, want %d at most", name, taken, most)
		}
	}
}

// TestBudgetGrowsInBatches has a batch whose reply is much longer than its requests, and values that have to be merged: where the budget
// cannot give what shows late, the stream ends, and says so.
func TestBudgetGrowsInBatches(t *testing.T) {
	// Half of it is kept for streams under way whose messages grow.
	const budget = 3 << 20
	h := start(t, func(s *setup) { s.cfg.StreamBudget, s.cfg.StreamWait = budget, 10*time.Millisecond })
	// Bools take two bytes in a struct of Thrift, six in a Value.
	input := append(bytes.Repeat([]byte{0x01, 0x02}, 200_000), 0)
	request := &thriftpackv1.DecodeBatchRequest{Requests: []*thriftpackv1.DecodeRequest{{Data: input}}}
	exchange := func() error {
		s, err := h.client.DecodeBatch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Send(request)
		_ = s.CloseSend()
		replies, err := drainStream(s)
		if err == nil && proto.Size(replies[0]) < 1_000_000 {
			return errors.New("a short reply")
		}
		return err
	}
	// Alone it may have the whole, whatever it needs.
	if err := exchange(); err != nil {
		t.Fatalf("alone: %v", err)
	}
	h.eventuallyIdle(t)
	grant := h.server.service.budget.Grant()
	for _, free := range []int64{0, 1 << 20} {
		if err := grant.Resize(budget/2 - free); err != nil {
			t.Fatal(err)
		}
		h.server.service.cfg.StreamBudget = max(free, 1) // so that it is admitted with what is left
		err := exchange()
		if free == 0 {
			wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "--stream-budget, --stream-wait")
		} else {
			wantError(t, err, codes.ResourceExhausted, "BUDGET_EXHAUSTED", "under way", "--stream-budget")
		}
	}
	grant.Release()
	if got := status.Code(exchange()); got != codes.OK {
		t.Errorf("with the whole again: %v", got)
	}
}
