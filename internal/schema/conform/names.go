package conform

import (
	"strconv"
	"strings"

	"github.com/thriftpack/thriftpack/internal/schema"
)

// NamePath returns the path of a fault that package decoder found in bytes of type t, which is by ids, such as "5[0].2", by names, as
// this package has it: "Batch.spans[0].startTime". From where the bytes do not fit the type, and for fields that it does not have, ids
// stay.
func NamePath(t *schema.Type, path string) string {
	var b strings.Builder
	b.WriteString(t.Name)
	for path != "" {
		s, rest, ok := cutStep(path)
		if !ok {
			if path[0] == '-' || path[0] >= '0' && path[0] <= '9' {
				b.WriteByte('.')
			}
			b.WriteString(path) // such as the middle of a long one, which is left out
			break
		}
		var name string
		t, name = into(t, s)
		b.WriteString(name)
		path = rest
	}
	return b.String()
}

// cutStep reads the first step of a path by ids.
func cutStep(path string) (s step, rest string, ok bool) {
	path = strings.TrimPrefix(path, ".")
	if inner, found := strings.CutPrefix(path, "["); found {
		digits, rest, _ := strings.Cut(inner, "]")
		index, err := strconv.ParseInt(digits, 10, 32)
		s = step{kind: stepElement, index: int32(index)}
		for kind, word := range map[stepKind]string{stepKey: ".key", stepValue: ".value"} {
			if after, found := strings.CutPrefix(rest, word); found {
				s.kind, rest = kind, after
			}
		}
		return s, rest, err == nil
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	id, err := strconv.ParseInt(path[:end], 10, 16)
	return step{kind: stepField, id: int16(id)}, path[end:], err == nil
}
