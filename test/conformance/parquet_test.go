package conformance

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// row has columns of all physical types, a nested list and a map, so that footers have deep schemas and all kinds of statistics.
type row struct {
	Flag    bool                   `parquet:"flag"`
	Number  int32                  `parquet:"number,delta"`
	Big     int64                  `parquet:"big"`
	Ratio   float64                `parquet:"ratio"`
	Name    string                 `parquet:"name,dict"`
	ID      [16]byte               `parquet:"id,uuid"`
	Note    *string                `parquet:"note,optional"`
	Tags    []string               `parquet:"tags,list"`
	Labels  map[string]int64       `parquet:"labels"`
	Entries []struct{ A, B int64 } `parquet:"entries"`
}

// parquetFile returns a file of n rows in groups.
func parquetFile(t *testing.T, n int) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, parquet.MaxRowsPerRowGroup(40), parquet.KeyValueMetadata("made-by", "the test"))
	for i := range n {
		note := "note " + strconv.Itoa(i)
		r := row{
			Flag: i%2 == 0, Number: int32(i * i), Big: -int64(i) << 33, Ratio: float64(i) / 7,
			Name: "name " + strconv.Itoa(i%5), ID: [16]byte{15: byte(i)},
			Tags: []string{"a", note}, Labels: map[string]int64{note: int64(i)}, Entries: []struct{ A, B int64 }{{1, int64(i)}},
		}
		if i%3 == 0 {
			r.Note = &note
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// footer returns the FileMetaData at the end of a file.
//
//	… FileMetaData in the compact protocol, its length in four bytes, "PAR1"
func footer(t *testing.T, file []byte) []byte {
	t.Helper()
	end := len(file) - 8
	start := end - int(binary.LittleEndian.Uint32(file[end:]))
	if string(file[len(file)-4:]) != "PAR1" || start < 0 {
		t.Fatal("not a Parquet file")
	}
	return file[start:end]
}

// TestParquetFooters reads footers and writes them again, the same bytes.
func TestParquetFooters(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 1, 39, 500} {
		name := "footer of " + strconv.Itoa(rows) + " rows"
		if !reread(t, name, footer(t, parquetFile(t, rows))) {
			t.Errorf("%s: written otherwise", name)
		}
	}
}
