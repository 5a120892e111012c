package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/jsonvalue"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
	"github.com/thriftpack/thriftpack/test/oracle"
)

func parquetSchema(t *testing.T) *schema.Schema {
	t.Helper()
	const name = "parquet.thrift"
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "schemas", name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile("parquet", map[string]string{name: string(text)}, name, schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// byName reads a struct of a type into JSON, with the fields that the type does not have, and that into bytes again. It
// returns the JSON, the bytes that were read, and those that were written.
func byName(t *testing.T, data []byte, typ *schema.Type) (text, read, written []byte, fault error) {
	t.Helper()
	var d decoder.Decoder
	o := decoderOptions(oracle.Compact, false)
	o.AllowTrailing = true
	info, err := d.Prepare(data, o)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	var c conform.Checker
	value, err := c.Decoded(d.Append(nil), typ, &conform.DecodeOptions{JSON: true, KeepUnknown: true, Source: &d})
	if err != nil {
		return nil, nil, nil, err
	}
	var w jsonvalue.Writer
	text, err = w.Append(nil, value, typ, &jsonvalue.WriteOptions{Depth: 64, MaxBytes: 1 << 30})
	if err != nil {
		t.Fatalf("write JSON: %v", err)
	}
	var e jsonvalue.Encoder
	written, err = e.Append(nil, text, typ, &jsonvalue.Options{
		Limits: jsonvalue.Limits{Depth: 64, Elements: 1 << 24, StringBytes: 1 << 24, EncodedBytes: 1 << 30},
	})
	if err != nil {
		t.Fatalf("encode JSON %s: %v", short(text), err)
	}
	return text, data[:info.BytesRead], written, nil
}

// TestParquetFootersByName reads footers by the names of the format's own IDL, and writes them again from the JSON.
func TestParquetFootersByName(t *testing.T) {
	t.Parallel()
	typ, _ := parquetSchema(t).Type("FileMetaData")
	for _, rows := range []int{0, 1, 39, 500} {
		text, read, written, err := byName(t, footer(t, parquetFile(t, rows)), typ)
		if err != nil {
			t.Fatalf("%d rows: %v", rows, err)
		}
		if !bytes.Equal(written, read) {
			t.Errorf("%d rows: written otherwise: %s, want %s", rows, short(written), short(read))
		}
		for _, want := range []string{
			`"num_rows":"` + strconv.Itoa(rows) + `"`, `{"key":"made-by","value":"the test"}`,
			`"name":"ratio"`, `"type":"DOUBLE"`, `"logicalType":{"UUID":{}}`, `"repetition_type":"OPTIONAL"`,
		} {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%d rows: no %s in %s", rows, want, text)
			}
		}
	}
}

// TestParquetFilesByName reads the structs of real files by name. The files belong to another project, see TestParquetFiles.
func TestParquetFilesByName(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("THRIFTPACK_PARQUET_DIR")
	if folder == "" {
		t.Skip("THRIFTPACK_PARQUET_DIR is not set; TestParquetFootersByName reads footers that it writes itself")
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.bin"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(names), err)
	}
	s := parquetSchema(t)
	same, other := 0, 0
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			typ, found := s.Type(structIn(filepath.Base(name)))
			if !found {
				t.Fatalf("no type %s", structIn(name))
			}
			_, read, written, err := byName(t, data, typ)
			want := misfits[filepath.Base(name)]
			switch {
			case err != nil || want != "":
				if err == nil || want == "" || !strings.Contains(err.Error(), want) {
					t.Errorf("check: %v, want %q", err, want)
				}
			case bytes.Equal(read, written):
				same++
			case kindTwo(read, written):
				other++
			default:
				t.Errorf("written otherwise: %s, want %s", short(written), short(read))
			}
		})
	}
	t.Logf("%d the same, %d with bool elements of kind 2, %d do not fit their type", same, other, len(misfits))
	if same*10 < len(names)*9 {
		t.Errorf("only %d of %d are the same", same, len(names))
	}
}

// misfits are the files with a struct that is not as the format says, and the fault that is found in them.
var misfits = map[string]string{
	"bad_data__ARROW-GH-41317.parquet.bin":                            "meta_data.encodings: offset 13783: kind is I16",
	"bad_data__ARROW-RS-GH-6229-DICTHEADER.parquet__PageHeader_1.bin": "data_page_header.num_values: offset 9: kind is I16",
	"data__dict-page-offset-zero.parquet.bin":                         "meta_data.bloom_filter_length: offset 107: kind is LIST",
}

// structIn tells from a file's name which struct is in it: the part behind "__" names it, where it is not the footer.
func structIn(name string) string {
	for _, inner := range []string{"PageHeader", "ColumnIndex", "OffsetIndex", "BloomFilterHeader"} {
		if strings.Contains(name, "__"+inner) {
			return inner
		}
	}
	if strings.HasSuffix(name, ".encrypted.bin") && !strings.Contains(name, "plaintext_footer") {
		return "FileCryptoMetaData"
	}
	return "FileMetaData"
}
