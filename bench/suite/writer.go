package suite

import (
	"fmt"

	"github.com/thriftpack/thriftpack/bench/peers/apachegen"
	"github.com/thriftpack/thriftpack/internal/encoder"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// plainTransport is an io.Writer and nothing else: it lends no room, so every Write copies.
type plainTransport struct{ data []byte }

func (t *plainTransport) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	return len(p), nil
}

// reusedChunk is a sink that lends the same chunk again and again.
type reusedChunk struct {
	chunk []byte
	size  int64 // of all that was filled
}

func (s *reusedChunk) Next(filled int) ([]byte, error) {
	s.size += int64(filled)
	return s.chunk, nil
}

// chunkSize is the server's default.
const chunkSize = 32 << 10

// writers drive encoder.Writer with the fields of a ready struct: what generated code would do. Into chunks lists of scalars are written
// by one call. Any io.Writer is given them by one call for each element, because this family is compared with those that make one
// transport write for each.
func writers(ready generated, room int) []Contender {
	transport := &plainTransport{data: make([]byte, 0, room)}
	anyWriter, chunkWriter := encoder.NewWriter(transport), new(encoder.Writer)
	chunkWriter.ResetSink(&reusedChunk{chunk: make([]byte, chunkSize)}, nil, 0)
	return []Contender{
		{Family: writerAny, Run: func(runs int) error {
			for range runs {
				transport.data = transport.data[:0]
				writeStruct(anyWriter, ready, false)
			}
			return anyWriter.Err()
		}},
		{Family: writerChunk, Run: func(runs int) error {
			for range runs {
				writeStruct(chunkWriter, ready, true)
			}
			return chunkWriter.Err()
		}},
	}
}

// writeStruct writes a struct of Apache's generated code. An error stays in the writer, so it is looked at once, after all. Lists of
// scalars are written whole, or by a call for each element.
func writeStruct(w *encoder.Writer, value generated, whole bool) {
	switch v := value.(type) {
	case *apachegen.OneOfEach:
		writeOneOfEach(w, v)
	case *apachegen.Nested4:
		writeNested4(w, v)
	case *apachegen.Bulk:
		writeBulk(w, v, whole)
	default:
		panic(fmt.Sprintf("suite: no writer for %T", value)) // a payload was added without it
	}
}

//nolint:errcheck // see writeStruct
func writeOneOfEach(w *encoder.Writer, v *apachegen.OneOfEach) {
	w.WriteStructBegin()
	w.WriteFieldBool(1, v.Truth)
	w.WriteFieldBool(2, v.Lie)
	w.WriteFieldI8(3, v.Octet)
	w.WriteFieldI16(4, v.ShortInteger)
	w.WriteFieldI32(5, v.Integer)
	w.WriteFieldI64(6, v.LongInteger)
	w.WriteFieldDouble(7, v.Fraction)
	w.WriteFieldString(8, v.Text)
	w.WriteFieldString(9, v.UnicodeText)
	w.WriteFieldStop()
	w.WriteStructEnd()
}

// nested is what the structs Nested1 to Nested4 are alike: a list of the struct below, and maps to it.
type nested[T any] struct {
	Elements []*T
	ByI32    map[int32]*T
	ByI64    map[int64]*T
	ByDouble map[float64]*T
	ByString map[string]*T
}

func writeNested1(w *encoder.Writer, v *apachegen.Nested1) {
	writeNested(w, (*nested[apachegen.OneOfEach])(v), writeOneOfEach)
}

func writeNested2(w *encoder.Writer, v *apachegen.Nested2) {
	writeNested(w, (*nested[apachegen.Nested1])(v), writeNested1)
}

func writeNested3(w *encoder.Writer, v *apachegen.Nested3) {
	writeNested(w, (*nested[apachegen.Nested2])(v), writeNested2)
}

func writeNested4(w *encoder.Writer, v *apachegen.Nested4) {
	writeNested(w, (*nested[apachegen.Nested3])(v), writeNested3)
}

