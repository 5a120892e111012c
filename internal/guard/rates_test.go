package guard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// taken makes requests of a caller and returns how many pass.
func taken(r *Rates, c Caller, requests int) (passed int) {
	for range requests {
		if r.Of(c).Take() == nil {
			passed++
		}
	}
	return passed
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRates(10, 5)
		billing := Caller{TokenCaller, "billing"}
		if got := taken(r, billing, 100); got != 5 {
			t.Errorf("%d of 100 at once, want the burst of 5", got)
		}
		if got := taken(r, Caller{CertificateCaller, "billing"}, 100); got != 5 {
			t.Errorf("%d of another caller of the same name, want 5", got)
		}
		time.Sleep(200 * time.Millisecond) //nolint:forbidigo // of the bubble
		if got := taken(r, billing, 100); got != 2 {
			t.Errorf("%d after 200 ms, want 2", got)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // as above
		if got := taken(r, billing, 100); got != 5 {
			t.Errorf("%d after an hour, want 5", got)
		}
		err := r.Of(billing).Take()
		if !errors.Is(err, fault.New(fault.RateLimited, "")) || !strings.Contains(err.Error(), "more than 10 requests in a second after a burst of 5") {
			t.Errorf("Take: %v", err)
		}
	})
}

func TestAddressesShareByNetwork(t *testing.T) {
	for _, test := range []struct {
		one, other string
		same       bool
	}{
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"10.0.0.1", "::ffff:10.0.0.1", true},
		{"2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
		{"2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"local", "local", true},
		{"local", "10.0.0.1", false},
	} {
		r := NewRates(1, 1)
		one, other := r.Of(Caller{AddressCaller, test.one}), r.Of(Caller{AddressCaller, test.other})
		if same := one == other; same != test.same {
			t.Errorf("%s and %s share a limit: %t, want %t", test.one, test.other, same, test.same)
		}
	}
}

// TestRatesForgetTheLongestSilent has more callers than are told apart.
func TestRatesForgetTheLongestSilent(t *testing.T) {
	r := NewRates(1, 1)
	faithful := r.Of(Caller{TokenCaller, "faithful"})
	for i := range 3 * MaxRateCallers {
		r.Of(Caller{AddressCaller, fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&0xFF, i&0xFF)})
		if r.Of(Caller{TokenCaller, "faithful"}) != faithful {
			t.Fatalf("forgotten after %d others, although it calls all the time", i)
		}
	}
	if got := r.Callers(); got > MaxRateCallers || got < MaxRateCallers*9/10 {
		t.Errorf("%d callers are known, want %d at the most", got, MaxRateCallers)
	}
}

func TestRatesAtOnce(t *testing.T) {
	r := NewRates(1, 1000)
	var mu sync.Mutex
	var wg sync.WaitGroup
	passed := 0
	for i := range 8 {
		wg.Go(func() {
			n := taken(r, Caller{TokenCaller, "all"}, 1000)
			taken(r, Caller{TokenCaller, strconv.Itoa(i)}, 1000)
			mu.Lock()
			defer mu.Unlock()
			passed += n
		})
	}
	wg.Wait()
	if passed < 1000 || passed > 1030 { // as many seconds as the test may take
		t.Errorf("%d of 8,000 passed, want the burst of 1,000", passed)
	}
}

func BenchmarkTake(b *testing.B) {
	r := NewRates(1<<30, 1<<30)
	b.ReportAllocs()
	for b.Loop() {
		if r.Of(Caller{AddressCaller, "10.0.0.1"}).Take() != nil {
			b.Fatal("limited")
		}
	}
}
