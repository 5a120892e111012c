package server

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/stream"
)

// TestConcurrentContents runs calls of all kinds at once, each with contents of its own, over memory that is poisoned
// when it is given back.
func TestConcurrentContents(t *testing.T) {
	h := start(t, func(s *setup) { s.pool = stream.NewCheckedPool() })
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 20 {
				n := (worker*7919 + i*104729) % 100_000
				contents := bytes.Repeat([]byte{byte(1 + worker*20 + i)}, n)
				if err := h.exchangeContents(t, contents); err != nil {
					t.Errorf("worker %d, %d bytes: %v", worker, n, err)
				}
			}
		})
	}
	group.Wait()
	if faults := h.server.service.pool.Stats().Faults; faults != 0 {
		t.Errorf("pool: %d faults", faults)
	}
}

// exchangeContents encodes a struct with contents by each RPC, and decodes it.
func (h *harness) exchangeContents(t *testing.T, contents []byte) error {
	t.Helper()
	request := encodeRequestOf(thriftpackv1.StructValue(thriftpackv1.BinaryField(1, contents)), nil)
	want := append(append(binary.AppendUvarint([]byte{0x18}, uint64(len(contents))), contents...), 0)
	check := func(method string, got []byte, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s: %d bytes with other contents, want %d", method, len(got), len(want))
		}
		return nil
	}
	unary, err := h.client.Encode(t.Context(), request)
	if err := check("Encode", unary.GetData(), err); err != nil {
		return err
	}
	s, err := h.client.EncodeStream(t.Context(), &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: 4096})
	if err != nil {
		return err
	}
	chunks, err := drainStream(s)
	var joined []byte
	for _, chunk := range chunks {
		joined = append(joined, chunk.GetData()...)
	}
	if err := check("EncodeStream", joined, err); err != nil {
		return err
	}
	batch, err := h.client.EncodeBatch(t.Context())
	if err != nil {
		return err
	}
	if err := batch.Send(&thriftpackv1.EncodeBatchRequest{Requests: []*thriftpackv1.EncodeRequest{request, request}}); err != nil {
		return err
	}
	_ = batch.CloseSend()
	replies, err := drainStream(batch)
	if err != nil || len(replies) != 1 || len(replies[0].GetResults()) != 2 {
		return fmt.Errorf("EncodeBatch: %d responses: %w", len(replies), err)
	}
	for _, result := range replies[0].GetResults() {
		if err := check("EncodeBatch", result.GetResponse().GetData(), nil); err != nil {
			return err
		}
	}
	decoded, err := h.client.Decode(t.Context(), &thriftpackv1.DecodeRequest{Data: want})
	if err != nil {
		return err
	}
	if got := decoded.GetValue().GetStruct().GetFields()[0].GetBinary(); !bytes.Equal(got, contents) {
		return fmt.Errorf("Decode: %d bytes with other contents, want %d", len(got), len(contents))
	}
	return nil
}

// TestManyRepliesToAReader has clients that are busy and read everything: whatever the server has queued for their one connection, none
// of their calls is refused.
func TestManyRepliesToAReader(t *testing.T) {
	for _, tt := range []struct{ clients, size int }{{16, 3 << 20}, {50, 1_100_000}, {100, 300_000}} {
		t.Run(fmt.Sprintf("%d clients, %d bytes", tt.clients, tt.size), func(t *testing.T) {
			if raceEnabled {
				tt.clients /= 4
			}
			h := start(t)
			request, err := proto.Marshal(encodeRequestOf(binaryOf(tt.size), nil))
			if err != nil {
				t.Fatal(err)
			}
			var group sync.WaitGroup
			for range tt.clients {
				group.Go(func() {
					for range 3 {
						var size rawSize
						err := h.conn.Invoke(t.Context(), encodeMethod, rawBytes(request), &size, grpc.ForceCodecV2(rawClientCodec{}))
						if err != nil || int(size) < tt.size {
							t.Errorf("Encode: %d bytes, %v", size, err)
						}
						if err := h.oneCall(t.Context(), "EncodeStream"); err != nil {
							t.Errorf("EncodeStream: %v", err)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// TestUnreadReplies sends unary calls and reads none of the replies, which gRPC queues without limit: what one connection
// owes is bounded, and written off when it is gone.
func TestUnreadReplies(t *testing.T) {
	const reply = 60_000
	h := start(t, func(s *setup) { s.cfg.MaxUnaryReplyBytes, s.cfg.StallTimeout = 64<<10, 2*time.Second })
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	client := newDeafClient(t, conn)
	request, err := proto.Marshal(encodeRequestOf(binaryOf(reply), nil))
	if err != nil {
		t.Fatal(err)
	}
	refused := func() bool {
		return slices.ContainsFunc(h.log.calls(t, "Encode"), func(line map[string]any) bool { return line["reason"] == "BUDGET_EXHAUSTED" })
	}
	for calls := 0; !refused(); calls += 10 {
		if calls > 2000 {
			t.Fatalf("%d replies of %d bytes unread, and none was refused", calls, reply)
		}
		for range 10 {
			client.call(t, request)
		}
		eventually(t, "the calls are finished", func() bool { return len(h.log.calls(t, "Encode")) >= calls+10 })
	}
	for _, line := range h.log.calls(t, "Encode") {
		if code := line["code"]; code != codes.OK.String() && code != codes.ResourceExhausted.String() {
			t.Errorf("finished with %v", code)
		}
	}
	_ = conn.Close()
	eventually(t, "the connection is gone", func() bool { return h.server.connections.Load() == 0 })
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// deafClient is a client that opens all windows and then reads nothing.
type deafClient struct {
	framer *http2.Framer
	hpack  *hpack.Encoder
	header bytes.Buffer
	stream uint32 // of the last call
	calls  uint32
	extra  [][2]string // more headers of each call
}

func newDeafClient(t *testing.T, conn net.Conn) *deafClient {
	t.Helper()
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	c := &deafClient{framer: http2.NewFramer(conn, conn)}
	c.hpack = hpack.NewEncoder(&c.header)
	if err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1}); err != nil {
		t.Fatal(err)
	}
	if err := c.framer.WriteWindowUpdate(0, 1<<30); err != nil {
		t.Fatal(err)
	}
	return c
}

// call sends one unary call.
func (c *deafClient) call(t *testing.T, request []byte) {
	t.Helper()
	c.open(t, encodeMethod)
	c.send(t, request)
}

// open begins the next call of a method.
func (c *deafClient) open(t *testing.T, method string) {
	t.Helper()
	c.header.Reset()
	for _, field := range append([][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", method},
		{":authority", "test"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
	}, c.extra...) {
		if err := c.hpack.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Fatal(err)
		}
	}
	c.stream, c.calls = 2*c.calls+1, c.calls+1
	block := c.header.Bytes()
	first := min(len(block), 16<<10)
	if err := c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: c.stream, BlockFragment: block[:first], EndHeaders: first == len(block),
	}); err != nil {
		t.Fatal(err)
	}
	if rest := block[first:]; len(rest) > 0 {
		if err := c.framer.WriteContinuation(c.stream, true, rest); err != nil {
			t.Fatal(err)
		}
	}
}

// send sends the one message of the call that was opened last.
func (c *deafClient) send(t *testing.T, request []byte) {
	t.Helper()
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(request))), request...)
	for piece := range slices.Chunk(message, 16<<10) {
		if err := c.framer.WriteData(c.stream, false, piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.framer.WriteData(c.stream, true, nil); err != nil {
		t.Fatal(err)
	}
}
