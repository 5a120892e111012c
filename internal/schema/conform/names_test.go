package conform_test

import (
	"errors"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/conform"
)

func TestNamePath(t *testing.T) {
	s := newTypes(t)
	for _, row := range []struct{ typ, path, want string }{
		{"Pair", "", "Pair"},
		{"Pair", "1", "Pair.a"},
		{"Pair", "-7", "Pair.-7"},
		{"All", "-1", "All.minus"},
		{"All", "15[3].2", "All.pairs[3].b"},
		{"All", "16[1].key", "All.byText[1].key"},
		{"All", "25[0].value[2][1].key", "All.deep[0].value[2][1].key"},
		{"All", "21[0].key.1", "All.byPair[0].key.a"},
		{"All", "21[0].value.9.4", "All.byPair[0].value.9.4"},
		{"All", "20[0][5]", "All.grid[0][5]"},
		{"Pairs", "[7].1", "list<Pair>[7].a"},
		{"All", "15[3]….2", "All.pairs[3]….2"},
		{"All", "…15", "All…15"},
		{"All", "70000", "All.70000"},
		{"Pair", "1[99999999999]", "Pair.a[99999999999]"},
	} {
		if got := conform.NamePath(s.of(t, row.typ), row.path); got != row.want {
			t.Errorf("%s of %s: %s, want %s", row.path, row.typ, got, row.want)
		}
	}
	// What package decoder finds itself.
	var d decoder.Decoder
	typ := s.of(t, "All")
	_, err := d.Prepare(unhex(t, "f9 1c 15 80"), &decoder.Options{
		Root: thriftpackv1.Type(conform.RootKind(typ)), Limits: decoder.Limits{Depth: 64, Elements: most, StringBytes: most, Nodes: most},
	})
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatal(err)
	}
	if got, want := conform.NamePath(typ, f.Path), "All.pairs[0].a"; got != want {
		t.Errorf("%s became %s, want %s", f.Path, got, want)
	}
}
