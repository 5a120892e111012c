package encoder

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
)

// testLimits are wide enough for every fixture.
var testLimits = Limits{Depth: 64, Elements: 1 << 30, StringBytes: 1 << 30, SlowNodes: 100_000}

// The wire of a value, written by hand: message and text have a length, number and double do not.

func submessage(member protowire.Number, content ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, member, protowire.BytesType), bytes.Join(content, nil))
}

func number(member protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, member, protowire.VarintType), v)
}

// id is Field.id.
func id(v int64) []byte { return number(1, protowire.EncodeZigZag(v)) }

func text(member protowire.Number, s string) []byte { return submessage(member, []byte(s)) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// structOf returns the wire of a Value with a struct of the fields, each given by its contents.
func structOf(fields ...[]byte) []byte {
	var all []byte
	for _, f := range fields {
		all = append(all, submessage(1, f)...)
	}
	return submessage(kindStruct, all)
}

func marshal(t testing.TB, v proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(v)
	if err != nil {
		t.Fatalf("proto.Marshal: %v", err)
	}
	return b
}

// unhex returns the bytes of hex with spaces.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("hex %q: %v", s, err)
	}
	return b
}

// encode encodes a value in all ways, which must agree, and returns the result.
func encode(t testing.TB, wire []byte, o *Options) ([]byte, error) {
	t.Helper()
	var e Encoder
	before := bytes.Clone(wire)
	got, err := e.Append([]byte("before"), wire, o)
	slow := e.SlowPath()
	size, prepareErr := e.Prepare(wire, o)
	if slow != e.SlowPath() {
		t.Fatalf("SlowPath() = %t after Append, %t after Prepare", slow, e.SlowPath())
	}
	if !bytes.Equal(before, wire) {
		t.Fatalf("value was changed")
	}
	if err != nil || prepareErr != nil {
		if err == nil || prepareErr == nil || err.Error() != prepareErr.Error() {
			t.Fatalf("Append: %v, Prepare: %v", err, prepareErr)
		}
		if string(got) != "before" || size != 0 {
			t.Fatalf("with an error, Append = %q, Prepare = %d", got, size)
		}
		return nil, err
	}
	got, found := bytes.CutPrefix(got, []byte("before"))
	if !found || size != int64(len(got)) {
		t.Fatalf("Append = %d bytes after its prefix (%t), Prepare = %d", len(got), found, size)
	}
	if !slow && o.Protocol == Compact && len(got) > Bound(len(wire), o) {
		t.Fatalf("%d bytes are above Bound(%d) = %d", len(got), len(wire), Bound(len(wire), o))
	}
	for _, chunk := range []int{minBuffer, minBuffer + 77} {
		if streamed, err := collect(&e, chunk); !bytes.Equal(streamed, got) || err != nil {
			t.Fatalf("WriteTo with chunks of %d = %x, %v, want %x", chunk, streamed, err, got)
		}
	}
	e.Release()
	return got, nil
}

// collector is a Sink of buffers of one size. It sees to it that nothing is left behind what was filled.
type collector struct {
	size int
	buf  []byte
	all  []byte
	fail error
}

func (c *collector) Next(filled int) ([]byte, error) {
	if c.fail != nil {
		return nil, c.fail
	}
	c.take(filled)
	c.buf = make([]byte, c.size)
	return c.buf, nil
}

func (c *collector) take(filled int) {
	c.all = append(c.all, c.buf[:filled]...)
	for _, b := range c.buf[filled:] {
		if b != 0 {
			panic("bytes behind those that were filled")
		}
	}
}

// collect writes what is prepared through chunks of one size.
func collect(e *Encoder, chunk int) ([]byte, error) {
	c := collector{size: chunk}
	_, filled, err := e.WriteTo(&c, nil, 0)
	if err != nil {
		return nil, err
	}
	c.take(filled)
	return c.all, nil
}

// mustEncode returns the encoding of a value.
func mustEncode(t testing.TB, wire []byte, o *Options) []byte {
	t.Helper()
	got, err := encode(t, wire, o)
	if err != nil {
		t.Fatalf("encode(%x): %v", wire, err)
	}
	return got
}

