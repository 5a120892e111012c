package decoder_test

import (
	"errors"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// The offset is where a strict reader notices.
func TestRefused(t *testing.T) {
	tests := []struct {
		name, hex string
		reason    fault.Reason
		offset    int64
		path      string
	}{
		{"no byte at all", "", fault.Truncated, 0, ""},
		{"no stop", "15 02", fault.Truncated, 2, ""},
		{"no inner stop", "1c 15 02", fault.Truncated, 3, "1"},
		{"no outer stop", "1c 15 02 00", fault.Truncated, 4, ""},
		{"i8 missing", "13", fault.Truncated, 1, "1"},
		{"i32 ends inside", "15 80", fault.Truncated, 2, "1"},
		{"double of seven bytes", "17 00 00 00 00 00 00 00", fault.Truncated, 8, "1"},
		{"uuid of one byte", "1d 00", fault.Truncated, 2, "1"},
		{"field id ends inside", "05 80", fault.Truncated, 2, ""},
		{"list header missing", "19", fault.Truncated, 1, "1"},
		{"list size missing", "19 f5", fault.Truncated, 2, "1"},
		{"list element ends inside", "19 25 02 80", fault.Truncated, 4, "1[1]"},
		{"inner list header missing", "19 29 25 02 04", fault.Truncated, 5, "1[1]"},
		{"map types missing", "1b 02", fault.Truncated, 2, "1"},
		{"map value missing", "1b 02 55 02 04 06 80", fault.Truncated, 7, "1[1].value"},
		{"map key missing", "1b 02 85 01 61 80 00", fault.Truncated, 7, "1[1].key"},
		{"the stop is the third struct's", "19 3c 00 00 00", fault.Truncated, 5, ""},
		{"zero where a value was left out", "15 00", fault.Truncated, 2, ""},

		{"string one byte longer than the input", "18 03 61 62", fault.Truncated, 1, "1"},
		{"string of seven bytes, one byte longer than the input", "18 07 61 61 61 61 61 61", fault.Truncated, 1, "1"},
		{"longest string", "18 ff ff ff ff 07 00", fault.Truncated, 1, "1"},
		{"string in a list", "19 28 01 61 05 62", fault.Truncated, 4, "1[1]"},
		{"bools of which one is missing", "19 31 01 02", fault.Truncated, 1, "1"},
		{"2^31-1 structs in six bytes", "29 fc ff ff ff 07", fault.Truncated, 2, "2"},
		{"2^31-1 i32", "19 f5 ff ff ff ff 07 00", fault.Truncated, 2, "1"},
		{"two uuids, 31 bytes", "19 2d" + repeat("00", 31), fault.Truncated, 1, "1"},
		{"three doubles, 23 bytes", "19 37" + repeat("00", 23), fault.Truncated, 1, "1"},
		{"2^31-1 pairs", "1b ff ff ff ff 07 11 01 01", fault.Truncated, 1, "1"},
		{"one pair, one byte", "1b 01 55 02", fault.Truncated, 1, "1"},
		{"lists in lists, each of 2^31-1", "19 f9 ff ff ff ff 07 f9 ff ff ff ff 07 f9 ff ff ff ff 07 00", fault.Truncated, 2, "1"},

		{"string size -1", "18 ff ff ff ff 0f 61", fault.NegativeSize, 1, "1"},
		{"string size -2^31", "18 80 80 80 80 08 61", fault.NegativeSize, 1, "1"},
		{"list size -1", "19 f5 ff ff ff ff 0f", fault.NegativeSize, 2, "1"},
		{"set size -1", "1a f8 ff ff ff ff 0f", fault.NegativeSize, 2, "1"},
		{"map size -1", "1b ff ff ff ff 0f 55", fault.NegativeSize, 1, "1"},
		{"string size 2^32", "18 80 80 80 80 10 00", fault.VarintOverflow, 1, "1"},
		{"list size 2^32 + 1", "19 f5 81 80 80 80 10 02 00", fault.VarintOverflow, 2, "1"},
		{"map size 2^32", "1b 80 80 80 80 10 00", fault.VarintOverflow, 1, "1"},
		{"string size of eleven bytes", "18 81 80 80 80 80 80 80 80 80 80 00 61", fault.VarintOverflow, 1, "1"},

		{"i32 of 33 bits", "15 80 80 80 80 10 00", fault.VarintOverflow, 1, "1"},
		{"i32 of 35 bits", "15 ff ff ff ff 7f 00", fault.VarintOverflow, 1, "1"},
		{"i32 of eleven bytes", "15 80 80 80 80 80 80 80 80 80 80 01 00", fault.VarintOverflow, 1, "1"},
		{"i64 of 65 bits", "16 80 80 80 80 80 80 80 80 80 02 00", fault.VarintOverflow, 1, "1"},
		{"i64 of 70 bits", "16 ff ff ff ff ff ff ff ff ff 7f 00", fault.VarintOverflow, 1, "1"},
		{"i64 of eleven bytes of padding", "16 80 80 80 80 80 80 80 80 80 80 00 00", fault.VarintOverflow, 1, "1"},
		{"i16 of 17 bits", "14 80 80 04 00", fault.IntRange, 1, "1"},
		{"i16 of 65536", "14 80 80 08 00", fault.IntRange, 1, "1"},
		{"i16 of 33 bits", "14 80 80 80 80 10 00", fault.VarintOverflow, 1, "1"},
		{"i16 too wide in a long list", "19 f4 0a 02 02 02 02 02 02 02 80 80 04 02 02 00", fault.IntRange, 10, "1[7]"},
		{"i32 too wide in a long list", "19 f5 0a 02 02 02 02 02 02 02 ff ff ff ff 1f 02 02 00", fault.VarintOverflow, 10, "1[7]"},
		{"i64 too wide in a long list", "19 f6 0a 02 02 02 02 02 02 02 ff ff ff ff ff ff ff ff ff 02 02 02 00", fault.VarintOverflow, 10, "1[7]"},
		{"i32 too wide as a key", "1b 01 53 80 80 80 80 10 01 00", fault.VarintOverflow, 3, "1[0].key"},

		{"field id 65536", "05 80 80 08 02 00", fault.IntRange, 1, ""},
		{"field id 32768", "05 80 80 04 02 00", fault.IntRange, 1, ""},
		{"field id -32769", "05 81 80 04 02 00", fault.IntRange, 1, ""},
		{"field id of 33 bits", "05 80 80 80 80 10 02 00", fault.VarintOverflow, 1, ""},
		{"field id 32767 and a step", "05 fe ff 03 02 15 02 00", fault.IntRange, 5, ""},
		{"field id 32767 and the largest step", "01 fe ff 03 f5 02 00", fault.IntRange, 4, ""},

		{"field type 14", "1e 00", fault.BadType, 0, ""},
		{"field type 15", "1f 00", fault.BadType, 0, ""},
		{"field type 14 in a long header", "0e 02 00", fault.BadType, 0, ""},
		{"field type 14 in a struct", "1c 1e 00", fault.BadType, 1, "1"},
		{"element type 14", "19 1e 00 00", fault.BadType, 1, "1"},
		{"element type 15", "19 2f 00", fault.BadType, 1, "1"},
		{"element type 15 of an empty list", "19 0f 00", fault.BadType, 1, "1"},
		{"element type 0", "19 10 00", fault.BadType, 1, "1"},
		{"element type 0 of an empty list", "19 00 00", fault.BadType, 1, "1"},
		{"element type 0 in a long header", "19 f0 01 00", fault.BadType, 1, "1"},
		{"key and value type 0", "1b 01 00 00 00 00", fault.BadType, 2, "1"},
		{"key type 0", "1b 01 05 02 00", fault.BadType, 2, "1"},
		{"value type 0", "1b 01 50 02 00", fault.BadType, 2, "1"},
		{"key type 14", "1b 01 e5 00 02 00", fault.BadType, 2, "1"},
		{"value type 15", "1b 01 5f 02 00 00", fault.BadType, 2, "1"},
		{"all ones", repeat("ff", 32), fault.BadType, 0, ""},

		{"stop with the largest step", "f0", fault.BadHeader, 0, ""},
		{"stop with a step", "10 15 02 00", fault.BadHeader, 0, ""},
		{"stop with a step after a field", "15 02 f0", fault.BadHeader, 2, ""},
		{"bool 7 of kind 2", "19 12 07 00", fault.BadHeader, 2, "1[0]"},
		{"bool 3 of kind 1", "19 31 01 02 03 00", fault.BadHeader, 4, "1[2]"},
		{"bool 3 behind eight others", "19 f1 0a 01 01 01 01 01 01 01 01 01 03 00", fault.BadHeader, 12, "1[9]"},
		{"bool 255 as a map's value", "1b 01 81 01 61 ff 00", fault.BadHeader, 5, "1[0].value"},

		{"a second stop", "00 00", fault.TrailingBytes, 1, ""},
		{"a second struct", "15 02 00 15 04 00", fault.TrailingBytes, 3, ""},
		{"a byte ff after the value", "15 02 00 ff", fault.TrailingBytes, 3, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := refuse(t, unhex(t, test.hex), &decoder.Options{Limits: usual}, test.reason, test.offset, test.path)
			if f.Limit != 0 || f.Detail == "" {
				t.Errorf("%v: limit %d", f, f.Limit)
			}
		})
	}
}

