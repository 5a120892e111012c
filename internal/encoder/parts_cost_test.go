package encoder

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fixture"
)

// everyPart has a part of each form, also such as are merged and normalised.
func everyPart(t testing.TB) [][]byte {
	t.Helper()
	c := cutter{choose: func(int) int { return 0 }} // opens whatever can be opened
	c.root(rich())
	c.root(thriftpackv1.StringValue(strings.Repeat("é", 1000)))
	parts := c.wire(t)
	for _, v := range []*thriftpackv1.Value{fixture.OneOfEach(), fixture.ListI64(1000), fixture.ListString(100, 20), fixture.MapStringI64(100)} {
		whole := cutter{choose: func(n int) int { return n - 1 }}
		whole.opened(beginOf(v), v)
		parts = append(parts, whole.wire(t)...)
	}
	return append(
		parts, marshal(t, openStruct()),
		submessage(partFields, submessage(1, number(kindBool, 2)), submessage(1, number(kindI32, 1), id(1), id(2))),
		join(submessage(partData, []byte("gone")), submessage(partFields, submessage(1, number(kindBool, 0))), submessage(partFields, submessage(1, number(kindBool, 1)))),
		submessage(partBegin, number(beginType, kindMap), number(beginKeyType, kindString), number(beginElementType, kindStruct), number(beginSize, 1)),
		submessage(partBegin, number(beginType, kindStruct), submessage(beginKey, text(kindString, "gone")), submessage(beginKey, text(kindString, "key"))),
		marshal(t, endPart()), marshal(t, endPart()), marshal(t, endPart()),
	)
}

// TestPartsAllocations shows that a warm encoder of parts allocates nothing, over 1,000 streams.
func TestPartsAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	parts := everyPart(t)
	for _, protocol := range []Protocol{Compact, Binary} {
		var p Parts
		o := &Options{Protocol: protocol, Limits: testLimits}
		sink := &reused{make([]byte, 4096)}
		runs := func(n int) {
			for range n {
				if err := p.Start(o, sink); err != nil {
					t.Fatal(err)
				}
				for i, part := range parts {
					if err := p.Write(part); err != nil {
						t.Fatalf("part %d, %x: %v", i, part, err)
					}
				}
				if _, _, err := p.Finish(); err != nil {
					t.Fatal(err)
				}
				p.Reset()
			}
		}
		runs(10)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runs(1000)
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 200 { // of the runtime's own
			t.Errorf("protocol %d: %d allocations in 1,000 streams of %d parts", protocol, n, len(parts))
		}
	}
}

