package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// repeated is pattern, again and again, up to size bytes, as a member that has bytes.
func repeated(number protowire.Number, pattern string, size int) []byte {
	contents := make([]byte, 0, size)
	for len(contents)+len(pattern) <= size {
		contents = append(contents, pattern...)
	}
	return memberOf(number, contents)
}

// memberOf is a message with one member that has bytes.
func memberOf(number protowire.Number, contents []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), contents)
}

// sendOnly begins a call of a method, sends a message that is bytes already, and waits for the end.
func (h *harness) sendOnly(ctx context.Context, t *testing.T, method string, message []byte) error {
	t.Helper()
	s, err := h.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		"/thriftpack.v1.SerializerService/"+method, grpc.ForceCodecV2(rawClientCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	// An error of a send is told by the receive.
	_ = s.SendMsg(rawBytes(message))
	_ = s.CloseSend()
	for {
		var size rawSize
		if err := s.RecvMsg(&size); err != nil {
			return err
		}
	}
}

// promised is how long a call may go on after its client has gone.
const promised = 100 * time.Millisecond

// opened is a request of EncodeParts with a Begin, parts, and an End.
func opened(begin, parts []byte) []byte {
	return slices.Concat(memberOf(3, memberOf(1, begin)), parts, memberOf(3, memberOf(6, nil)))
}

// listOfBools is the Begin of a list of n bools.
func listOfBools(n int) []byte {
	return binary.AppendUvarint([]byte{0x08, 9, 0x20, 2, 0x30}, uint64(n))
}

// TestCanceledAtWork cancels calls as soon as their handlers have the request, which takes long to work on: the handler must end after a
// small part of the time that it takes when nobody cancels.
func TestCanceledAtWork(t *testing.T) {
	size := 8 << 20
	if raceEnabled {
		size >>= 3
	}
	values := map[string][]byte{
		"fields":  repeated(12, "\x0a\x02\x10\x01", size), // the Value {0: true, 0: true, ...}
		"numbers": repeated(9, "\x28\x01", size/4),        // the Value of a list whose numbers are not packed
		"bytes":   append(bytes.Repeat([]byte{0x01, 0x02}, size/2), 0),
		// Of EncodeParts: a struct in one part, a list whose numbers are not packed, and a list of which each element is a part.
		"opened fields":  opened([]byte{0x08, 12}, memberOf(3, repeated(2, "\x0a\x02\x10\x01", size))),
		"opened numbers": opened(listOfBools(size/4/2), memberOf(3, repeated(3, "\x10\x01", size/4))),
		"small parts":    opened(listOfBools(size/7), bytes.Repeat(memberOf(3, memberOf(3, []byte{0x12, 1, 1})), size/7)),
		// A list of small lists.
		"lists": append(binary.AppendUvarint([]byte{0xf9}, uint64(size/2)), bytes.Repeat([]byte{0x15, 0x02}, size/2)...),
	}
	for _, tt := range []struct {
		method string
		value  string
		wrap   func(value []byte) []byte
	}{
		{"Encode", "fields", func(v []byte) []byte { return memberOf(1, v) }},
		{"Encode", "numbers", func(v []byte) []byte { return memberOf(1, v) }},
		{"EncodeStream", "fields", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"EncodeStream", "numbers", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"EncodeBatch", "fields", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"EncodeBatch", "numbers", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"Decode", "bytes", func(v []byte) []byte { return memberOf(1, v) }},
		{"DecodeStream", "bytes", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"DecodeBatch", "bytes", func(v []byte) []byte { return memberOf(1, memberOf(1, v)) }},
		{"EncodeParts", "opened fields", func(v []byte) []byte { return v }},
		{"EncodeParts", "opened numbers", func(v []byte) []byte { return v }},
		{"EncodeParts", "small parts", func(v []byte) []byte { return v }},
		{"DecodeParts", "bytes", func(v []byte) []byte { return memberOf(2, v) }},
		{"DecodeParts", "lists", func(v []byte) []byte { return append(memberOf(2, v), "\x0a\x02\x20\x09"...) }},
	} {
		t.Run(fmt.Sprintf("%s of %s", tt.method, tt.value), func(t *testing.T) {
			request := tt.wrap(values[tt.value])
			var began time.Time
			var cancelIn func()
			h := start(t, func(s *setup) {
				s.cfg.MaxUnaryReplyBytes, s.cfg.MaxSlowNodes, s.cfg.MaxDecodedNodes = 1<<30, 1<<30, 1<<30
				s.hook = func(ctx context.Context, _ string) error {
					if began = time.Now(); cancelIn != nil {
						cancelIn()
						<-ctx.Done()
					}
					return nil
				}
			})
			_ = h.sendOnly(t.Context(), t, tt.method, request)
			line := h.finished(t, tt.method, 1)[0]
			whole := time.Since(began)
			if line["code"] == codes.InvalidArgument.String() {
				t.Fatalf("not canceled: %v", line)
			}

			// A machine that pauses does so once, not each time.
			took := time.Duration(math.MaxInt64)
			for try := 1; try <= 3 && took > 20*promised; try++ {
				ctx, cancel := context.WithCancel(t.Context())
				cancelIn = cancel
				err := h.sendOnly(ctx, t, tt.method, request)
				cancel()
				if status.Code(err) != codes.Canceled {
					t.Errorf("the client: %v", err)
				}
				if line := h.finished(t, tt.method, 1+try)[try]; line["code"] != codes.Canceled.String() {
					t.Errorf("finished with %v", line)
				}
				took = time.Since(began)
				t.Logf("%v after the cancel; %v without one", took, whole)
			}
			if took > 20*promised {
				t.Errorf("ended %v after the cancel; without one it takes %v", took, whole)
			}
		})
	}
}
