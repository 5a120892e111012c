package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		want bool
	}{
		{"a", true},
		{"a.b_c-9", true},
		{"...", true},
		{strings.Repeat("a", 64), true},
		{strings.Repeat("a", 65), false},
		{"", false},
		{".", false},
		{"..", false},
		{"A", false},
		{"a/b", false},
		{"a@b", false},
		{"a\n", false},
		{"ä", false},
	} {
		if got := ValidName(tt.name); got != tt.want {
			t.Errorf("ValidName(%q) = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// revisionOf returns a revision with an id of one digit repeated.
func revisionOf(digit string) Revision {
	return Revision{ID: strings.Repeat(digit, 16), Root: "a.thrift", Created: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// recordOf returns a record of revisions with such ids.
func newRecord(digits ...string) Record {
	record := Record{Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_FULL}
	for _, digit := range digits {
		record.Revisions = append(record.Revisions, revisionOf(digit))
	}
	return record
}

func TestRecordText(t *testing.T) {
	record := newRecord("a", "b")
	text, err := encodeRecord(&record)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"compatibility":"COMPATIBILITY_FULL","revisions":[` +
		`{"revision":"aaaaaaaaaaaaaaaa","root":"a.thrift","created":"2030-01-02T03:04:05Z"},` +
		`{"revision":"bbbbbbbbbbbbbbbb","root":"a.thrift","created":"2030-01-02T03:04:05Z"}]}`
	if string(text) != want {
		t.Errorf("encodeRecord: %s, want %s", text, want)
	}
	got, err := decodeRecord(text, 7)
	record.Version = 7
	if diff := cmp.Diff(record, got); err != nil || diff != "" {
		t.Errorf("decodeRecord: %v, -want +got:\n%s", err, diff)
	}
	for _, bad := range []string{
		"", "{}", "[]", "null", strings.ReplaceAll(want, "FULL", "MOST"), strings.ReplaceAll(want, "FULL", "UNSPECIFIED"),
		strings.ReplaceAll(want, "bbbb", "BBBB"), strings.ReplaceAll(want, "bbbb", "../."), `{"compatibility":"COMPATIBILITY_FULL","revisions":[]}`,
	} {
		if got, err := decodeRecord([]byte(bad), 1); err == nil {
			t.Errorf("decodeRecord(%s) = %v, want an error", bad, got)
		}
	}
}

// told is a follower that keeps what it is told.
type told struct {
	mu        sync.Mutex
	records   map[string]Record
	version   int64
	reachable bool
	began     chan struct{}
}

// follow has a store tell, until the test ends.
func follow(t *testing.T, s interface {
	Follow(ctx context.Context, follower Follower)
},
) *told {
	t.Helper()
	f := &told{began: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Follow(ctx, Follower{
			Reset: func(records map[string]Record, version int64) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.records, f.version = records, version
			},
			Changed: func(name string, record Record) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.version = record.Version; record.Exists() {
					f.records[name] = record
				} else {
					delete(f.records, name)
				}
			},
			Reachable: func(yes bool) {
				f.mu.Lock()
				defer f.mu.Unlock()
				if f.reachable = yes; yes {
					close(f.began)
				}
			},
		})
	}()
	t.Cleanup(func() { cancel(); <-ended })
	select {
	case <-f.began:
	case <-ended:
		t.Fatal("Follow ended before it began")
	}
	return f
}

// want fails unless the follower was told of this.
func (f *told) want(t *testing.T, want map[string]Record) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if diff := cmp.Diff(want, f.records); diff != "" {
		t.Errorf("told of other records, -want +got:\n%s", diff)
	}
}

// mustSwap swaps, and fails unless that is done.
func mustSwap(t *testing.T, f *File, name string, from, to Record, put *Sources) Record {
	t.Helper()
	current, swapped, err := f.Swap(t.Context(), name, from, to, put)
	if err != nil || !swapped {
		t.Fatalf("Swap %s: swapped %v, %v", name, swapped, err)
	}
	to.Version = current.Version
	if diff := cmp.Diff(to, current); diff != "" {
		t.Errorf("Swap %s: the record, -want +got:\n%s", name, diff)
	}
	return current
}

// wantUnavailable fails unless err says that the store is away, in these words.
func wantUnavailable(t *testing.T, err error, words string) {
	t.Helper()
	if !errors.Is(err, fault.New(fault.SchemaStoreUnavailable, "")) || !strings.Contains(err.Error(), words) {
		t.Errorf("error: %v, want one that the store is away: %s", err, words)
	}
}

var quiet = slog.New(slog.DiscardHandler)
