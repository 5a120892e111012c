package suite

import (
	"slices"
	"strings"
	"testing"
)

// Every contender of every scenario works. The bulk scenarios run once, which takes a while, so -short leaves them out.
func TestContenders(t *testing.T) {
	var peer *CPP
	keep := Select(nil)
	if !testing.Short() { // compiling C++ takes half a minute
		var err error
		if peer, err = StartCPP(t.Context()); err == nil {
			t.Cleanup(peer.Close)
		} else if !IsMissing(err) {
			t.Fatal(err)
		}
	} else {
		keep = func(id string) bool {
			return strings.HasSuffix(id, "-cmp-write-small") || strings.HasSuffix(id, "-cmp-read-small")
		}
	}
	groups := 0
	for g, err := range Groups(keep, peer) {
		if err != nil {
			t.Fatal(err)
		}
		groups++
		for _, contender := range g.Contenders {
			if err := contender.Do(1); err != nil {
				t.Errorf("%s: %v", g.ID(contender.Family), err)
			}
			if !slices.Contains(IDs(), g.ID(contender.Family)) {
				t.Errorf("%s is not among the ids", g.ID(contender.Family))
			}
		}
		for _, goal := range g.Goals {
			for _, family := range []string{goal.Ours, goal.Peer} {
				found := slices.ContainsFunc(g.Contenders, func(c Contender) bool { return c.Family == family })
				if !found && family != cpp {
					t.Errorf("%s: a goal names %s, which is not there", g.Name, family)
				}
			}
		}
	}
	if groups == 0 {
		t.Error("no group was built")
	}
}

func TestMeasure(t *testing.T) {
	calls := make(map[string]int)
	contender := func(family string) Contender {
		return Contender{Family: family, Run: func(runs int) error { calls[family] += runs; return nil }}
	}
	g := &Group{Name: "cmp-write-small", Bytes: 49, Contenders: []Contender{contender("a"), contender("b")}}
	measurements, err := Measure(g, 3, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range measurements {
		if len(m.NanosecondsPerRun) != 3 || m.Runs != 100 || m.Scenario != m.Family+"-cmp-write-small" {
			t.Errorf("measured %+v, want three trials of 100 runs", m)
		}
		// One warm-up of a whole trial that is not counted, and a twentieth before each.
		if want := 100 + 3*(5+100); calls[m.Family] != want {
			t.Errorf("%s ran %d times, want %d", m.Family, calls[m.Family], want)
		}
	}
}

func TestParseSelect(t *testing.T) {
	tests := []struct {
		text, id string
		want     bool
	}{
		{"tp-cmp-write-small", "tp-cmp-write-small", true},
		{"tp-cmp-write-small", "tpw-cmp-write-small", false},
		{"tp-cmp-write-small,apache-*", "apache-bin-read-large", true},
		{"*-write-small", "cpp-bin-write-small", true},
		{"*-write-small", "cpp-bin-read-small", false},
		{"tp*-cmp-*-list_i64", "tpw-cmp-write-list_i64", true},
		{"*", "memcpy-cmp-read-large", true},
	}
	for _, test := range tests {
		keep, err := ParseSelect(test.text)
		if err != nil {
			t.Errorf("ParseSelect(%q): %v", test.text, err)
			continue
		}
		if got := keep(test.id); got != test.want {
			t.Errorf("ParseSelect(%q)(%q) = %v, want %v", test.text, test.id, got, test.want)
		}
	}
	for _, text := range []string{"tp-cmp-write", "tp-cmp-write-tiny", "tp-cmp-write-small,,"} {
		if _, err := ParseSelect(text); err == nil {
			t.Errorf("ParseSelect(%q) succeeded, want an error", text)
		}
	}
	for _, text := range []string{"", "all"} {
		if keep, err := ParseSelect(text); keep != nil || err != nil {
			t.Errorf("ParseSelect(%q) is not everything: %v", text, err)
		}
	}
}

// The figures that THRIFT-6153 is about. All three write the same bytes, or MeasureChange fails.
func TestChange(t *testing.T) {
	changes, err := MeasureChange(small, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{onePerByte: 28, onePerVarint: 19}
	for _, c := range changes {
		if n, found := want[c.Family]; found && c.WritesPerRun != n {
			t.Errorf("%s: %d writes, want %d", c.Family, c.WritesPerRun, n)
		}
		if c.Family == writerAny && c.WritesPerRun > 19 {
			t.Errorf("%s: %d writes, want at most 19", c.Family, c.WritesPerRun)
		}
		if c.ObjectsPerRun >= 0.5 {
			t.Errorf("%s: %.2f objects a run, want none", c.Family, c.ObjectsPerRun)
		}
	}
}

func TestGrowth(t *testing.T) {
	sizes := make(map[string][]int64)
	for g, err := range MeasureGrowth(64<<10, 256<<10, 4, 1, 1) {
		if err != nil {
			t.Fatal(err)
		}
		sizes[g.Payload] = append(sizes[g.Payload], g.Size)
	}
	for _, payload := range growing {
		got := sizes[payload.name]
		if len(got) != 2 || got[0] < 32<<10 || got[1] < 3*got[0] {
			t.Errorf("%s: sizes %v, want two, four times apart", payload.name, got)
		}
	}
}

// Each group is built when one of its contenders runs: -bench '/^cmp-write-small$/^tp$'.
func Benchmark(b *testing.B) {
	for _, protocol := range []string{"cmp", "bin"} {
		for _, operation := range []string{"write", "read"} {
			for _, s := range sources() {
				b.Run(s.group(protocol, operation), func(b *testing.B) {
					g, err := s.build(protocol, operation, nil, nil)
					if err != nil {
						b.Fatal(err)
					}
					for _, contender := range g.Contenders {
						b.Run(contender.Family, func(b *testing.B) {
							b.SetBytes(int64(g.Bytes))
							b.ReportAllocs()
							if err := contender.Run(b.N); err != nil {
								b.Fatal(err)
							}
						})
					}
				})
			}
		}
	}
}
