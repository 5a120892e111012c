package encoder

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// The types, as Begin names them in the tables below.
const (
	tBool, tI8, tI16, tI32, tI64      = thriftpackv1.Type_TYPE_BOOL, thriftpackv1.Type_TYPE_I8, thriftpackv1.Type_TYPE_I16, thriftpackv1.Type_TYPE_I32, thriftpackv1.Type_TYPE_I64
	tDouble, tBinary, tString, tUUID  = thriftpackv1.Type_TYPE_DOUBLE, thriftpackv1.Type_TYPE_BINARY, thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_UUID
	tList, tSet, tMap, tStruct, tNone = thriftpackv1.Type_TYPE_LIST, thriftpackv1.Type_TYPE_SET, thriftpackv1.Type_TYPE_MAP, thriftpackv1.Type_TYPE_STRUCT, thriftpackv1.Type_TYPE_UNSPECIFIED
)

func openStruct() *thriftpackv1.Part { return beginPart(&thriftpackv1.Begin{Type: tStruct}) }

func openText(t thriftpackv1.Type, size int64) *thriftpackv1.Part {
	return beginPart(&thriftpackv1.Begin{Type: t, Size: size})
}

func openList(element thriftpackv1.Type, size int64) *thriftpackv1.Part {
	return beginPart(&thriftpackv1.Begin{Type: tList, ElementType: element, Size: size})
}

func openMap(key, value thriftpackv1.Type, size int64) *thriftpackv1.Part {
	return beginPart(&thriftpackv1.Begin{Type: tMap, KeyType: key, ElementType: value, Size: size})
}

