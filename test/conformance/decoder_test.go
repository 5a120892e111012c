package conformance

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/test/oracle"
)

// short shows bytes in a failure, cut where there are many.
func short(b []byte) string {
	if len(b) > 200 {
		return fmt.Sprintf("%x… (%d bytes)", b[:200], len(b))
	}
	return hex.EncodeToString(b)
}

// decoderOptions returns options that admit all vectors.
func decoderOptions(p oracle.Protocol, message bool) *decoder.Options {
	o := &decoder.Options{Message: message, Limits: decoder.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, Nodes: 1 << 22}}
	if p == oracle.Binary {
		o.Protocol = decoder.Binary
	}
	return o
}

// decode reads data, in one piece and through chunks, and checks that both are the same and canonical.
func decode(t *testing.T, d *decoder.Decoder, data []byte, o *decoder.Options) ([]byte, decoder.Info, error) {
	t.Helper()
	defer d.Release()
	info, err := d.Prepare(data, o)
	if err != nil {
		return nil, info, err
	}
	value := d.Append(nil)
	sink := new(sink)
	buf, filled, err := d.WriteTo(sink, nil, 0)
	if err != nil || !bytes.Equal(sink.joined(buf, filled), value) || info.Size != int64(len(value)) {
		t.Errorf("%s: WriteTo: %v, %d bytes; Append: %d bytes; announced %d", short(data), err, len(sink.data), len(value), info.Size)
	}
	return value, info, nil
}