// A path names fields by id, elements and entries by index.
func TestPaths(t *testing.T) {
	tests := []struct{ hex, path string }{
		{"1e", ""},
		{"3c 1e", "3"},
		{"05 01 80", "-1"},
		{`59 2c           // 5: two structs
		  00              // 5[0]
		  2c 1e           // 5[1].2: a struct with a field of type 14`, "5[1].2"},
		{`4b 02 59        // 4: map<i32,list>
		  02 05           // 4[0]
		  04 15 80`, "4[1].value[0]"},
		{"4b 01 c3 5c 1e 01", "4[0].key.5"},
		{"4b 01 bc 01 33 01 02 1c 1e", "4[0].value.1"},
		{"1a 1a 19 15 80 80 80 80 10 00", "1[0][0][0]"},
	}
	for _, test := range tests {
		_, err := new(decoder.Decoder).Prepare(unhex(t, test.hex), &decoder.Options{Limits: usual})
		var f *fault.Error
		if !errors.As(err, &f) || f.Path != test.path {
			t.Errorf("decode %s: %v, want the path %q", test.hex, err, test.path)
		}
	}
}

// The words of a path stay few even where the nesting is not.
func TestLongPathIsCut(t *testing.T) {
	limits := usual
	limits.Depth = 5000
	_, err := new(decoder.Decoder).Prepare(unhex(t, repeat("1c", 4000)), &decoder.Options{Limits: limits})
	var f *fault.Error
	if !errors.As(err, &f) || f.Reason != fault.Truncated || len(f.Path) > 300 || !strings.HasPrefix(f.Path, "1.1.") || !strings.HasSuffix(f.Path, ".1") {
		t.Errorf("4,000 open structs: %v", err)
	}
}

