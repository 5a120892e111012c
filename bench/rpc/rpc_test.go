package rpc

import (
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// Every kind of server gives every workload an answer of the right length.
func TestServersAnswerWorkloads(t *testing.T) {
	answer(t, Workloads, config.Default(), Modes)
}

// The same for what grows, without what is large.
func TestServersAnswerWhatGrows(t *testing.T) {
	workloads, err := Growing()
	if err != nil {
		t.Fatal(err)
	}
	lengths := make(map[int]bool)
	for i := range workloads {
		lengths[len(workloads[i].Request)] = true
	}
	if last := &workloads[len(workloads)-1]; len(lengths) != len(workloads) || last.Shape != Stream || last.Bytes < 1e9 || workloads[0].Bytes > 60 {
		t.Errorf("%d lengths of requests in %d workloads from %d to %d bytes, want as many, from 50 bytes to 1 GiB",
			len(lengths), len(workloads), workloads[0].Bytes, last.Bytes)
	}
	settings := config.Default()
	settings.MaxRequestBytes, settings.MaxUnaryReplyBytes = mostGrowing, mostGrowing
	few := slices.DeleteFunc(workloads, func(w Workload) bool { return w.Bytes > 5<<20 })
	answer(t, func() ([]Workload, error) { return few, nil }, settings, []string{Thriftpack, Floor})
}

func answer(t *testing.T, all func() ([]Workload, error), settings config.Config, modes []string) {
	t.Helper()
	workloads, err := all()
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
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			client := dial(t, mode, all, settings)
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
func dial(t *testing.T, mode string, all func() ([]Workload, error), settings config.Config) *grpc.ClientConn {
	t.Helper()
	ours, err := server.New(settings)
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
		peer, err := newPeer(mode, ours, all)
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

func TestNewComparison(t *testing.T) {
	outcome := func(values int64) Outcome { return Outcome{Values: values, ServerCPU: time.Millisecond} }
	w := &Workload{Name: "encode/small", Bytes: 50}
	c := NewComparison(w, Ordinary, 8, [][]Outcome{{outcome(125), outcome(100), outcome(200)}, {outcome(250), outcome(200), outcome(400)}})
	if ratios := Each(c.Pairs, Pair.Ratio); !slices.Equal(ratios, []float64{1.25, 1.25}) {
		t.Errorf("ours against theirs: %v, want 1.25 twice", ratios)
	}
	if ratios := Each(c.Ceiling, Pair.Ratio); !slices.Equal(ratios, []float64{2, 2}) {
		t.Errorf("floor against theirs: %v, want 2 twice", ratios)
	}
	if c = NewComparison(w, Floor, 8, [][]Outcome{{outcome(95), outcome(100)}}); len(c.Pairs) != 1 || c.Ceiling != nil {
		t.Errorf("two sides: %d pairs with a ceiling of %v, want one and none", len(c.Pairs), c.Ceiling)
	}
}
