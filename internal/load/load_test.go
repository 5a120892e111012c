package load

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/fixture"
	"github.com/thriftpack/thriftpack/internal/server"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// dial connects to whatever serves on a listener in memory.
func dial(t *testing.T, listener *bufconn.Listener) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// serve starts our server and connects to it.
func serve(t *testing.T) *grpc.ClientConn {
	t.Helper()
	s, err := server.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 20)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Close)
	return dial(t, listener)
}

func TestEveryMethod(t *testing.T) {
	conn := serve(t)
	for _, method := range Methods {
		t.Run(string(method), func(t *testing.T) {
			exchange, err := Prepare(t.Context(), conn, method, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 5)
			if err != nil {
				t.Fatal(err)
			}
			values := int64(1)
			if method != Encode && method != Decode {
				values = 5
			}
			if exchange.Values != values || exchange.Thrift != values*fixture.OneOfEachCompactSize || exchange.Received <= 0 {
				t.Errorf("prepared %+v, want %d values", exchange, values)
			}
			r := Run(t.Context(), &Plan{Connections: []*grpc.ClientConn{conn}, Callers: 3, Count: 20}, exchange)
			if r.Exchanges != 20 || r.Failed != 0 || r.Values != 20*values {
				t.Errorf("got %+v (%v), want 20 exchanges and no failure", r, r.Example)
			}
		})
	}
}

func TestRunEndsAfterItsDuration(t *testing.T) {
	conn := serve(t)
	exchange, err := Prepare(t.Context(), conn, Encode, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 1)
	if err != nil {
		t.Fatal(err)
	}
	const duration = 20 * time.Millisecond
	r := Run(t.Context(), &Plan{Connections: []*grpc.ClientConn{conn}, Callers: 2, Warmup: time.Millisecond, Duration: duration}, exchange)
	if r.Exchanges == 0 || r.Elapsed < duration || r.Failed != 0 {
		t.Errorf("got %+v, want answers for at least %s", r, duration)
	}
}

// What is cut off by the end of the context is no failure.
func TestRunEndsWithItsContext(t *testing.T) {
	conn := serve(t)
	exchange, err := Prepare(t.Context(), conn, EncodeBatch, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	plan := &Plan{Connections: []*grpc.ClientConn{conn}, Callers: 2, Progress: func(Result) { cancel() }}
	if r := Run(ctx, plan, exchange); r.Exchanges == 0 || r.Failed != 0 {
		t.Errorf("got %+v, want answers and no failure", r)
	}
}

// faulty answers a few calls of Encode, and then fails.
type faulty struct {
	thriftpackv1.UnimplementedSerializerServiceServer

	answers chan *thriftpackv1.EncodeResponse
}

func (f faulty) Encode(context.Context, *thriftpackv1.EncodeRequest) (*thriftpackv1.EncodeResponse, error) {
	select {
	case answer := <-f.answers:
		return answer, nil
	default:
		return nil, status.Error(codes.ResourceExhausted, "enough")
	}
}

func TestFailuresAreCounted(t *testing.T) {
	f := faulty{answers: make(chan *thriftpackv1.EncodeResponse, 4)}
	for _, data := range []string{"right", "right", "right", "wrong!"} {
		f.answers <- &thriftpackv1.EncodeResponse{Data: []byte(data)}
	}
	s := grpc.NewServer()
	thriftpackv1.RegisterSerializerServiceServer(s, f)
	listener := bufconn.Listen(1 << 20)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn := dial(t, listener)

	exchange, err := Prepare(t.Context(), conn, Encode, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 1)
	if err != nil {
		t.Fatal(err)
	}
	r := Run(t.Context(), &Plan{Connections: []*grpc.ClientConn{conn}, Callers: 1, Count: 5}, exchange)
	if r.Exchanges != 2 || r.Failed != 3 || r.Failures["RESOURCE_EXHAUSTED"] != 2 || r.Failures["DATA_LOSS"] != 1 {
		t.Errorf("got %+v, want 2 answers, one wrong answer and 2 refusals", r)
	}
	if status.Code(r.Example) != codes.ResourceExhausted {
		t.Errorf("example %v, want the last failure", r.Example)
	}
	if _, err := Prepare(t.Context(), conn, Encode, thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 1); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("Prepare: %v, want the error of its call", err)
	}
	if _, err := Prepare(t.Context(), serve(t), "encode-twice", thriftpackv1.EncodeRequestOf(fixture.OneOfEach()), 1); err == nil {
		t.Error("a method that does not exist was prepared")
	}
}

// hanging never answers.
type hanging struct {
	thriftpackv1.UnimplementedSerializerServiceServer
}

func (hanging) Encode(ctx context.Context, _ *thriftpackv1.EncodeRequest) (*thriftpackv1.EncodeResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) EncodeBatch(ss grpc.BidiStreamingServer[thriftpackv1.EncodeBatchRequest, thriftpackv1.EncodeBatchResponse]) error {
	<-ss.Context().Done()
	return ss.Context().Err()
}

func TestTimeout(t *testing.T) {
	s := grpc.NewServer()
	thriftpackv1.RegisterSerializerServiceServer(s, hanging{})
	listener := bufconn.Listen(1 << 20)
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn := dial(t, listener)
	for _, method := range []Method{Encode, EncodeBatch} {
		name := thriftpackv1.SerializerService_Encode_FullMethodName
		if method == EncodeBatch {
			name = thriftpackv1.SerializerService_EncodeBatch_FullMethodName
		}
		exchange, err := newExchange(method, name, 1, 1, &thriftpackv1.EncodeRequest{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan := &Plan{Connections: []*grpc.ClientConn{conn}, Callers: 1, Count: 1, Timeout: 10 * time.Millisecond}
		if r := Run(t.Context(), plan, exchange); r.Failures["DEADLINE_EXCEEDED"] != 1 {
			t.Errorf("%s: got %+v (%v), want a deadline that passed", method, r, r.Example)
		}
	}
}

func TestCodeOfWrongReply(t *testing.T) {
	if got := codeOf(errors.Join(errWrongReply)); got != codes.DataLoss {
		t.Errorf("code %s, want DataLoss", got)
	}
}
