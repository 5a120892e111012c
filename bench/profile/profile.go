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
	// Packages are the shares of whole packages, the first one most: of the time that their functions took themselves, which is all of
	// Percent and Under.
	Packages []Function `json:"packages"`
	// Ours is the share of what this module's own packages took themselves, in percent.
	Ours float64 `json:"ours"`
}

// ours begins the names of this module's functions, apart from those of the benchmarks.
const ours = "github.com/thriftpack/thriftpack/internal/"

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
	packages, mine := make(map[string]int64), int64(0)
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
					packages[packageOf(line.Function.Name)] += spent
					if leaf = false; strings.HasPrefix(line.Function.Name, ours) {
						mine += spent
					}
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
	percent := func(n int64) float64 { return float64(n) * 100 / float64(total) }
	return &Summary{
		Name: name, CPU: time.Duration(total), Functions: ranked(own, under, most, percent), Packages: ranked(packages, packages, most, percent),
		Ours: percent(mine),
	}, nil
}

// ranked are those that took most themselves, at most so many.
func ranked(own, under map[string]int64, most int, percent func(int64) float64) []Function {
	all := make([]Function, 0, len(own))
	for name, spent := range own {
		all = append(all, Function{name, percent(spent), percent(under[name])})
	}
	slices.SortFunc(all, func(a, b Function) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Name, b.Name)) })
	return all[:min(most, len(all))]
}

// Shares are the packages in one line, at most so many, and the share of this module's.
func (s *Summary) Shares(most int) string {
	text := new(strings.Builder)
	for i := range s.Packages[:min(most, len(s.Packages))] {
		fmt.Fprintf(text, "%s %.1f %%, ", s.Packages[i].Name, s.Packages[i].Percent)
	}
	fmt.Fprintf(text, "thriftpack's own %.1f %%", s.Ours)
	return text.String()
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

// most is how many packages are printed.
const most = 8

// Write prints the summary as a table.
func (s *Summary) Write(out io.Writer) error {
	text := new(strings.Builder)
	fmt.Fprintf(text, "%s: %s of CPU time; by package: %s\n", s.Name, s.CPU.Round(time.Millisecond), s.Shares(most))
	for _, f := range s.Functions {
		fmt.Fprintf(text, "  %5.1f %%  %5.1f %% with what it calls  %s\n", f.Percent, f.Under, f.Name)
	}
	_, err := io.WriteString(out, text.String()+"\n")
	return err
}

// short leaves the path of the package, the star of the receiver and type arguments out of a function's name.
func short(name string) string {
	name, _, generic := strings.Cut(name, "[") // type arguments have paths of their own
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	if generic {
		name += "[...]"
	}
	return name
}

// packageOf is the last part of the path of a function's package.
func packageOf(name string) string {
	name, _, _ = strings.Cut(short(name), ".")
	return name
}
