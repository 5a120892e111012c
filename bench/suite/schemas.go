package suite

import (
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// SchemaCost is what a step from IDL to types costs for one size of source.
type SchemaCost struct {
	// Step is what is done: parse, which links as well; compile, which parses first; or compare, with a revision in
	// which each struct has changed.
	Step string `json:"step"`
	// Size is how many bytes of IDL there are, of compare in each of the two.
	Size int `json:"size"`
	// MillisecondsPerRun is process CPU time, one entry a trial.
	MillisecondsPerRun []float64 `json:"milliseconds_per_run"`
	// ObjectsPerRun and BytesPerRun are what a run allocates.
	ObjectsPerRun float64 `json:"objects_per_run"`
	BytesPerRun   float64 `json:"bytes_per_run"`
}

// Median is the middle one of the trials.
func (c *SchemaCost) Median() float64 { return Median(c.MillisecondsPerRun) }

// Speed is how many million bytes of IDL a second takes.
func (c *SchemaCost) Speed() float64 { return float64(c.Size) / c.Median() / 1e3 }

// The steps of MeasureSchemas.
const (
	StepParse   = "parse"
	StepCompile = "compile"
	StepCompare = "compare"
)

// SourceOf makes IDL of at least that many bytes, such as people write: structs of all kinds of fields with comments, and enums,
// unions, typedefs, exceptions, constants and services between them. Two revisions differ in each struct.
func SourceOf(size, revision int) string {
	var b strings.Builder
	b.Grow(size + 2048)
	b.WriteString("// What hives tell of themselves.\nnamespace * bench\n\ntypedef i64 Time\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `
/** How the weather was at a hive, as far as anybody looked. */
enum Weather%[1]d {
  SUN = 1, CLOUD, RAIN = 10
}

const i32 FRAMES%[1]d = %[1]d

/**
 * What a keeper saw.
 */
struct Inspection%[1]d {
  1: required Time at                    // milliseconds since 1970
  2: required string inspector
  3: optional Weather%[1]d weather = Weather%[1]d.SUN
  4: optional list<Frame%[1]d> frames
  5: optional map<string, double> sensors
  6: optional set<string> tags
  7: i32 frameCount = FRAMES%[1]d
  8: list<i32> counts = [1, 2, 3]
  15: optional string remark%[2]d (go.tag = "json:\"remark\"")
  31: optional binary photo
}

struct Frame%[1]d { 1: i16 position; 2: double brood = 0.5; 3: bool queenSeen = true }

union Reading%[1]d { 1: bool flag 2: i32 number 3: string text 4: Inspection%[1]d whole }

exception Sting%[1]d { 1: string message }

service Keeper%[1]d {
  list<Inspection%[1]d> inspect(1: string hive, 2: Time since) throws (1: Sting%[1]d sting),
  oneway void smoke(1: string hive, 2: double seconds)
}
`, i, revision)
	}
	return b.String()
}

// wideLimits let sources of any size pass.
func wideLimits() schema.Limits {
	limits := schema.DefaultLimits()
	limits.Source.FileBytes, limits.Source.TotalBytes = math.MaxInt32, math.MaxInt32
	limits.Source.Definitions, limits.Source.ConstantBytes = math.MaxInt32, math.MaxInt32
	limits.PlanBytes = math.MaxInt64
	return limits
}

// root is the name of the only file.
const root = "bench.thrift"

// MeasureSchemas measures each step for each size, for at least runBytes of IDL a trial.
func MeasureSchemas(sizes []int, trials, runBytes int) iter.Seq2[SchemaCost, error] {
	return func(yield func(SchemaCost, error) bool) {
		for _, size := range sizes {
			old := map[string]string{root: SourceOf(size, 1)}
			updated := map[string]string{root: SourceOf(size, 2)}
			limits := wideLimits()
			one, err := schema.Compile("bench", old, root, limits)
			if err != nil {
				yield(SchemaCost{}, fmt.Errorf("schemas: %w", err))
				return
			}
			other, err := schema.Compile("bench", updated, root, limits)
			if err != nil {
				yield(SchemaCost{}, fmt.Errorf("schemas: %w", err))
				return
			}
			for _, step := range []struct {
				name string
				run  func() error
			}{
				{StepParse, func() error {
					_, _, err := idl.Parse(old, root, limits.Source)
					return err
				}},
				{StepCompile, func() error {
					_, err := schema.Compile("bench", old, root, limits)
					return err
				}},
				{StepCompare, func() error {
					if changes := schema.Compare(one, other); len(changes) == 0 {
						return fmt.Errorf("schemas: no change is found between two revisions of %d bytes", size)
					}
					return nil
				}},
			} {
				cost, err := measureSchema(step.name, len(old[root]), trials, max(runBytes/size, 1), step.run)
				if !yield(cost, err) || err != nil {
					return
				}
			}
		}
	}
}

// measureSchema measures one step.
func measureSchema(step string, size, trials, runs int, run func() error) (SchemaCost, error) {
	cost := SchemaCost{Step: step, Size: size}
	repeated := Contender{Run: func(runs int) error {
		for range runs {
			if err := run(); err != nil {
				return err
			}
		}
		return nil
	}}
	if err := repeated.Run(1); err != nil {
		return cost, err
	}
	for range trials {
		sample, err := measure(repeated, runs)
		if err != nil {
			return cost, err
		}
		cost.MillisecondsPerRun = append(cost.MillisecondsPerRun, float64(sample.CPU)/float64(runs)/1e6)
		cost.ObjectsPerRun = float64(sample.Objects) / float64(runs)
		cost.BytesPerRun = float64(sample.Bytes) / float64(runs)
	}
	return cost, nil
}