// TestPartsBytes pins the bytes of every step.
func TestPartsBytes(t *testing.T) {
	t.Parallel()
	data := func(s string) *thriftpackv1.Part { return dataPart([]byte(s)) }
	tests := []struct {
		name            string
		parts           []*thriftpackv1.Part
		compact, binary string
	}{
		{"empty struct", []*thriftpackv1.Part{openStruct(), endPart()}, "00", "00"},
		{"size of a struct is ignored", []*thriftpackv1.Part{beginPart(&thriftpackv1.Begin{Type: tStruct, Size: -5}), endPart()}, "00", "00"},
		{
			"fields in two parts, ids go on",
			[]*thriftpackv1.Part{openStruct(), fieldsPart(thriftpackv1.I32Field(1, 5), thriftpackv1.BoolField(2, true)), fieldsPart(thriftpackv1.I32Field(3, -1)), endPart()},
			"15 0a 11 15 01 00", "08 0001 00000005  02 0002 01  08 0003 ffffffff  00",
		},
		{
			"list in a struct",
			[]*thriftpackv1.Part{
				openStruct(), fieldsPart(thriftpackv1.I32Field(1, 5)), beginPart(&thriftpackv1.Begin{Type: tList, FieldId: 2, ElementType: tI64, Size: 3}),
				elementsPart(thriftpackv1.I64List(1, 2)), elementsPart(thriftpackv1.I64List(3)), endPart(), fieldsPart(thriftpackv1.BoolField(3, true)), endPart(),
			},
			"15 0a 19 36 02 04 06 11 00", "08 0001 00000005  0f 0002 0a 00000003 0000000000000001 0000000000000002 0000000000000003  02 0003 01  00",
		},
		{
			"the base of ids comes back after a struct",
			[]*thriftpackv1.Part{
				openStruct(), beginPart(&thriftpackv1.Begin{Type: tStruct, FieldId: 5}), fieldsPart(thriftpackv1.I8Field(9, 1)), endPart(), fieldsPart(thriftpackv1.I8Field(6, 2)), endPart(),
			},
			"5c 93 01 00 13 02 00", "0c 0005 03 0009 01 00  03 0006 02 00",
		},
		{
			"long headers, and ids below",
			[]*thriftpackv1.Part{
				openStruct(), beginPart(&thriftpackv1.Begin{Type: tSet, FieldId: 300, ElementType: tBool, Size: 1}), elementsPart(thriftpackv1.BoolList(false)), endPart(),
				beginPart(&thriftpackv1.Begin{Type: tMap, FieldId: -1}), endPart(), beginPart(&thriftpackv1.Begin{Type: tString, FieldId: 14, Size: 1}), data("a"), endPart(), endPart(),
			},
			"0a d804 11 02  0b 01 00  f8 01 61  00", "0e 012c 02 00000001 00  0d ffff 00 00 00000000  0b 000e 00000001 61  00",
		},
		{"smallest id", []*thriftpackv1.Part{openStruct(), beginPart(&thriftpackv1.Begin{Type: tStruct, FieldId: -32768}), endPart(), endPart()}, "0c ffff03 00 00", "0c 8000 00 00"},
		{"largest id", []*thriftpackv1.Part{openStruct(), beginPart(&thriftpackv1.Begin{Type: tStruct, FieldId: 32767}), endPart(), endPart()}, "0c feff03 00 00", "0c 7fff 00 00"},
		{"forgotten id is 0", []*thriftpackv1.Part{openStruct(), openStruct(), endPart(), endPart()}, "0c 00 00 00", "0c 0000 00 00"},
		{"fields that bring containers", []*thriftpackv1.Part{openStruct(), fieldsPart(thriftpackv1.ListField(1, thriftpackv1.I8List(7))), endPart()}, "19 13 07 00", "0f 0001 03 00000001 07 00"},

		{"largest short list header", []*thriftpackv1.Part{openList(tI8, 14), elementsPart(&thriftpackv1.List{I8S: make([]byte, 14)}), endPart()}, "e3" + strings.Repeat("00", 14), "03 0000000e" + strings.Repeat("00", 14)},
		{"smallest long list header", []*thriftpackv1.Part{openList(tI8, 15), elementsPart(&thriftpackv1.List{I8S: make([]byte, 15)}), endPart()}, "f30f" + strings.Repeat("00", 15), "03 0000000f" + strings.Repeat("00", 15)},
		{"empty list", []*thriftpackv1.Part{openList(tUUID, 0), endPart()}, "0d", "10 00000000"},
		{"bool elements", []*thriftpackv1.Part{openList(tBool, 2), elementsPart(thriftpackv1.BoolList(true)), elementsPart(thriftpackv1.BoolList(false)), endPart()}, "21 01 02", "02 00000002 01 00"},
		{"i16 elements", []*thriftpackv1.Part{openList(tI16, 2), elementsPart(thriftpackv1.I16List(-1, 300)), endPart()}, "24 01 d804", "06 00000002 ffff 012c"},
		{"doubles", []*thriftpackv1.Part{openList(tDouble, 1), elementsPart(thriftpackv1.DoubleList(1)), endPart()}, "17 000000000000f03f", "04 00000001 3ff0000000000000"},
		{
			"list of strings, one of them opened",
			[]*thriftpackv1.Part{openList(tString, 3), elementsPart(thriftpackv1.StringList("a")), openText(tString, 2), data("\xc3"), data("\xa9"), endPart(), elementsPart(thriftpackv1.StringList("")), endPart()},
			"38 01 61 02 c3a9 00", "0b 00000003 00000001 61 00000002 c3a9 00000000",
		},
		{
			"list of structs, opened and whole",
			[]*thriftpackv1.Part{openList(tStruct, 3), openStruct(), fieldsPart(thriftpackv1.I8Field(1, 1)), endPart(), elementsPart(thriftpackv1.StructList(thriftpackv1.StructOf(), thriftpackv1.StructOf(thriftpackv1.I8Field(2, 2)))), endPart()},
			"3c 13 01 00 00 23 02 00", "0c 00000003 03 0001 01 00 00 03 0002 02 00",
		},
		{"set of lists", []*thriftpackv1.Part{beginPart(&thriftpackv1.Begin{Type: tSet, ElementType: tList, Size: 2}), openList(tI32, 1), elementsPart(thriftpackv1.I32List(-3)), endPart(), elementsPart(thriftpackv1.ListList(thriftpackv1.EmptyList(tMap))), endPart()}, "29 15 05 0b", "0f 00000002 08 00000001 fffffffd 0d 00000000"},

		{"empty map", []*thriftpackv1.Part{openMap(tNone, tNone, 0), endPart()}, "00", "00 00 00000000"},
		{"empty map with types", []*thriftpackv1.Part{openMap(tI32, tSet, 0), endPart()}, "00", "08 0e 00000000"},
		{
			"entries, one of them opened",
			[]*thriftpackv1.Part{
				openMap(tString, tList, 3), entriesPart(thriftpackv1.StringList("a"), thriftpackv1.ListList(thriftpackv1.I8List(1))),
				beginPart(&thriftpackv1.Begin{Type: tList, Key: thriftpackv1.StringValue("b"), ElementType: tI8, Size: 1}), elementsPart(thriftpackv1.I8List(2)), endPart(),
				entriesPart(thriftpackv1.StringList("c"), thriftpackv1.ListList(thriftpackv1.I8List(3))), endPart(),
			},
			"03 89  01 61 13 01  01 62 13 02  01 63 13 03",
			"0b 0f 00000003  00000001 61 03 00000001 01  00000001 62 03 00000001 02  00000001 63 03 00000001 03",
		},
		{
			"containers as keys",
			[]*thriftpackv1.Part{openMap(tStruct, tBinary, 1), beginPart(&thriftpackv1.Begin{Type: tBinary, Key: thriftpackv1.StructValue(thriftpackv1.BoolField(1, true)), Size: 2}), data("\xff\x00"), endPart(), endPart()},
			"01 c8 11 00 02 ff00", "0c 0b 00000001 02 0001 01 00 00000002 ff00",
		},
		{"bool and uuid keys", []*thriftpackv1.Part{
			openMap(tBool, tStruct, 1), beginPart(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.BoolValue(false)}), endPart(), endPart(),
			openMap(tUUID, tStruct, 1), beginPart(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.UUIDValue([16]byte{15: 1})}), endPart(), endPart(),
		}, "01 1c 02 00  01 dc 00000000000000000000000000000001 00", "02 0c 00000001 00 00  10 0c 00000001 00000000000000000000000000000001 00"},

		{"string in pieces, a character cut twice", []*thriftpackv1.Part{openText(tString, 4), data("\xf0"), data("\x9f\x98"), data(""), data("\x80"), endPart()}, "04 f09f9880", "00000004 f09f9880"},
		{"binary may be anything", []*thriftpackv1.Part{openText(tBinary, 3), data("\xff"), data("\xc3\x28"), endPart()}, "03 ffc328", "00000003 ffc328"},
		{"empty string", []*thriftpackv1.Part{openText(tString, 0), data(""), endPart()}, "00", "00000000"},

		{"empty parts do nothing", []*thriftpackv1.Part{
			openStruct(), fieldsPart(), beginPart(&thriftpackv1.Begin{Type: tList, FieldId: 1, ElementType: tI8}), elementsPart(&thriftpackv1.List{}), elementsPart(thriftpackv1.EmptyList(tI8)), endPart(),
			beginPart(&thriftpackv1.Begin{Type: tMap, FieldId: 2}), entriesPart(nil, nil), endPart(), endPart(),
		}, "19 03 1b 00 00", "0f 0001 03 00000000  0d 0002 00 00 00000000  00"},

		{"bool root", []*thriftpackv1.Part{elementsPart(thriftpackv1.BoolList(false))}, "02", "00"},
		{"i8 root", []*thriftpackv1.Part{elementsPart(thriftpackv1.I8List(-1))}, "ff", "ff"},
		{"i64 root", []*thriftpackv1.Part{elementsPart(thriftpackv1.I64List(300))}, "d804", "000000000000012c"},
		{"string root", []*thriftpackv1.Part{elementsPart(thriftpackv1.StringList("a"))}, "01 61", "00000001 61"},
		{"struct root at once", []*thriftpackv1.Part{elementsPart(thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.I8Field(1, 5))))}, "13 05 00", "03 0001 05 00"},
		{"three roots", []*thriftpackv1.Part{elementsPart(thriftpackv1.I8List(1)), openStruct(), endPart(), openText(tBinary, 1), data("z"), endPart()}, "01 00 01 7a", "01 00 00000001 7a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wire := partsWire(t, test.parts...)
			for protocol, want := range []string{test.compact, test.binary} {
				o := &Options{Limits: testLimits, Protocol: Protocol(protocol)}
				if got, err := encodeParts(t, o, minBuffer, wire...); err != nil || !bytes.Equal(got, unhex(t, want)) {
					t.Errorf("protocol %d: %x, %v, want %s", protocol, got, err, want)
				}
			}
		})
	}
}

