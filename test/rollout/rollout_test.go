// Package rollout updates a Deployment of real servers under load, the way Kubernetes does: a new pod, when it is ready into the DNS; an
// old one out of the DNS, and SIGTERM. Its clients find pods as grpc-go finds those of a headless Service. All times are those of k8s/base,
// a hundred times shorter.
package rollout

import (
	"context"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/test/process"
)

// roundsVariable names how many updates there are, beyond the usual.
const roundsVariable = "ROLLOUT_ROUNDS"

const (
	pods            = 3
	usualRounds     = 3
	unaryCallers    = 150
	streamingOfEach = 13 // of four kinds; 202 callers in all
)

// The times of k8s/base and of grpc-go, divided by a hundred.
const (
	resolutionInterval = 300 * time.Millisecond
	minReady           = 120 * time.Millisecond
	preStop            = 50 * time.Millisecond
	drainDelay         = "50ms"
	drainTimeout       = "20s" // not divided: it is a bound, and nothing here needs it
)

var binary string

func TestMain(m *testing.M) { os.Exit(process.Main(m, &binary)) }

// deployment is a number of servers that one name stands for.
type deployment struct {
	zone *zone
	pods []*process.Server
}

// start starts a pod and, when it serves, puts it into the DNS.
func (d *deployment) start(t *testing.T) *process.Server {
	t.Helper()
	s := process.Start(t, binary, "--drain-delay="+drainDelay, "--drain-timeout="+drainTimeout)
	d.zone.add(s.GRPC)
	return s
}

// stop deletes a pod: out of the DNS, the sleep before the end, SIGTERM, and an orderly end.
func (d *deployment) stop(t *testing.T, s *process.Server) {
	t.Helper()
	d.zone.remove(s.GRPC)
	wait(preStop)
	s.Signal(t, syscall.SIGTERM)
	if code := s.Wait(t); code != 0 {
		t.Errorf("a pod ended with %d: %v", code, s.Logs())
	}
}

// wait lets a time of the cluster pass.
func wait(d time.Duration) { <-time.After(d) }

// update replaces each pod: maxSurge 1, maxUnavailable 0, minReadySeconds. An update of three pods lasts longer than the client's
// interval, so the client has looked the new pods up before the last old one goes; where this machine was too slow for that, it is waited for.
func (d *deployment) update(t *testing.T) {
	t.Helper()
	for i, old := range d.pods {
		fresh := d.start(t)
		wait(minReady)
		if i == len(d.pods)-1 {
			d.awaitAny(t, d.pods[:i])
		}
		d.stop(t, old)
		d.pods[i] = fresh
	}
}

// awaitAny waits until the client knows one of some pods.
func (d *deployment) awaitAny(t *testing.T, some []*process.Server) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		var changed <-chan struct{}
		for _, s := range some {
			known, wait := d.zone.knows(s.GRPC)
			if known {
				return
			}
			changed = wait
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatal("the client does not look the name up, although connections have ended")
		}
	}
}

// TestRollingUpdateLosesNothing wants every unary call answered, and every stream whole or cut between two chunks and told so.
func TestRollingUpdateLosesNothing(t *testing.T) {
	leaks.Check(t)
	rounds := usualRounds
	if text := os.Getenv(roundsVariable); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", roundsVariable, err)
		}
	}
	d := &deployment{zone: newZone(resolutionInterval)}
	for range pods {
		d.pods = append(d.pods, d.start(t))
	}
	conn, err := grpc.NewClient("headless:///thriftpack", grpc.WithResolvers(d.zone), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableRetry(), grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	callers := startCallers(t, thriftpackv1.NewSerializerServiceClient(conn))
	for round := range rounds {
		unary, whole, cut := callers.tally.unary.Load(), callers.tally.whole.Load(), callers.tally.cut.Load()
		d.update(t)
		unary, whole, cut = callers.tally.unary.Load()-unary, callers.tally.whole.Load()-whole, callers.tally.cut.Load()-cut
		t.Logf("round %d: %d unary calls, %d streams whole, %d cut", round+1, unary, whole, cut)
		if unary == 0 || cut == 0 {
			t.Errorf("round %d: nothing was under way that an update could have hurt", round+1)
		}
	}
	callers.stop()
	if callers.tally.whole.Load() == 0 {
		t.Error("no stream was whole")
	}
	for _, s := range d.pods {
		d.stop(t, s)
	}
}

// callers call until they are stopped.
type callers struct {
	tally   tally
	over    context.CancelFunc
	running sync.WaitGroup
}

// startCallers starts the callers, and returns when each kind has had a success.
func startCallers(t *testing.T, client thriftpackv1.SerializerServiceClient) *callers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over, stop := context.WithCancel(ctx)
	c := &callers{over: stop}
	t.Cleanup(cancel)
	var began sync.WaitGroup
	begin := func(name string, step call, between time.Duration) {
		began.Add(1)
		c.running.Go(func() {
			ticker := time.NewTicker(between)
			defer ticker.Stop()
			first := sync.OnceFunc(began.Done)
			defer first()
			for beat(over, ticker) == nil {
				if err := step(ctx, client, &c.tally); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				first()
			}
		})
	}
	for range unaryCallers {
		begin("unary", unary, 2*pace)
	}
	for range streamingOfEach {
		begin("EncodeStream", encodeStream, pace)
		begin("DecodeStream", decodeStream, pace)
		begin("EncodeBatch", encodeBatch, pace)
		begin("EncodeParts", encodeParts, pace)
	}
	began.Wait()
	return c
}

// stop lets every call under way end.
func (c *callers) stop() {
	c.over()
	c.running.Wait()
}
