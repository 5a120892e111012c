package stream

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// DefaultTestTimeout is a stall timeout that no test that passes waits for.
const DefaultTestTimeout = time.Minute

func TestWatch(t *testing.T) {
	const timeout = 30 * time.Second
	type call struct {
		idle      time.Duration // before the call
		blocks    time.Duration
		direction Direction
	}
	tests := []struct {
		name    string
		calls   []call
		wantCut time.Duration // since the start; 0: never
		wantErr string
	}{
		{name: "short calls for a long time", calls: slices.Repeat([]call{{0, 29 * time.Second, Sending}}, 10)},
		{name: "idle between calls", calls: []call{{time.Hour, time.Second, Receiving}, {time.Hour, time.Second, Sending}}},
		{
			name: "blocked at once", calls: []call{{0, time.Hour, Sending}}, wantCut: timeout,
			wantErr: "peer took no message for 30s (--stall-timeout); a client must read while it writes",
		},
		{
			name: "blocked after short calls", calls: []call{
				{0, 10 * time.Second, Sending}, {5 * time.Second, 29 * time.Second, Sending}, {0, time.Hour, Receiving},
			},
			wantCut: 44*time.Second + timeout, wantErr: "no whole message from the peer for 30s (--stall-timeout)",
		},
		{
			name: "blocked after idling", calls: []call{{0, 0, Sending}, {100 * time.Second, time.Hour, Sending}},
			wantCut: 100*time.Second + timeout,
			wantErr: "peer took no message for 30s (--stall-timeout); a client must read while it writes",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				unblock := make(chan struct{})
				var cuts []time.Duration
				watch := NewWatch(timeout, func(*fault.Error) {
					cuts = append(cuts, time.Since(began))
					close(unblock)
				})
				var err error
				for _, call := range test.calls {
					time.Sleep(call.idle) //nolint:forbidigo // synctest's clock
					watch.Begin(call.direction)
					select {
					case <-time.After(call.blocks):
					case <-unblock:
					}
					if err = watch.End(); err != nil {
						break
					}
				}
				watch.Stop()
				time.Sleep(time.Hour) //nolint:forbidigo // synctest's clock: nothing may come later
				if test.wantCut == 0 {
					if err != nil || len(cuts) != 0 {
						t.Errorf("cut at %v with error %v, want never", cuts, err)
					}
					return
				}
				if len(cuts) != 1 || cuts[0] != test.wantCut {
					t.Errorf("cut at %v, want once at %s", cuts, test.wantCut)
				}
				if !errors.Is(err, fault.New(fault.Stalled, "")) || err.Error() != test.wantErr {
					t.Errorf("End() = %v, want reason %s: %s", err, fault.Stalled, test.wantErr)
				}
				if err := watch.End(); err == nil {
					t.Error("End() after the cut = nil, want the fault again")
				}
			})
		})
	}
}

func TestWatchAllowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unblock := make(chan struct{})
		watch := NewWatch(0, func(*fault.Error) { close(unblock) })
		defer watch.Stop()
		watch.Begin(Sending)
		<-unblock
		if err := watch.End(); !errors.Is(err, fault.New(fault.Stalled, "")) {
			t.Errorf("End() = %v, want reason %s", err, fault.Stalled)
		}
	})
}

func TestWatchAfterStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watch := NewWatch(time.Second, func(*fault.Error) { t.Error("cut after Stop") })
		watch.Stop()
		watch.Stop()
		watch.Begin(Sending)
		time.Sleep(time.Hour) //nolint:forbidigo // synctest's clock
		if err := watch.End(); err != nil {
			t.Errorf("End() = %v, want nil", err)
		}
	})
}

// The sender reports the stall, not the error of the call that the cut has unblocked, and cut may read its counts.
func TestSenderStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewCheckedPool()
		unblock := make(chan struct{})
		var sender *Sender
		var bytesAtCut int64
		var crcAtCut uint32
		watch := NewWatch(time.Second, func(*fault.Error) {
			bytesAtCut, crcAtCut = sender.Bytes(), sender.CRC32C()
			close(unblock)
		})
		defer watch.Stop()
		sent := 0
		sender, err := NewSender(t.Context(), SenderConfig{
			Pool: pool, Watch: watch, ChunkSize: MinChunkSize, Tag: 0x0a,
			Send: func(message *Message) error {
				if sent++; sent < 3 {
					return freeAtOnce(message)
				}
				data, _ := message.Take()
				defer data.Free()
				<-unblock
				return status.Error(codes.Canceled, "context canceled")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer sender.Close()
		if err := sendAll(sender, source(20_000)); !errors.Is(err, fault.New(fault.Stalled, "")) {
			t.Errorf("sending = %v, want reason %s", err, fault.Stalled)
		}
		if bytesAtCut != 2*4093 || bytesAtCut != sender.Bytes() || crcAtCut != sender.CRC32C() {
			t.Errorf("at the cut %d bytes, CRC %08x; afterwards %d, %08x; want %d and the same",
				bytesAtCut, crcAtCut, sender.Bytes(), sender.CRC32C(), 2*4093)
		}
		checkAllReturned(t, pool)
	})
}

func TestEndRPCOutsideOfAnRPC(t *testing.T) {
	if EndRPC(t.Context(), status.New(codes.Internal, "")) {
		t.Error("EndRPC without an RPC = true, want false")
	}
}