func TestPartsMessage(t *testing.T) {
	t.Parallel()
	const compact, binary = "82 21 ac02 04 70696e67 15 02 00", "80010001 00000004 70696e67 0000012c 08 0001 00000001 00"
	for name, parts := range map[string][]*thriftpackv1.Part{
		"opened":  {openStruct(), fieldsPart(thriftpackv1.I32Field(1, 1)), endPart()},
		"at once": {elementsPart(thriftpackv1.StructList(thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1))))},
	} {
		for protocol, want := range []string{compact, binary} {
			o := &Options{Limits: testLimits, Protocol: Protocol(protocol), Message: &Message{"ping", 1, 300}}
			if got, err := encodeParts(t, o, minBuffer, partsWire(t, parts...)...); err != nil || !bytes.Equal(got, unhex(t, want)) {
				t.Errorf("%s, protocol %d: %x, %v, want %s", name, protocol, got, err, want)
			}
		}
	}
	long := &Message{Name: strings.Repeat("n", 2000), Type: 1}
	if got, err := encodeParts(t, &Options{Limits: testLimits, Message: long}, minBuffer, partsWire(t, openStruct(), endPart())...); err != nil || len(got) != 2000+6 {
		t.Errorf("with a long name: %d bytes, %v", len(got), err)
	}
	for _, test := range []struct {
		options Options
		text    string
	}{
		{Options{Framed: true}, "BAD_OPTION options.framing: parts cannot be framed: the length comes first, and is not known"},
		{Options{Message: &Message{"e", 0, 0}}, "BAD_HEADER options.message.type: message type 0, want 1..4"},
		{Options{Message: &Message{"\xff", 1, 0}}, "BAD_UTF8 options.message.name: not valid UTF-8"},
	} {
		var r partsRun
		got, err := r.run(&test.options, minBuffer)
		if text := fmt.Sprint(reason(t, err), " ", err); text != test.text || len(got) != 0 {
			t.Errorf("Start = %q and %d bytes, want %q", text, len(got), test.text)
		}
		if err := r.parts.Write(nil); err == nil {
			t.Errorf("Write after a Start that failed succeeded")
		}
	}
}

