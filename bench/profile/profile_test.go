package profile

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
)

// made is a profile of three samples: 60 ms in a leaf that is inlined into its caller, 30 ms in that caller, 10 ms in one that calls itself.
func made(kind string) *bytes.Buffer {
	function := func(id uint64, name string) *profile.Function { return &profile.Function{ID: id, Name: name} }
	leaf, caller := function(1, "example.com/a/b/encoder.(*Encoder).leaf"), function(2, ours+"encoder.Encode")
	again := function(3, "runtime.again[go.shape.a/b.T]")
	inlined := &profile.Location{ID: 1, Line: []profile.Line{{Function: leaf}, {Function: caller}}}
	plain := &profile.Location{ID: 2, Line: []profile.Line{{Function: caller}}}
	itself := &profile.Location{ID: 3, Line: []profile.Line{{Function: again}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: kind, Unit: "nanoseconds"}},
		Function:   []*profile.Function{leaf, caller, again}, Location: []*profile.Location{inlined, plain, itself},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{inlined}, Value: []int64{6, 60e6}},
			{Location: []*profile.Location{plain}, Value: []int64{3, 30e6}},
			{Location: []*profile.Location{itself, itself, plain}, Value: []int64{1, 10e6}},
		},
	}
	out := new(bytes.Buffer)
	if err := p.Write(out); err != nil {
		panic(err)
	}
	return out
}

func TestRead(t *testing.T) {
	s, err := Read(made("cpu"), "tp-cmp-write-small", 12)
	if err != nil {
		t.Fatal(err)
	}
	want := []Function{{"encoder.Encoder.leaf", 60, 60}, {"encoder.Encode", 30, 100}, {"runtime.again[...]", 10, 10}}
	if s.CPU != 100*time.Millisecond || len(s.Functions) != len(want) {
		t.Fatalf("got %+v, want 100 ms in %d functions", s, len(want))
	}
	for i := range want {
		if s.Functions[i] != want[i] {
			t.Errorf("function %d: got %+v, want %+v", i, s.Functions[i], want[i])
		}
	}
	if got, want := s.Shares(9), "encoder 90.0 %, runtime 10.0 %, thriftpack's own 30.0 %"; got != want {
		t.Errorf("shares %q, want %q", got, want)
	}
	if s, err = Read(made("cpu"), "x", 2); err != nil || len(s.Functions) != 2 {
		t.Errorf("got %+v, %v, want two functions", s, err)
	}
	var out strings.Builder
	if err := s.Write(&out); err != nil || !strings.Contains(out.String(), "x: 100ms of CPU time; by package: encoder 90.0 %, runtime 10.0 %, thriftpack's own 30.0 %\n   60.0 %   60.0 % with what it calls  encoder.Encoder.leaf\n") {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, in := range map[string]*bytes.Buffer{"no profile": bytes.NewBufferString("nothing"), "of the heap": made("space")} {
		if s, err := Read(in, name, 12); err == nil {
			t.Errorf("%s: got %+v, want an error", name, s)
		}
	}
	if _, err := ReadFile(t.TempDir()+"/none.pprof", 12); err == nil {
		t.Error("a file that is not there was read")
	}
}
