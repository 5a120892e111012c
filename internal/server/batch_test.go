package server

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/stream"
)

func TestEncodeBatch(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	wrong := thriftpackv1.StructValue(&thriftpackv1.Field{Id: 1, Kind: &thriftpackv1.Field_I16{I16: 40000}})
	binaryProtocol := &thriftpackv1.EncodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY}
	var requests []*thriftpackv1.EncodeRequest
	for _, value := range []*thriftpackv1.Value{fixture.OneOfEach(), wrong, binaryOf(0), binaryOf(110), binaryOf(120), binaryOf(130), binaryOf(20_000), fixture.Nested4(), {}} {
		requests = append(requests, encodeRequestOf(value, nil), encodeRequestOf(value, binaryProtocol))
	}
	s, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		t.Fatalf("EncodeBatch: %v", err)
	}
	var joined []byte
	for _, message := range [][]*thriftpackv1.EncodeRequest{requests, nil, requests[:1], requests[2:4]} {
		if err := s.Send(&thriftpackv1.EncodeBatchRequest{Requests: message}); err != nil {
			t.Fatalf("Send: %v", err)
		}
		reply, err := s.Recv()
		if err != nil {
			t.Fatalf("Recv: %v", err)
		}
		if len(reply.GetResults()) != len(message) {
			t.Fatalf("%d results for %d requests", len(reply.GetResults()), len(message))
		}
		for i, result := range reply.GetResults() {
			want, err := h.client.Encode(t.Context(), message[i])
			if err != nil {
				wantInBand(t, result.GetError(), err)
				continue
			}
			if !bytes.Equal(result.GetResponse().GetData(), want.GetData()) {
				t.Errorf("result %d differs from Encode's", i)
			}
			joined = append(joined, want.GetData()...)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatalf("CloseSend: %v", err)
	}
	rest, err := drainStream(s)
	if err != nil || len(rest) != 0 {
		t.Errorf("after the last: %d responses, %v", len(rest), err)
	}
	received{data: joined, trailer: s.Trailer()}.wantTrailers(t)
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

// wantInBand compares an error inside a batch with that of the unary call.
func wantInBand(t *testing.T, got *thriftpackv1.Error, err error) {
	t.Helper()
	want := statusProto(err)
	if got.GetCode() != want.GetCode() || got.GetMessage() != want.GetMessage() || len(got.GetDetails()) != len(want.GetDetails()) {
		t.Fatalf("in-band error: got %v, want %v", got, want)
	}
	for i, detail := range got.GetDetails() {
		g, gotErr := detail.UnmarshalNew()
		w, wantErr := want.GetDetails()[i].UnmarshalNew()
		if gotErr != nil || wantErr != nil || !proto.Equal(g, w) {
			t.Errorf("in-band detail %d: got %v, want %v", i, g, w)
		}
	}
}

func TestEncodeBatchReplyLimit(t *testing.T) {
	const limit = 10_000
	h := start(t, func(s *setup) { s.cfg.MaxUnaryReplyBytes = limit })
	exchange := func(requests []*thriftpackv1.EncodeRequest) (*thriftpackv1.EncodeBatchResponse, error) {
		s, err := h.client.EncodeBatch(t.Context())
		if err != nil {
			t.Fatalf("EncodeBatch: %v", err)
		}
		if err := s.Send(&thriftpackv1.EncodeBatchRequest{Requests: requests}); err != nil {
			t.Fatalf("Send: %v", err)
		}
		_ = s.CloseSend()
		all, err := drainStream(s)
		if len(all) != 1 {
			return nil, err
		}
		return all[0], err
	}
	var requests []*thriftpackv1.EncodeRequest
	for range 4 {
		requests = append(requests, encodeRequestOf(binaryOf(4000), nil), encodeRequestOf(binaryOf(4000), &thriftpackv1.EncodeOptions{Protocol: thriftpackv1.Protocol_PROTOCOL_BINARY}))
	}
	reply, err := exchange(requests)
	if err != nil {
		t.Fatalf("EncodeBatch: %v", err)
	}
	if proto.Size(reply) > limit {
		t.Errorf("reply of %d bytes, limit %d", proto.Size(reply), limit)
	}
	for i, result := range reply.GetResults() {
		if fits := i < 2; fits != (result.GetError() == nil) || !fits && result.GetError().GetCode() != int32(codes.ResourceExhausted) {
			t.Errorf("result %d: error %v", i, result.GetError())
		}
	}
	// Errors alone: as many as there is room for, the last ones short.
	most := limit / len(replyFull)
	reply, err = exchange(make([]*thriftpackv1.EncodeRequest, most))
	if err != nil || len(reply.GetResults()) != most || proto.Size(reply) > limit {
		t.Fatalf("%d empty requests: %d results of %d bytes, %v", most, len(reply.GetResults()), proto.Size(reply), err)
	}
	_, err = exchange(make([]*thriftpackv1.EncodeRequest, most+1))
	wantError(t, err, codes.ResourceExhausted, "SIZE_LIMIT", "requests")
}

func TestDecodeBatch(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	var requests []*thriftpackv1.DecodeRequest
	for _, data := range []string{fixture.OneOfEachCompact, "15", "00", "0000", "8221ac020470696e6700"} {
		for _, options := range []*thriftpackv1.DecodeOptions{nil, {Message: true}, {AllowTrailing: true, Lenient: true}} {
			requests = append(requests, &thriftpackv1.DecodeRequest{Data: fromHex(t, data), Options: options})
		}
	}
	s, err := h.client.DecodeBatch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var joined []byte
	for _, message := range [][]*thriftpackv1.DecodeRequest{requests, nil, requests[3:5]} {
		if err := s.Send(&thriftpackv1.DecodeBatchRequest{Requests: message}); err != nil {
			t.Fatal(err)
		}
		reply, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.GetResults()) != len(message) {
			t.Fatalf("%d results for %d requests", len(reply.GetResults()), len(message))
		}
		for i, result := range reply.GetResults() {
			want, err := h.client.Decode(t.Context(), message[i])
			if err != nil {
				wantInBand(t, result.GetError(), err)
				continue
			}
			if !proto.Equal(result.GetResponse(), want) {
				t.Errorf("result %d: got %v, want %v", i, result.GetResponse(), want)
			}
			joined = append(joined, fixture.Wire(want.GetValue())...)
		}
	}
	_ = s.CloseSend()
	if rest, err := drainStream(s); err != nil || len(rest) != 0 {
		t.Errorf("after the last: %d responses, %v", len(rest), err)
	}
	received{data: joined, trailer: s.Trailer()}.wantTrailers(t)
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

// TestPlace places results as an encoder could leave them that needs more than its bound says. Were the reply to grow then, the data
// would be cleared before it is copied.
func TestPlace(t *testing.T) {
	const head = 9
	contents := bytes.Repeat([]byte{7}, 1990)
	for _, tt := range []struct {
		name      string
		room      int
		elsewhere bool
		reason    fault.Reason
	}{
		{"within the bound", 2048, false, ""},
		{"in memory of the encoder's", 2048, true, ""},
		{"in memory of the encoder's, and no room", 10, true, ""},
		{"no room for the head", head - 6 + 1990, false, fault.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, config.Default())
			b := &batchReply{service: s.service, session: &session{service: s.service, grant: s.service.budget.Grant()}, chunk: stream.NewCheckedPool().Get(2048), limit: 1 << 20}
			defer func() { b.chunk.Release() }()
			b.room = b.chunk.Room(tt.room)
			before := head
			if tt.room < 2000 && !tt.elsewhere {
				before = head - 6
			}
			encoded := b.room[:min(before, len(b.room))]
			if tt.elsewhere {
				encoded = make([]byte, before)
			}
			encoded = append(encoded, contents...)
			data, err := b.place(encoded, before)
			if tt.reason != "" {
				var f *fault.Error
				if !errors.As(err, &f) || f.Reason != tt.reason {
					t.Errorf("error %v, want %s", err, tt.reason)
				}
				return
			}
			if err != nil || !bytes.Equal(data, contents) {
				t.Fatalf("%d bytes, %v; want the contents", len(data), err)
			}
			var reply thriftpackv1.EncodeBatchResponse
			if err := proto.Unmarshal(b.room[:b.filled], &reply); err != nil {
				t.Fatal(err)
			}
			if got := reply.GetResults()[0].GetResponse().GetData(); !bytes.Equal(got, contents) {
				t.Errorf("the reply has %d bytes, want the contents", len(got))
			}
		})
	}
}
