package suite

import (
	"slices"
	"testing"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// Each step runs, and the two revisions differ in what they are meant to.
func TestSchemas(t *testing.T) {
	var steps []string
	for cost, err := range MeasureSchemas([]int{10_000}, 3, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if len(cost.MillisecondsPerRun) != 3 || cost.Median() <= 0 || cost.Size < 10_000 || cost.Size > 12_000 {
			t.Errorf("%+v", cost)
		}
		steps = append(steps, cost.Step)
	}
	if want := []string{StepParse, StepCompile, StepCompare}; !slices.Equal(steps, want) {
		t.Errorf("steps %v, want %v", steps, want)
	}
	compiled := make([]*schema.Schema, 2)
	for i := range compiled {
		var err error
		if compiled[i], err = schema.Compile("bench", map[string]string{root: SourceOf(10_000, i)}, root, wideLimits()); err != nil {
			t.Fatal(err)
		}
		if len(compiled[i].Warnings) > 0 {
			t.Errorf("warnings: %v", compiled[i].Warnings)
		}
	}
	for _, change := range schema.Compare(compiled[0], compiled[1]) {
		if change.Rule != schema.FieldRenamed {
			t.Errorf("%+v", change)
		}
	}
}