// In the binary protocol.
func TestRefusedBinary(t *testing.T) {
	tests := []struct {
		name, hex string
		reason    fault.Reason
		offset    int64
		path      string
	}{
		{"no byte at all", "", fault.Truncated, 0, ""},
		{"field id ends inside", "08 00", fault.Truncated, 2, ""},
		{"i16 ends inside", "06 0001 00", fault.Truncated, 4, "1"},
		{"i32 ends inside", "08 0001 000000", fault.Truncated, 6, "1"},
		{"i64 ends inside", "0a ffff 00000000000000", fault.Truncated, 10, "-1"},
		{"bool missing", "02 0001", fault.Truncated, 3, "1"},
		{"size ends inside", "0b 0001 000000", fault.Truncated, 6, "1"},
		{"string longer than the input", "0b 0001 00000003 6162", fault.Truncated, 3, "1"},
		{"2^31-1 structs", "0f 0001 0c 7fffffff 00", fault.Truncated, 4, "1"},
		{"three i64, 23 bytes", "0f 0001 0a 00000003" + repeat("00", 23), fault.Truncated, 4, "1"},
		{"map types end inside", "0d 0001 0b", fault.Truncated, 4, "1"},
		{"2^31-1 pairs", "0d 0001 03 03 7fffffff 00", fault.Truncated, 5, "1"},
		{"string size -1", "0b 0001 ffffffff 61", fault.NegativeSize, 3, "1"},
		{"list size -1", "0f 0001 08 ffffffff 00", fault.NegativeSize, 4, "1"},
		{"map size -2^31", "0d 0001 08 08 80000000 00", fault.NegativeSize, 5, "1"},
		{"field type 1", "01 0001 00", fault.BadType, 0, ""},
		{"field type 5", "05 0001 00", fault.BadType, 0, ""},
		{"field type 17", "11 0001 00", fault.BadType, 0, ""},
		{"element type 7", "0f 0001 07 00000000 00", fault.BadType, 3, "1"},
		{"element type 0", "0f 0001 00 00000001 00 00", fault.BadType, 3, "1"},
		{"key type 0", "0d 0001 00 03 00000001 01 01 00", fault.BadType, 3, "1"},
		{"value type 0", "0d 0001 03 00 00000001 01 01 00", fault.BadType, 4, "1"},
		{"key type 9", "0d 0001 09 03 00000000 00", fault.BadType, 3, "1"},
		{"value type 255", "0d 0001 03 ff 00000000 00", fault.BadType, 4, "1"},
		{"bool 2", "02 0001 02 00", fault.BadHeader, 3, "1"},
		{"bool 2 in a list", "0f 0001 02 00000002 01 02 00", fault.BadHeader, 9, "1[1]"},
		{"a byte after the value", "00 00", fault.TrailingBytes, 1, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			refuse(t, unhex(t, test.hex), &decoder.Options{Protocol: decoder.Binary, Limits: usual}, test.reason, test.offset, test.path)
		})
	}
}