// parse returns the Value of wire bytes, which must be those that protobuf itself would write.
func parse(t *testing.T, wire []byte) *thriftpackv1.Value {
	t.Helper()
	value := new(thriftpackv1.Value)
	if err := proto.Unmarshal(wire, value); err != nil {
		t.Fatalf("decoded bytes are not a Value: %v: %s", err, short(wire))
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(value)
	if err != nil || !bytes.Equal(again, wire) {
		t.Errorf("not canonical: decoded %s, protobuf writes %s", short(wire), short(again))
	}
	return value
}

// TestDecoder reads every vector back to its tree, and writes that again as the same bytes.
func TestDecoder(t *testing.T) {
	t.Parallel()
	var d decoder.Decoder
	var e encoder.Encoder
	for _, vector := range vectors(t) {
		tree, err := vector.Value()
		if err != nil {
			t.Fatal(err)
		}
		want, envelope := oracle.Canonical(tree), vector.Envelope()
		for _, protocol := range oracle.Protocols {
			data := vector.Bytes(protocol)
			wire, info, err := decode(t, &d, data, decoderOptions(protocol, envelope != nil))
			if err != nil {
				t.Errorf("%s: %s: %v", vector.Name, protocol, err)
				continue
			}
			value := parse(t, wire)
			if diff := oracle.Diff(want, oracle.Canonical(value)); diff != "" {
				t.Errorf("%s: %s: decoded another value: %s", vector.Name, protocol, diff)
			}
			if info.BytesRead != int64(len(data)) || info.HasMessage != (envelope != nil) ||
				envelope != nil && oracle.Message(info.Message) != *envelope {
				t.Errorf("%s: %s: info %+v, want %d bytes and message %v", vector.Name, protocol, info, len(data), envelope)
			}
			again, err := e.Append(nil, wire, encoderOptions(protocol, envelope))
			if err != nil || !bytes.Equal(again, data) {
				t.Errorf("%s: %s: encoded again: %v, %s, want %s", vector.Name, protocol, err, short(again), short(data))
			}
			if e.SlowPath() {
				t.Errorf("%s: %s: the decoder's bytes took the encoder's slow path", vector.Name, protocol)
			}
			framed := decoderOptions(protocol, envelope != nil)
			framed.Framed = true
			inFrame, _, err := decode(t, &d, frame(data), framed)
			if err != nil || !bytes.Equal(inFrame, wire) {
				t.Errorf("%s: %s: framed: %v, %s, want %s", vector.Name, protocol, err, short(inFrame), short(wire))
			}
		}
	}
}

// reasons are what each kind of fault is refused with. Kinds that are absent are accepted without a schema.
var reasons = map[string][]fault.Reason{
	"truncated":            {fault.Truncated},
	"size_exceeds_input":   {fault.Truncated},
	"negative_size":        {fault.NegativeSize},
	"varint_overflow":      {fault.VarintOverflow, fault.IntRange},
	"varint_too_long":      {fault.VarintOverflow, fault.IntRange},
	"field_id_overflow":    {fault.VarintOverflow, fault.IntRange},
	"unknown_type":         {fault.BadType},
	"invalid_element_type": {fault.BadType},
	"invalid_stop":         {fault.BadHeader},
	"invalid_bool":         {fault.BadHeader},
	"bad_message_type":     {fault.BadHeader},
	"bad_protocol_id":      {fault.BadVersion},
	"bad_version":          {fault.BadVersion},
	"depth_exceeded":       {fault.DepthLimit},
	"trailing_bytes":       {fault.TrailingBytes},
}

// accepted are the kinds of fault that are none to a reader without a schema.
var accepted = []string{"noncanonical_varint", "duplicate_element", "duplicate_key", "duplicate_field", "invalid_utf8"}

// boolZero are the inputs whose bool byte 0 is false for everyone.
var boolZero = []string{"bool/list-elem-0", "bool/map-value-0"}

// TestInvalid refuses every malformed input with its reason at its offset.
func TestInvalid(t *testing.T) {
	t.Parallel()
	var d decoder.Decoder
	for _, row := range load[oracle.Invalid](t, "invalid.jsonl.gz", 108) {
		_, _, err := decode(t, &d, row.Compact, decoderOptions(oracle.Compact, row.Message))
		if slices.Contains(accepted, row.Expect) || slices.Contains(boolZero, row.Name) {
			if err != nil {
				t.Errorf("%s: %v, want it accepted", row.Name, err)
			}
			continue
		}
		want := reasons[row.Expect]
		if want == nil {
			t.Fatalf("%s: no reason for %s", row.Name, row.Expect)
		}
		var f *fault.Error
		if !errors.As(err, &f) || !slices.Contains(want, f.Reason) {
			t.Errorf("%s: %s: error %v, want %v", row.Name, short(row.Compact), err, want)
			continue
		}
		if row.Offset != nil && f.Offset != *row.Offset {
			t.Errorf("%s: %s: %v at offset %d, want %d", row.Name, short(row.Compact), err, f.Offset, *row.Offset)
		}
	}
}

// TestInvalidLenient shows what lenient changes: inputs that Apache's readers take are taken, and no others.
func TestInvalidLenient(t *testing.T) {
	t.Parallel()
	// Apache's Go reader takes these, but by reading bytes after the value or an envelope that says nothing: lenient does not extend to them.
	still := map[string]bool{"trailing_bytes": true, "bad_message_type": true}
	var d decoder.Decoder
	for _, row := range load[oracle.Invalid](t, "invalid.jsonl.gz", 108) {
		o := decoderOptions(oracle.Compact, row.Message)
		o.Lenient = true
		_, _, err := decode(t, &d, row.Compact, o)
		wantOK := slices.Contains(accepted, row.Expect) || row.StrictOnly && !still[row.Expect]
		if (err == nil) != wantOK {
			t.Errorf("%s: lenient: error %v, want accepted: %v", row.Name, err, wantOK)
		}
	}
}

// TestPrefixes refuses every proper prefix as truncated, at or before its end.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	var d decoder.Decoder
	for _, row := range load[oracle.Prefixes](t, "prefixes.jsonl", 4) {
		for n := range row.Compact {
			var f *fault.Error
			_, _, err := decode(t, &d, row.Compact[:n:n], decoderOptions(oracle.Compact, row.Message))
			if !errors.As(err, &f) || f.Reason != fault.Truncated || f.Offset < 0 || f.Offset > int64(n) {
				t.Errorf("%s: first %d bytes: error %v, want %s", row.Name, n, err, fault.Truncated)
			}
		}
		if _, _, err := decode(t, &d, row.Compact, decoderOptions(oracle.Compact, row.Message)); err != nil {
			t.Errorf("%s: whole: %v", row.Name, err)
		}
	}
}