// isFast fails the test if the value takes the slow path.
func isFast(t testing.TB, wire []byte) {
	t.Helper()
	var e Encoder
	if _, err := e.Append(nil, wire, &Options{Limits: testLimits}); err != nil || e.SlowPath() {
		t.Errorf("Append(%x): error %v, slow path %t", wire, err, e.SlowPath())
	}
}

// reason returns the reason of a fault, "" for no error.
func reason(t testing.TB, err error) fault.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	f, ok := err.(*fault.Error) //nolint:errorlint // the encoder returns it unwrapped, which is tested here
	if !ok {
		t.Fatalf("error of type %T: %v", err, err)
	}
	return f.Reason
}

// rich returns a value with every kind as a field, element, key and value, of all header forms.
func rich() *thriftpackv1.Value {
	type field = thriftpackv1.Field
	uuid := [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	inner := func() *thriftpackv1.Struct {
		return thriftpackv1.StructOf(
			thriftpackv1.I32Field(1, -1), thriftpackv1.StringField(3, "dreißig"),
			thriftpackv1.ListField(300, thriftpackv1.I16List(-32768, 32767, 0, 63, 64)),
		)
	}
	lists := []*thriftpackv1.List{
		thriftpackv1.BoolList(true, false, true), thriftpackv1.I8List(-128, 0, 127), thriftpackv1.I16List(0, -1, 8191, -8193),
		thriftpackv1.I32List(1<<31-1, -1<<31, 3), thriftpackv1.I64List(1<<63-1, -1<<63, 5, 1<<40), thriftpackv1.DoubleList(1.5, -0.5),
		thriftpackv1.BinaryList([]byte{0xff, 0}, nil, bytes.Repeat([]byte{7}, 200)), thriftpackv1.UUIDList(uuid, uuid),
		thriftpackv1.StringList("a", "", strings.Repeat("ü", 100), "twenty-three characters"),
		thriftpackv1.ListList(thriftpackv1.I32List(1), thriftpackv1.EmptyList(thriftpackv1.Type_TYPE_MAP)),
		thriftpackv1.SetList(thriftpackv1.StringList("x")),
		thriftpackv1.MapList(thriftpackv1.MapOf(nil, nil), thriftpackv1.MapOf(thriftpackv1.I8List(1), thriftpackv1.BoolList(false))),
		thriftpackv1.StructList(inner(), thriftpackv1.StructOf(), inner()),
	}
	fields := []*field{
		thriftpackv1.BoolField(1, true), thriftpackv1.BoolField(2, false), thriftpackv1.I8Field(3, -42), thriftpackv1.I8Field(4, 42),
		thriftpackv1.I16Field(19, 27000), thriftpackv1.I32Field(35, 1<<24), thriftpackv1.I64Field(-7, 6e9),
		thriftpackv1.I64Field(-6, -1<<63), thriftpackv1.DoubleField(0, 3.25), thriftpackv1.StringField(200, "text"),
		thriftpackv1.BinaryField(201, []byte{1, 2}), thriftpackv1.UUIDField(202, uuid), thriftpackv1.StructField(203, inner()),
		thriftpackv1.MapField(204, thriftpackv1.MapOf(nil, nil)),
	}
	for i, l := range lists {
		id := int16(1000 + 20*i)
		fields = append(fields, thriftpackv1.ListField(id, l), thriftpackv1.SetField(id+1, l))
		if n := len(lists); i+1 < n {
			other := lists[n-1-i]
			if a, b := elements(l), elements(other); a == b {
				fields = append(fields, thriftpackv1.MapField(id+2, thriftpackv1.MapOf(l, other)))
			}
		}
	}
	return thriftpackv1.StructValue(fields...)
}

// elements returns the number of elements of a List.
func elements(l *thriftpackv1.List) int {
	return len(l.GetBools()) + len(l.GetI8S()) + len(l.GetI16S()) + len(l.GetI32S()) + len(l.GetI64S()) + len(l.GetDoubles()) +
		len(l.GetBinaries()) + len(l.GetLists()) + len(l.GetSets()) + len(l.GetMaps()) + len(l.GetStructs()) + len(l.GetUuids()) +
		len(l.GetStrings())
}
