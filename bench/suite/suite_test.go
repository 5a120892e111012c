package suite

import (
	"testing"
)

// Every contender of every scenario works. The bulk scenarios run once, which takes a while, so -short leaves them out.
func TestContenders(t *testing.T) {
	for scenario, err := range All(func(name string) bool {
		return !testing.Short() || name == "cmp/write/small" || name == "cmp/read/small"
	}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, contender := range scenario.Contenders {
			if err := contender.Run(1); err != nil {
				t.Errorf("%s: %s: %v", scenario.Name, contender.Name, err)
			}
		}
	}
}

func Benchmark(b *testing.B) {
	for scenario, err := range All(func(string) bool { return true }) {
		if err != nil {
			b.Fatal(err)
		}
		for _, contender := range scenario.Contenders {
			b.Run(scenario.Name+"/"+contender.Name, func(b *testing.B) {
				b.SetBytes(int64(scenario.Bytes))
				b.ReportAllocs()
				if err := contender.Run(b.N); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