// TestNoncanonical reads unusual encodings to their tree and writes their canonical bytes.
func TestNoncanonical(t *testing.T) {
	t.Parallel()
	var d decoder.Decoder
	var e encoder.Encoder
	for _, row := range load[oracle.Noncanonical](t, "noncanonical.jsonl", 23) {
		o := decoderOptions(oracle.Compact, row.Message)
		strict := row.Strict == nil || *row.Strict == "noncanonical_varint" || *row.Strict == "invalid_bool"
		wire, _, err := decode(t, &d, row.Compact, o)
		if (err == nil) != strict {
			t.Errorf("%s: strict: error %v, want accepted: %v", row.Name, err, strict)
		}
		if !strict {
			o.Lenient = true
			if wire, _, err = decode(t, &d, row.Compact, o); err != nil {
				t.Errorf("%s: lenient: %v", row.Name, err)
			}
		}
		if err != nil {
			continue
		}
		want, err := oracle.RawTree(row.Tree)
		if err != nil {
			t.Fatalf("%s: %v", row.Name, err)
		}
		if diff := oracle.Diff(oracle.Canonical(want), oracle.Canonical(parse(t, wire))); diff != "" {
			t.Errorf("%s: decoded another value: %s", row.Name, diff)
		}
		if row.Canonical == nil {
			continue // element type 0 cannot be written
		}
		if again, err := e.Append(nil, wire, encoderOptions(oracle.Compact, nil)); err != nil || !bytes.Equal(again, *row.Canonical) {
			t.Errorf("%s: encoded again: %v, %x, want %x", row.Name, err, again, *row.Canonical)
		}
	}
}

// kindTwo says that a Parquet file has ColumnIndexes with bool elements of kind 2, as DataFusion writes them: they are read, and
// written again with kind 1.
func kindTwo(data, again []byte) bool {
	if len(data) != len(again) {
		return false
	}
	for i := range data {
		if data[i] != again[i] && (data[i]&0x0f != 2 || again[i]&0x0f != 1 || data[i]&0xf0 != again[i]&0xf0) && (data[i] != 0 || again[i] != 2) {
			return false
		}
	}
	return true
}

// TestParquetFiles reads the Thrift structs of real Parquet files and writes them again. The files belong to another
// project: THRIFTPACK_PARQUET_DIR names the folder.
func TestParquetFiles(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("THRIFTPACK_PARQUET_DIR")
	if folder == "" {
		t.Skip("THRIFTPACK_PARQUET_DIR is not set; TestParquetFooters reads footers that it writes itself")
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.bin"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(names), err)
	}
	other := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !reread(t, filepath.Base(name), data) {
			other++
		}
	}
	t.Logf("%d files, of which %d have bool elements of kind 2", len(names), other)
	if other*10 > len(names) {
		t.Errorf("%d of %d files are written otherwise", other, len(names))
	}
}

// reread decodes a struct with bytes after it, encodes it, and reports whether the bytes are the same.
func reread(t *testing.T, name string, data []byte) bool {
	t.Helper()
	var d decoder.Decoder
	var e encoder.Encoder
	o := decoderOptions(oracle.Compact, false)
	o.AllowTrailing = true
	wire, info, err := decode(t, &d, data, o)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	parse(t, wire)
	data = data[:info.BytesRead]
	again, err := e.Append(nil, wire, encoderOptions(oracle.Compact, nil))
	if err == nil && bytes.Equal(again, data) {
		return true
	}
	if err != nil || !kindTwo(data, again) {
		t.Errorf("%s: encoded again: %v, %s, want %s", name, err, short(again), short(data))
	}
	return false
}
