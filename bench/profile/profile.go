// Package profile sums profiles of CPU time up: which functions took how much of it. The profiles are those of runtime/pprof, so
// `go tool pprof` shows the rest.
package profile

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// Extension ends the names of files of profiles.
const Extension = ".pprof"

// Summary is where the CPU time of a profile went.
type Summary struct {
	// Name is what was profiled.
	Name string `json:"name"`
	// CPU is all of its time.
	CPU time.Duration `json:"cpu"`
	// Functions are those with the most time of their own, the first one most.
	Functions []Function `json:"functions"`
}

// Function is one of them, after inlining was undone.
type Function struct {
	// Name is package.Function or package.Type.Method.
	Name string `json:"name"`
	// Percent is the share of the CPU time that it took itself, and Under that of it and all that it called.
	Percent float64 `json:"percent"`
	Under   float64 `json:"under"`
}

// Read sums up a profile of CPU time: the functions that took most of it by themselves, at most so many.
func Read(in io.Reader, name string, most int) (*Summary, error) {
	p, err := profile.Parse(in)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", name, err)
	}
	value := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == "cpu" && t.Unit == "nanoseconds" })
	if value < 0 {
		return nil, fmt.Errorf("profile %s: it is none of CPU time", name)
	}
	total, own, under := int64(0), make(map[string]int64), make(map[string]int64)
	for _, sample := range p.Sample {
		spent, leaf, seen := sample.Value[value], true, make(map[string]bool)
		total += spent
		for _, location := range sample.Location {
			for _, line := range location.Line { // the innermost first
				if line.Function == nil {
					continue
				}
				function := short(line.Function.Name)
				if leaf {
					own[function] += spent
					leaf = false
				}
				if !seen[function] { // one that calls itself
					under[function] += spent
					seen[function] = true
				}
			}
		}
	}
	if total == 0 {
		return nil, fmt.Errorf("profile %s: no samples", name)
	}
	s := &Summary{Name: name, CPU: time.Duration(total)}
	percent := func(n int64) float64 { return float64(n) * 100 / float64(total) }
	for function, spent := range own {
		s.Functions = append(s.Functions, Function{function, percent(spent), percent(under[function])})
	}
	slices.SortFunc(s.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Name, b.Name))
	})
	s.Functions = s.Functions[:min(most, len(s.Functions))]
	return s, nil
}

// ReadFile sums up the profile in a file, which is named after the file.
func ReadFile(path string, most int) (*Summary, error) {
	file, err := os.Open(path) //nolint:gosec // whoever calls names it
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	return Read(file, strings.TrimSuffix(filepath.Base(path), Extension), most)
}

// Write prints the summary as a table.
func (s *Summary) Write(out io.Writer) error {
	text := new(strings.Builder)
	fmt.Fprintf(text, "%s: %s of CPU time\n", s.Name, s.CPU.Round(time.Millisecond))
	for _, f := range s.Functions {
		fmt.Fprintf(text, "  %5.1f %%  %5.1f %% with what it calls  %s\n", f.Percent, f.Under, f.Name)
	}
	_, err := io.WriteString(out, text.String()+"\n")
	return err
}

// short leaves the path of the package and the star of the receiver out of a function's name.
func short(name string) string {
	if bracket := strings.IndexByte(name, '['); bracket >= 0 { // type arguments have paths of their own
		return short(name[:bracket]) + name[bracket:]
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	return strings.NewReplacer("(*", "", ")", "").Replace(name)
}
