package idl_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/schema/idl"
)

// generate returns IDL of about so many bytes that looks as people write it.
func generate(size int) string {
	var b strings.Builder
	b.WriteString("// generated\nnamespace go generated\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `
/** What item %[1]d is, in a few words. */
enum Kind%[1]d {
  NONE = 0,
  SOME,
  ALL = 0x10 (note = "all of them"),
}

struct Item%[1]d {
  1: required i64 id            // its number
  2: optional string name = "item %[1]d" (go.tag = "name"),
  3: list<map<string, i32>> counts = [{"a": 1}, {}],
  4: Kind%[1]d kind = Kind%[1]d.SOME;
  5: optional Item%[1]d next
}

const list<i32> NUMBERS_%[1]d = [1, 2, 3]

service Items%[1]d {
  Item%[1]d find(1: i64 id, 2: set<string> names)
  oneway void forget(1: i64 id)
}
`, i)
	}
	return b.String()
}

// BenchmarkParse reads generated sources of 1 MB and of 4 MB: the second should take four times the first. On machines that
// do other things as well, cpu-ms/op is the number to look at.
func BenchmarkParse(b *testing.B) {
	for _, size := range []int{1_000_000, 4_000_000} {
		b.Run(fmt.Sprintf("%dMB", size/1_000_000), func(b *testing.B) {
			limits := idl.DefaultLimits()
			for _, bound := range []*int{&limits.FileBytes, &limits.TotalBytes, &limits.Definitions, &limits.Types, &limits.ConstantBytes} {
				*bound *= 16
			}
			files := map[string]string{"main.thrift": generate(size)}
			b.SetBytes(int64(len(files["main.thrift"])))
			b.ReportAllocs()
			start := processorTime(b)
			for b.Loop() {
				if _, _, err := idl.Parse(files, "main.thrift", limits); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// processorTime returns the time that processors have spent for this process, the garbage collector included.
func processorTime(b testing.TB) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