// TestPartsCalls shows what calls out of order get, and that nothing of one stream is seen by the next.
func TestPartsCalls(t *testing.T) {
	t.Parallel()
	var p Parts
	if buf, filled, err := p.Finish(); reason(t, err) != fault.Internal || buf != nil || filled != 0 {
		t.Errorf("Finish of nothing = %x, %d, %v", buf, filled, err)
	}
	if err := p.Write(nil); reason(t, err) != fault.Internal {
		t.Errorf("Write before Start: %v", err)
	}
	if buf, filled := p.Flush(); buf != nil || filled != 0 {
		t.Errorf("Flush before Start = %x, %d", buf, filled)
	}
	var r partsRun
	o := &Options{Limits: testLimits}
	good := partsWire(t, openStruct(), fieldsPart(thriftpackv1.I8Field(1, 5)), endPart())
	for name, bad := range map[string][][]byte{
		"fault":      partsWire(t, openStruct(), fieldsPart(thriftpackv1.I8Field(1, 5)), openList(tNone, 1)),
		"unfinished": partsWire(t, openStruct(), openList(tI8, 5)),
		"slow fault": {submessage(partElements, number(kindI32, 5), number(kindI32, 1<<40))},
	} {
		if got, err := r.run(&Options{Limits: testLimits, Protocol: Binary, Message: &Message{"m", 1, 1}}, minBuffer, bad...); err == nil {
			t.Errorf("%s: %x", name, got)
		}
		if got, err := r.run(o, minBuffer, good...); err != nil || !bytes.Equal(got, []byte{0x13, 5, 0}) {
			t.Errorf("after %s: %x, %v", name, got, err)
		}
		if err := r.parts.Write(good[0]); reason(t, err) != fault.Internal {
			t.Errorf("Write after Finish: %v", err)
		}
	}
	// A fault stays, and leaves what was written before it.
	if got, err := r.run(o, minBuffer, good[0], good[1], nil); !bytes.Equal(got, []byte{0x13, 5}) || reason(t, err) != fault.MissingKind || r.at != 2 {
		t.Errorf("with a fault in part 2: %x, %v in part %d", got, err, r.at)
	}
	if err := r.parts.Start(o, &r.sink); err != nil {
		t.Fatal(err)
	}
	first := r.parts.Write(nil)
	if again := r.parts.Write(good[0]); first == nil || !errors.Is(again, first) || r.parts.Written() != 0 || r.parts.Open() != 0 {
		t.Errorf("Write after a fault = %v, want %v", again, first)
	}
}

