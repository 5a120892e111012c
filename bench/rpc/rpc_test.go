package rpc

import (
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// Every kind of server gives every workload an answer of the right length.
func TestServersAnswerWorkloads(t *testing.T) {
	workloads, err := Workloads()
	if err != nil {
		t.Fatal(err)
	}
	lengths := make(map[int]string)
	for i := range workloads {
		if other, found := lengths[len(workloads[i].Request)]; found {
			t.Errorf("%s has requests as long as %s: the floor cannot tell them apart", workloads[i].Name, other)
		}
		lengths[len(workloads[i].Request)] = workloads[i].Name
	}
	for _, mode := range Modes {
		t.Run(mode, func(t *testing.T) {
			client := dial(t, mode)
			for i := range workloads {
				w := &workloads[i]
				c := caller{}
				c.loop(t.Context(), client, w, time.Time{}) // once
				if c.err != nil {
					t.Errorf("%s: %v", w.Name, c.err)
				}
			}
		})
	}
}

// dial serves a mode in this process and connects to it.
func dial(t *testing.T, mode string) *grpc.ClientConn {
	t.Helper()
	ours, err := server.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ours.Close)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if mode == Thriftpack {
		go func() { _ = ours.Serve(listener) }()
	} else {
		peer, err := newPeer(mode, ours)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(peer.Stop)
		go func() { _ = peer.Serve(listener) }()
	}
	client, err := Dial(&Process{Mode: mode, Address: listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client.connection
}

func TestRatio(t *testing.T) {
	p := Pair{
		Ours:   Outcome{Values: 200, ServerCPU: time.Millisecond},
		Theirs: Outcome{Values: 100, ServerCPU: time.Millisecond},
	}
	if got := p.Ratio(); got != 2 {
		t.Errorf("twice the values in the same CPU time: %v, want 2", got)
	}
	if got := MicrosecondsPerValue([]Pair{p}, Ours); got != 5 {
		t.Errorf("1 ms for 200 values is %v µs each, want 5", got)
	}
}
