package decoder_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// nests are lists of many values, each of so many levels, and each level just larger than a window.
func nests(window, levels, many int) map[string]*thriftpackv1.Value {
	numbers := make([]int64, window/8)
	flags := make([]*thriftpackv1.Struct, window/16)
	for i := range numbers {
		numbers[i] = -1 << 63 // ten bytes
	}
	for i := range flags { // few bytes of Thrift, many of a Part
		flags[i] = thriftpackv1.StructOf(thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, true), thriftpackv1.BoolField(3, true))
	}
	repeat := func(core *thriftpackv1.List, wrap func(*thriftpackv1.List) *thriftpackv1.List) *thriftpackv1.Value {
		for range levels {
			core = wrap(core)
		}
		one := &thriftpackv1.List{Lists: []*thriftpackv1.List{core}}
		for len(one.GetLists()) < many {
			one.Lists = append(one.Lists, core)
		}
		return thriftpackv1.ListValue(one)
	}
	inList := func(l *thriftpackv1.List) *thriftpackv1.List { return thriftpackv1.ListList(l) }
	inSet := func(l *thriftpackv1.List) *thriftpackv1.List { return thriftpackv1.SetList(l) }
	second := func(l *thriftpackv1.List) *thriftpackv1.List { return thriftpackv1.ListList(thriftpackv1.I8List(1), l) }
	inStruct := func(l *thriftpackv1.List) *thriftpackv1.List {
		return thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.BoolField(1, true), thriftpackv1.ListField(2, l)))
	}
	inMap := func(l *thriftpackv1.List) *thriftpackv1.List {
		return thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.ListList(l)))
	}
	byKey := func(l *thriftpackv1.List) *thriftpackv1.List {
		key := thriftpackv1.I64List(numbers[:len(numbers)/2]...)
		return thriftpackv1.MapList(thriftpackv1.MapOf(thriftpackv1.ListList(key), thriftpackv1.ListList(l)))
	}
	core := thriftpackv1.I64List(numbers...)
	return map[string]*thriftpackv1.Value{
		"lists": repeat(core, inList), "sets": repeat(core, inSet), "structs": repeat(core, inStruct), "maps": repeat(core, inMap),
		"lists behind a small one": repeat(core, second), "maps with large keys": repeat(core, byKey),
		"lists of many values":   repeat(thriftpackv1.StructList(flags...), inList),
		"structs of many values": repeat(thriftpackv1.StructList(flags...), inStruct),
	}
}

// TestPartsLookAtBytesAFewTimes has nests whose levels are all just larger than a window, which is what it takes to have each level looked
// at in vain: what is looked at does not grow with the levels.
func TestPartsLookAtBytesAFewTimes(t *testing.T) {
	const window, levels, many = 1000, 28, 40
	var p decoder.Parts
	var d decoder.Decoder
	for name, value := range nests(window, levels, many) {
		for _, protocol := range protocols {
			data := thriftOf(t, value, encoder.Protocol(protocol))
			o := &decoder.Options{Protocol: protocol, Root: thriftpackv1.Type_TYPE_LIST, Limits: usual}
			got := push(t, &p, data, o, false, window, whole)
			if got.err != nil {
				t.Fatalf("%s: %v", name, got.err)
			}
			looked, most := p.Looked(), int64(3*len(data)+decoder.PatienceWindows*window)
			t.Logf("%s, protocol %d: %d bytes, %.2f times", name, protocol, len(data), float64(looked)/float64(len(data)))
			if looked > most {
				t.Errorf("%s, protocol %d: %d bytes of %d were looked at, want %d at most", name, protocol, looked, len(data), most)
			}
			if again := push(t, &p, data, o, false, window, randomly(rand.New(rand.NewPCG(1, 2)))); !same(got, again) {
				t.Errorf("%s, protocol %d: other parts when the input comes in pieces: %v", name, protocol, again.err)
			}
			if again, err := back(t, got, protocol, nil); err != nil || string(again) != string(data) {
				t.Errorf("%s, protocol %d: back to %d bytes, %v, want %d", name, protocol, len(again), err, len(data))
			}
			// A fault in a nest that was looked at with little patience is the one that Decoder finds.
			for n := len(data) - 1; n > 0; n = n * 9 / 10 {
				_, err := d.Prepare(data[:n], o)
				cut := push(t, &p, data[:n], o, false, window, whole)
				var f *fault.Error
				if !errors.As(cut.err, &f) || f.Reason != fault.Truncated || !sameVerdict(cut.err, err) {
					t.Errorf("%s, protocol %d, %d of %d bytes: %v, want %v", name, protocol, n, len(data), cut.err, err)
				}
			}
		}
	}
}