// TestPartsSinkFails shows that an error of the sink comes through as it is, wherever it strikes.
func TestPartsSinkFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	big := thriftpackv1.StringField(1, strings.Repeat("a", 3000))
	merged := submessage(partFields, submessage(1, text(kindString, strings.Repeat("b", 1500))), submessage(1, number(kindBool, 2)), submessage(1, text(kindString, strings.Repeat("c", 1500))))
	for name, parts := range map[string][][]byte{
		"fields": partsWire(t, openStruct(), fieldsPart(big), endPart()),
		"data":   partsWire(t, openText(tBinary, 3000), dataPart(make([]byte, 3000)), endPart()),
		"begin":  partsWire(t, openMap(tString, tStruct, 1), beginPart(&thriftpackv1.Begin{Type: tStruct, Key: thriftpackv1.StringValue(big.GetString_())})),
		"merged": {partsWire(t, openStruct())[0], merged, partsWire(t, endPart())[0]},
	} {
		for fails := range 8 {
			var p Parts
			sink := failingSink{after: fails, err: broken}
			if err := p.Start(&Options{Limits: testLimits}, &sink); err != nil {
				t.Fatal(err)
			}
			var err error
			for _, part := range parts {
				if err = p.Write(part); err != nil {
					break
				}
			}
			if sink.failed != (err != nil) || err != nil && !errors.Is(err, broken) {
				t.Errorf("%s, buffer %d fails (%t): %v", name, fails, sink.failed, err)
			}
			if buf, _, finishErr := p.Finish(); err != nil && (buf != nil || !errors.Is(finishErr, broken)) {
				t.Errorf("%s: Finish after a failure = %d bytes, %v", name, len(buf), finishErr)
			}
		}
	}
	var p Parts
	if err := p.Start(&Options{Limits: testLimits}, &reused{make([]byte, 511)}); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(marshal(t, openStruct())); reason(t, err) != fault.Internal {
		t.Errorf("with a buffer that is too small: %v", err)
	}
}

// failingSink lends some buffers and then fails.
type failingSink struct {
	after  int
	err    error
	failed bool
}

func (s *failingSink) Next(int) ([]byte, error) {
	if s.after == 0 {
		s.failed = true
		return nil, s.err
	}
	s.after--
	return make([]byte, minBuffer), nil
}