// TestPartsMemory shows that memory follows the depth and nothing else: neither what is declared nor how much has come.
func TestPartsMemory(t *testing.T) { // not parallel: what is allocated is counted for the whole process
	var p Parts
	sink := &reused{make([]byte, 4096)}
	limits := testLimits
	limits.Depth = math.MaxInt
	start := func() {
		if err := p.Start(&Options{Limits: limits}, sink); err != nil {
			t.Fatal(err)
		}
	}
	allocated := func(parts [][]byte, n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			for _, part := range parts {
				if err := p.Write(part); err != nil {
					t.Fatal(err)
				}
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	// What the runtime allocates for itself meanwhile, on a busy machine more, is nothing beside what is declared or comes.
	const most = 64 << 10
	start()
	huge := partsWire(t, openMap(tI8, tList, math.MaxInt32), beginPart(&thriftpackv1.Begin{Type: tList, Key: thriftpackv1.I8Value(1), ElementType: tBinary, Size: math.MaxInt32}), openText(tBinary, math.MaxInt32))
	if n := allocated(huge, 1); n > most {
		t.Errorf("opening three times 2^31-1 elements allocates %d bytes", n)
	}
	piece := partsWire(t, dataPart(make([]byte, 64<<10)))
	if n := allocated(piece, 4000); n > most && !raceEnabled {
		t.Errorf("250 MiB of data allocate %d bytes", n)
	}
	if want := int64(4000 * 64 << 10); p.Written() < want || p.Written() > want+100 {
		t.Errorf("Written() = %d, want a little more than %d", p.Written(), want)
	}
	start()
	column := partsWire(t, openList(tI64, 1000), elementsPart(fixture.ListI64(1000).GetList()), endPart())
	allocated(column, 1)
	if n := allocated(column, 1000); n > most && !raceEnabled {
		t.Errorf("1,000 columns allocate %d bytes", n)
	}
	start()
	n := allocated(partsWire(t, openStruct()), MaxDepth)
	if most := uint64(5*MaxDepth*unsafe.Sizeof(opened{})) + most; n > most {
		t.Errorf("%d open structs allocate %d bytes, want at most %d", MaxDepth, n, most)
	}
	if err := p.Write(marshal(t, openStruct())); err == nil {
		t.Errorf("%d structs were opened", MaxDepth+1)
	}
	p.Reset()
	if cap(p.open) > keepItems {
		t.Errorf("after Reset the room for %d open structs is kept", cap(p.open))
	}
}

// TestPartsScratchIsBounded shows that Reset keeps no memory of a large part, and no bytes of any.
func TestPartsScratchIsBounded(t *testing.T) {
	t.Parallel()
	var p Parts
	o := &Options{Limits: testLimits}
	o.Limits.SlowNodes = 1 << 20
	if err := p.Start(o, &reused{make([]byte, 4096)}); err != nil {
		t.Fatal(err)
	}
	numbers := submessage(partElements, bytes.Repeat(number(kindI64, 1), 100_000))
	for _, part := range [][]byte{
		marshal(t, openList(tI64, 200_001)), numbers, join(numbers, submessage(partElements)), submessage(partElements, number(kindI64, 88)),
	} {
		if err := p.Write(part); err != nil {
			t.Fatal(err)
		}
		if p.e.in != nil || p.e.options != nil || p.e.normal.in != nil {
			t.Errorf("a part is still referred to after Write")
		}
	}
	p.Reset()
	for name, b := range map[string][]byte{"joined": p.joined, "value": p.value, "normal": p.e.normal.out, "short": p.e.short[:], "scratch": p.e.scratch[:]} {
		if cap(b) > keepBytes || len(bytes.Trim(b[:cap(b)], "\x00")) > 0 {
			t.Errorf("after Reset, %s keeps %d bytes, cleared: %t", name, cap(b), len(bytes.Trim(b[:cap(b)], "\x00")) == 0)
		}
	}
	if p.e.out != nil || p.e.sink != nil || p.detour.sink != nil || p.detour.room != nil {
		t.Errorf("after Reset, the sink or its buffer is still referred to")
	}
}

// TestPartsAliasing shows that a part may change after Write.
func TestPartsAliasing(t *testing.T) {
	t.Parallel()
	parts := everyPart(t)
	want, err := encodeParts(t, &Options{Limits: testLimits}, 4096, parts...)
	if err != nil {
		t.Fatal(err)
	}
	var p Parts
	sink := collector{size: 4096}
	if err := p.Start(&Options{Limits: testLimits}, &sink); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		same := bytes.Clone(part)
		if err := p.Write(part); err != nil || !bytes.Equal(part, same) {
			t.Fatalf("Write(%x): %v, now it is %x", same, err, part)
		}
		for i := range part {
			part[i] ^= 0xff
		}
	}
	_, filled, err := p.Finish()
	sink.take(filled)
	if err != nil || !bytes.Equal(sink.all, want) {
		t.Errorf("parts that change after Write: %v, equal %t", err, bytes.Equal(sink.all, want))
	}
}

// TestPartsSlowPath shows which parts take it, and that what was written before it was found is not written twice, however
// many buffers that took.
func TestPartsSlowPath(t *testing.T) {
	t.Parallel()
	field := func(number int64, member ...[]byte) []byte { return submessage(1, id(number), join(member...)) }
	long := func(n int) []byte { return text(kindString, strings.Repeat("x", n)) }
	for _, before := range []int{0, 1, 100, 480, 505, 511, 512, 513, 1024, 5000} {
		first, last := field(1, long(before)), field(3, long(700))
		merged := submessage(partFields, first, field(2, number(kindI32, 2), number(kindI32, 4)), last)
		plain := submessage(partFields, first, field(2, number(kindI32, 4)), last)
		keyed := func(key []byte) [][]byte {
			return [][]byte{marshal(t, openMap(tStruct, tStruct, 1)), submessage(partBegin, number(beginType, kindStruct), submessage(beginKey, key)), marshal(t, endPart()), marshal(t, endPart())}
		}
		in := func(part []byte) [][]byte { return [][]byte{marshal(t, openStruct()), part, marshal(t, endPart())} }
		for name, ways := range map[string][2][][]byte{
			"fields": {in(merged), in(plain)},
			"key": {
				keyed(structOf(join(id(1), long(before)), join(number(kindBool, 2)), join(id(9), long(9)))),
				keyed(structOf(join(id(1), long(before)), join(number(kindBool, 1)), join(id(9), long(9)))),
			},
		} {
			var slow, fast partsRun
			got, err := slow.run(&Options{Limits: testLimits}, minBuffer, ways[0]...)
			want, wantErr := fast.run(&Options{Limits: testLimits}, minBuffer, ways[1]...)
			if err != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Errorf("%s after %d bytes: %x, %v, want %x, %v", name, before, got, err, want, wantErr)
			}
		}
	}
	for _, test := range []struct {
		name string
		part []byte
		slow bool
	}{
		{"what Go writes", marshal(t, elementsPart(thriftpackv1.I32List(1, 2, 3))), false},
		{"element_type behind the column", submessage(partElements, text(kindI32, "\x02"), number(1, kindI32)), false},
		{"a run in two parts", submessage(partElements, text(kindI32, "\x02"), text(kindI32, "\x04")), true},
		{"length longer than needed", unhex(t, "1a 8300 2a 01 02"), true},
		{"tag longer than needed", unhex(t, "9a00 03 2a 01 02"), true},
		{"member after another", join(submessage(partEnd), submessage(partElements, text(kindI32, "\x02"))), true},
		{"member twice", join(submessage(partElements, text(kindI32, "\x02")), submessage(partElements, text(kindI32, "\x02"))), true},
	} {
		var p Parts
		if err := p.Start(&Options{Limits: testLimits}, &reused{make([]byte, 4096)}); err != nil {
			t.Fatal(err)
		}
		for _, part := range [][]byte{marshal(t, openList(tI32, 9)), test.part} {
			if err := p.Write(part); err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if p.SlowPath() != test.slow {
			t.Errorf("%s: SlowPath() = %t", test.name, p.SlowPath())
		}
	}
}