// Every proper prefix is too short, and is said to be that.
func TestPrefixes(t *testing.T) {
	compact := unhex(t, `15 8f 0f 19 31 01 02 01 1b 02 8c 01 61 11 00 00 15 00 00 1c 18 02 6f 6b 00 1d 00112233445566778899aabbccddeeff
		17 00 00 00 00 00 00 f0 3f 19 fc 02 11 00 12 00 05 ff ff 03 01 00`)
	binary := unhex(t, `08 0001 00000007 0f 0002 0b 00000002 00000001 61 00000000 0d 0003 03 0c 00000001 05 02 0001 01 00
		10 0004 00112233445566778899aabbccddeeff 04 0005 3ff0000000000000 00`)
	for protocol, whole := range map[decoder.Protocol][]byte{decoder.Compact: compact, decoder.Binary: binary} {
		o := &decoder.Options{Protocol: protocol, Limits: usual}
		if _, _, err := decode(t, new(decoder.Decoder), whole, o); err != nil {
			t.Errorf("protocol %d: the whole: %v", protocol, err)
		}
		for n := range whole {
			if _, err := new(decoder.Decoder).Prepare(whole[:n], o); !errors.Is(err, fault.New(fault.Truncated, "")) {
				t.Errorf("protocol %d: %d of %d bytes: %v, want TRUNCATED", protocol, n, len(whole), err)
			}
		}
	}
}

// lenient takes what Apache's readers take, and nothing that wraps or reads past the end.
func TestLenient(t *testing.T) {
	tests := []struct {
		name     string
		protocol decoder.Protocol
		hex      string
		want     *thriftpackv1.Value
	}{
		{"bool byte 7", decoder.Compact, "19 21 07 01 00", thriftpackv1.StructValue(thriftpackv1.ListField(1, thriftpackv1.BoolList(false, true)))},
		{"bool byte 3 as a map's key", decoder.Compact, "1b 01 13 03 01 00", thriftpackv1.StructValue(thriftpackv1.MapField(1, thriftpackv1.MapOf(thriftpackv1.BoolList(false), thriftpackv1.I8List(1))))},
		{"stop with a step", decoder.Compact, "15 02 f0", thriftpackv1.StructValue(thriftpackv1.I32Field(1, 1))},
		{"nothing but a stop with a step", decoder.Compact, "10", thriftpackv1.StructValue()},
		{
			"stop with a step in a struct", decoder.Compact, "1c f0 2c 15 02 40 00",
			thriftpackv1.StructValue(thriftpackv1.StructField(1, thriftpackv1.StructOf()), thriftpackv1.StructField(3, thriftpackv1.StructOf(thriftpackv1.I32Field(1, 1)))),
		},
		{"empty list of type 0", decoder.Compact, "19 00 00", thriftpackv1.StructValue(thriftpackv1.ListField(1, &thriftpackv1.List{}))},
		{"empty list of type 0, long form", decoder.Compact, "19 f0 00 00", thriftpackv1.StructValue(thriftpackv1.ListField(1, &thriftpackv1.List{}))},
		{
			"bool byte 2", decoder.Binary, "02 0001 02 0f 0002 02 00000001 ff 00",
			thriftpackv1.StructValue(thriftpackv1.BoolField(1, false), thriftpackv1.ListField(2, thriftpackv1.BoolList(false))),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			data := unhex(t, test.hex)
			expect(t, data, &decoder.Options{Protocol: test.protocol, Lenient: true, Limits: usual}, test.want)
			if _, err := new(decoder.Decoder).Prepare(data, &decoder.Options{Protocol: test.protocol, Limits: usual}); err == nil {
				t.Errorf("%x is accepted without lenient", data)
			}
		})
	}
	for _, code := range []string{"1e 00", "19 10 00", "14 80 80 08 00", "15 ff ff ff ff 7f 00", "05 fe ff 03 02 15 02 00", "18 ff ff ff ff 0f"} {
		if _, err := new(decoder.Decoder).Prepare(unhex(t, code), &decoder.Options{Lenient: true, Limits: usual}); err == nil {
			t.Errorf("%s is accepted with lenient", code)
		}
	}
}