//nolint:errcheck // see writeStruct
func writeNested[T any](w *encoder.Writer, v *nested[T], below func(*encoder.Writer, *T)) {
	const of = thriftpackv1.Type_TYPE_STRUCT
	w.WriteStructBegin()
	w.WriteFieldBegin(1, thriftpackv1.Type_TYPE_LIST)
	w.WriteListBegin(of, len(v.Elements))
	for _, e := range v.Elements {
		below(w, e)
	}
	w.WriteFieldBegin(2, thriftpackv1.Type_TYPE_MAP)
	w.WriteMapBegin(thriftpackv1.Type_TYPE_I32, of, len(v.ByI32))
	for key, e := range v.ByI32 {
		w.WriteI32(key)
		below(w, e)
	}
	w.WriteFieldBegin(3, thriftpackv1.Type_TYPE_MAP)
	w.WriteMapBegin(thriftpackv1.Type_TYPE_I64, of, len(v.ByI64))
	for key, e := range v.ByI64 {
		w.WriteI64(key)
		below(w, e)
	}
	w.WriteFieldBegin(4, thriftpackv1.Type_TYPE_MAP)
	w.WriteMapBegin(thriftpackv1.Type_TYPE_DOUBLE, of, len(v.ByDouble))
	for key, e := range v.ByDouble {
		w.WriteDouble(key)
		below(w, e)
	}
	w.WriteFieldBegin(5, thriftpackv1.Type_TYPE_MAP)
	w.WriteMapBegin(thriftpackv1.Type_TYPE_STRING, of, len(v.ByString))
	for key, e := range v.ByString {
		w.WriteString(key)
		below(w, e)
	}
	w.WriteFieldStop()
	w.WriteStructEnd()
}

//nolint:errcheck // see writeStruct
func writeBulk(w *encoder.Writer, v *apachegen.Bulk, whole bool) {
	list := func(id int16, element thriftpackv1.Type, size int) {
		w.WriteFieldBegin(id, thriftpackv1.Type_TYPE_LIST)
		w.WriteListBegin(element, size)
	}
	w.WriteStructBegin()
	if v.I64s != nil {
		list(1, thriftpackv1.Type_TYPE_I64, len(v.I64s))
		if whole {
			w.WriteI64s(v.I64s)
		} else {
			for _, e := range v.I64s {
				w.WriteI64(e)
			}
		}
	}
	if v.I32s != nil {
		list(2, thriftpackv1.Type_TYPE_I32, len(v.I32s))
		if whole {
			w.WriteI32s(v.I32s)
		} else {
			for _, e := range v.I32s {
				w.WriteI32(e)
			}
		}
	}
	if v.Doubles != nil {
		list(3, thriftpackv1.Type_TYPE_DOUBLE, len(v.Doubles))
		if whole {
			w.WriteDoubles(v.Doubles)
		} else {
			for _, e := range v.Doubles {
				w.WriteDouble(e)
			}
		}
	}
	if v.Strings != nil {
		list(4, thriftpackv1.Type_TYPE_STRING, len(v.Strings))
		if whole {
			w.WriteStrings(v.Strings)
		} else {
			for _, e := range v.Strings {
				w.WriteString(e)
			}
		}
	}
	if v.Records != nil {
		list(5, thriftpackv1.Type_TYPE_STRUCT, len(v.Records))
		for _, e := range v.Records {
			writeRecord(w, e)
		}
	}
	if v.Counts != nil {
		w.WriteFieldBegin(6, thriftpackv1.Type_TYPE_MAP)
		w.WriteMapBegin(thriftpackv1.Type_TYPE_STRING, thriftpackv1.Type_TYPE_I64, len(v.Counts))
		for key, e := range v.Counts {
			w.WriteString(key)
			w.WriteI64(e)
		}
	}
	if v.Blob != nil {
		w.WriteFieldBinary(7, v.Blob)
	}
	w.WriteFieldStop()
	w.WriteStructEnd()
}

//nolint:errcheck // see writeStruct
func writeRecord(w *encoder.Writer, v *apachegen.Record) {
	w.WriteStructBegin()
	w.WriteFieldI32(1, v.Number)
	w.WriteFieldI64(2, v.Time)
	w.WriteFieldDouble(3, v.Measure)
	w.WriteFieldString(4, v.Name)
	w.WriteFieldBool(5, v.Good)
	w.WriteFieldStop()
	w.WriteStructEnd()
}
