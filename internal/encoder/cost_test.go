package encoder

import (
	"bytes"
	"runtime"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// reused is a Sink that lends the same buffer again and again.
type reused struct{ buf []byte }

func (r *reused) Next(int) ([]byte, error) { return r.buf, nil }

// TestAllocations shows that a warm encoder allocates nothing, over 1,000 runs.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	m := structOf(join(id(1), number(kindBool, 2)), join(number(kindI32, 2), id(2)))
	for _, test := range []struct {
		name string
		wire []byte
	}{
		{"OneOfEach", fixture.Wire(fixture.OneOfEach())},
		{"1,000 structs", fixture.Wire(fixture.ListStruct(1000))},
		{"every kind", marshal(t, rich())},
		{"slow path", m},
	} {
		for _, p := range []Protocol{Compact, Binary} {
			var e Encoder
			o := &Options{Protocol: p, Limits: testLimits, Framed: true}
			out, err := e.Append(nil, test.wire, o)
			if err != nil {
				t.Fatal(err)
			}
			sink := &reused{make([]byte, 4096)}
			runs := func(n int) {
				for range n {
					if out, err = e.Append(out[:0], test.wire, o); err != nil {
						t.Fatal(err)
					}
					if _, err = e.Prepare(test.wire, o); err != nil {
						t.Fatal(err)
					}
					if _, _, err = e.WriteTo(sink, sink.buf, 0); err != nil {
						t.Fatal(err)
					}
					e.Release()
				}
			}
			runs(10)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			runs(1000)
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n > 200 { // of the runtime's own
				t.Errorf("%s, protocol %d: %d allocations in 1,000 runs", test.name, p, n)
			}
		}
	}
}

// TestSlowPathIsBounded shows that input which protobuf would blow up, 4 MiB of empty lists in need of merging, is refused
// before anything is built, and that what passes costs no more memory than its own size.
func TestSlowPathIsBounded(t *testing.T) { // not parallel: what is allocated is counted for the whole process
	bomb := join(submessage(kindList, bytes.Repeat([]byte{kindList<<3 | 2, 0}, 2<<20)), submessage(kindList))
	allocated := func(wire []byte, limits Limits) (uint64, error) {
		var e Encoder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := e.Prepare(wire, &Options{Limits: limits})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	if _, err := allocated(bomb, testLimits); reason(t, err) != fault.SizeLimit {
		t.Errorf("4 MiB of empty lists: %v, want SIZE_LIMIT", err)
	}
	run := join(submessage(kindList, bytes.Repeat(number(kindI64, 1), 2<<20)), submessage(kindList))
	if _, err := allocated(run, testLimits); reason(t, err) != fault.SizeLimit {
		t.Errorf("4 MiB of numbers that are not packed: %v, want SIZE_LIMIT", err)
	}
	padded := submessage(kindList, submessage(kindI64, bytes.Repeat([]byte{1}, 2<<20), []byte{0x80, 0}))
	if _, err := allocated(padded, testLimits); reason(t, err) != fault.SizeLimit {
		t.Errorf("2 MiB of numbers of which the last is too long: %v, want SIZE_LIMIT", err)
	}
	if _, err := allocated(submessage(kindList, submessage(kindI64, bytes.Repeat([]byte{1}, 2<<20)), submessage(kindI64, []byte{1})), testLimits); err != nil {
		t.Errorf("2 MiB of numbers in two runs: %v", err)
	}
	more := testLimits
	more.SlowNodes = 4 << 20
	if n, err := allocated(run, more); err != nil || !raceEnabled && n > 2*uint64(len(run)) {
		t.Errorf("4 MiB of numbers that are not packed: %d bytes allocated, %v", n, err)
	}
}

// TestScratchIsBounded shows that an encoder does not keep the memory of its largest value.
func TestScratchIsBounded(t *testing.T) {
	t.Parallel()
	var e Encoder
	run := join(submessage(kindList, bytes.Repeat(number(kindI64, 1), 1<<20)), submessage(kindList))
	limits := testLimits
	limits.SlowNodes = 2 << 20
	if _, err := e.Prepare(run, &Options{Limits: limits}); err != nil {
		t.Fatal(err)
	}
	e.Release()
	if kept := cap(e.normal.out); kept > keepBytes || e.in != nil || e.options != nil || e.normal.in != nil {
		t.Errorf("after Release: %d bytes are kept, input %t", kept, e.in != nil)
	}
	if len(bytes.Trim(e.short[:], "\x00")) != 0 || len(bytes.Trim(e.scratch[:], "\x00")) != 0 {
		t.Errorf("after Release: bytes of the value are kept")
	}
}

// TestAliasing shows until when the value is looked at: Append is done with it when it returns, and WriteTo reads it again.
func TestAliasing(t *testing.T) {
	t.Parallel()
	wire := marshal(t, thriftpackv1.StructValue(thriftpackv1.BinaryField(1, bytes.Repeat([]byte("a"), 2000))))
	var e Encoder
	got, err := e.Append(nil, wire, &Options{Limits: testLimits})
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(got)
	if _, err := e.Prepare(wire, &Options{Limits: testLimits}); err != nil {
		t.Fatal(err)
	}
	wire[1000] = 'b'
	if !bytes.Equal(got, want) {
		t.Errorf("the result of Append aliases the value")
	}
	if streamed, err := collect(&e, 512); err != nil || bytes.Count(streamed, []byte("b")) != 1 {
		t.Errorf("WriteTo does not read the value that was prepared: %v", err)
	}
}
