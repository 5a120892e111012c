package registry

import (
	"path/filepath"
	"strings"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
)

func TestPushAndResolve(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first := push(t, r, "a", one)
	if !first.New || first.Compatibility != thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD || first.Revision != first.Schema.Revision {
		t.Errorf("the first push: %+v", first)
	}
	if again := push(t, r, "a", one); again.New || len(again.Changes) != 0 || !again.Created.Equal(first.Created) {
		t.Errorf("the same again: %+v", again)
	}
	second := push(t, r, "a", two)
	if !second.New || len(second.Changes) != 1 || second.Changes[0].Rule != schema.FieldAdded {
		t.Errorf("the second revision: %+v", second)
	}
	wantResolved(t, r, "a", two)
	wantResolved(t, r, "a@"+first.Revision, one)
	wantResolved(t, r, "a@"+second.Revision, two)
	wantResolved(t, r, "a@0123456789abcdef", "")
	wantResolved(t, r, "b", "")

	// The first again is the newest again, and no new revision.
	if back := push(t, r, "a", one); back.New || !back.Created.Equal(first.Created) {
		t.Errorf("the first revision again: %+v", back)
	}
	wantResolved(t, r, "a", one)
	items, err := r.Revisions(t.Context(), "a")
	if err != nil || len(items) != 2 || items[0].Revision != first.Revision || items[1].Revision != second.Revision {
		t.Errorf("Revisions: %+v, %v", items, err)
	}

	for _, ref := range []string{"", "@", "a@", "a@b", "A", "..", "a@" + strings.ToUpper(first.Revision) + "0", "a b", "secret/../x"} {
		_, err := r.Resolve(t.Context(), []byte(ref))
		wantReason(t, err, fault.SchemaNotFound, "not a schema: want a name")
	}
	_, err = r.Push(t.Context(), Push{Name: "A", Sources: files(one)})
	wantReason(t, err, fault.BadOption)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files("struct {")})
	wantReason(t, err, fault.SchemaSyntax)
	wantResolved(t, r, "a", one)
}

// TestWhatIsKept starts anew, as a server does: everything is there, compiled before it says that it has loaded.
func TestWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	r := start(t, reopen(t, path))
	first := push(t, r, "a", one)
	push(t, r, "a", two)
	push(t, r, "b", three)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, path)
	r = start(t, s)
	_, loaded := s.counts()
	wantResolved(t, r, "a", two)
	wantResolved(t, r, "b", three)
	if _, now := s.counts(); loaded != 2 || now != 2 {
		t.Errorf("sources were read %d times to begin with and %d in all, want 2 and 2", loaded, now)
	}
	wantResolved(t, r, "a@"+first.Revision, one)
}

// TestNoStore has schemas that are there from the start, and no others.
func TestNoStore(t *testing.T) {
	fixed, err := schema.Compile("fixed", files(one).Files, "main.thrift", schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, nil, func(c *Config) { c.Fixed = []*schema.Schema{fixed} })
	wantResolved(t, r, "fixed", one)
	wantResolved(t, r, "fixed@"+fixed.Revision, one)
	wantResolved(t, r, "fixed@0123456789abcdef", "")
	wantResolved(t, r, "a", "")
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(one)})
	wantReason(t, err, fault.NoSchemaStore, "--schema-store=none")
	_, err = r.Delete(t.Context(), "fixed")
	wantReason(t, err, fault.NoSchemaStore)
	checked, err := r.Check(t.Context(), "fixed", files(three), thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED)
	if err != nil || checked.Against != fixed || len(checked.Breaking) == 0 {
		t.Errorf("Check: %+v, %v", checked, err)
	}
	if checked, err = r.Check(t.Context(), "", files(three), 0); err != nil || checked.Against != nil {
		t.Errorf("Check of files alone: %+v, %v", checked, err)
	}
	if checked, err = r.Check(t.Context(), "a", files(three), 0); err != nil || checked.Against != nil {
		t.Errorf("Check of a name that is not there: %+v, %v", checked, err)
	}
	_, err = r.Check(t.Context(), "fixed@0123456789abcdef", files(three), 0)
	wantReason(t, err, fault.SchemaNotFound)
}

// TestFixedHidesStored has a name in both places: that of the directory is served, listed, and not to be changed.
func TestFixedHidesStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schemas.db")
	r := start(t, reopen(t, path))
	stored := push(t, r, "a", two)
	push(t, r, "b", two)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	fixed, err := schema.Compile("a", files(one).Files, "main.thrift", schema.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	r = start(t, reopen(t, path), func(c *Config) { c.Fixed = []*schema.Schema{fixed} })
	wantResolved(t, r, "a", one)
	wantResolved(t, r, "a@"+stored.Revision, "")
	wantResolved(t, r, "b", two)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two)})
	wantReason(t, err, fault.SchemaReadOnly, `schema "a" is of the server's --schema-dir`)
	_, err = r.Delete(t.Context(), "a")
	wantReason(t, err, fault.SchemaReadOnly)
	items, _ := r.List("", "", 10)
	if len(items) != 2 || !items[0].ReadOnly || items[0].Revision != fixed.Revision || items[1].ReadOnly || r.Status().Schemas != 2 {
		t.Errorf("List: %+v", items)
	}
}

func TestList(t *testing.T) {
	r := start(t, newStore(t))
	for _, name := range []string{"b", "a.1", "a.2", "c", "a.3"} {
		push(t, r, name, one)
	}
	for _, tt := range []struct {
		prefix, after string
		limit         int
		want          string
		more          bool
	}{
		{"", "", 10, "a.1 a.2 a.3 b c", false},
		{"", "", 5, "a.1 a.2 a.3 b c", false},
		{"", "", 2, "a.1 a.2", true},
		{"", "a.2", 2, "a.3 b", true},
		{"", "a.25", 2, "a.3 b", true},
		{"", "b", 2, "c", false},
		{"", "c", 2, "", false},
		{"a.", "", 2, "a.1 a.2", true},
		{"a.", "a.2", 2, "a.3", false},
		{"d", "", 2, "", false},
	} {
		items, more := r.List(tt.prefix, tt.after, tt.limit)
		var names []string
		for _, item := range items {
			names = append(names, item.Name)
		}
		if got := strings.Join(names, " "); got != tt.want || more != tt.more {
			t.Errorf("List(%q, %q, %d) = %s, %v; want %s, %v", tt.prefix, tt.after, tt.limit, got, more, tt.want, tt.more)
		}
	}
}

func TestResolveAllocatesNothing(t *testing.T) {
	r := start(t, newStore(t))
	pushed := push(t, r, "a", one)
	for _, ref := range [][]byte{[]byte("a"), []byte("a@" + pushed.Revision)} {
		allocations := testing.AllocsPerRun(1000, func() {
			if _, err := r.Resolve(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("Resolve(%s): %v allocations, want none", ref, allocations)
		}
	}
}
