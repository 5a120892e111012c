package registry

import (
	"errors"
	"testing"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

func TestPolicies(t *testing.T) {
	const (
		none     = thriftpackv1.Compatibility_COMPATIBILITY_NONE
		backward = thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD
		forward  = thriftpackv1.Compatibility_COMPATIBILITY_FORWARD
		full     = thriftpackv1.Compatibility_COMPATIBILITY_FULL
		asIs     = thriftpackv1.Compatibility_COMPATIBILITY_UNSPECIFIED
	)
	const (
		less = "struct S { }"
		must = "struct S { 1: required i32 a }"
	)
	for _, tt := range []struct {
		name         string
		policy       thriftpackv1.Compatibility // of the first push
		older, newer string
		then         thriftpackv1.Compatibility // of the second
		ok           bool
		ends         thriftpackv1.Compatibility
	}{
		{"nothing said is backward: a new required field", asIs, less, must, asIs, false, backward},
		{"nothing said is backward: a required field gone", asIs, must, less, asIs, true, backward},
		{"backward", backward, less, must, asIs, false, backward},
		{"forward: a new required field", forward, less, must, asIs, true, forward},
		{"forward: a required field gone", forward, must, less, asIs, false, forward},
		{"full: a new required field", full, less, must, asIs, false, full},
		{"full: a required field gone", full, must, less, asIs, false, full},
		{"backward: another name", backward, one, "struct S { 1: i32 b }", asIs, true, backward},
		{"full: another name", full, one, "struct S { 1: i32 b }", asIs, false, full},
		{"full: an optional field", full, one, two, asIs, true, full},
		{"full: a new name", full, "struct S { 1: i32 a }", "struct S { 1: i32 b }", asIs, false, full},
		{"backward: a new name", backward, "struct S { 1: i32 a }", "struct S { 1: i32 b }", asIs, true, backward},
		{"none: another type", none, one, three, asIs, true, none},
		{"a policy that is changed by the push which needs it", full, one, three, none, true, none},
		{"a policy that is changed by a push which does not meet it", none, one, three, full, false, none},
		{"a policy that is changed without another revision", none, one, one, full, true, full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, newStore(t))
			first, err := r.Push(t.Context(), Push{Name: "a", Sources: files(tt.older), Compatibility: tt.policy})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(tt.newer), Compatibility: tt.then})
			checked, errCheck := r.Check(t.Context(), "a@"+first.Revision, files(tt.newer), tt.then)
			if errCheck != nil {
				t.Fatal(errCheck)
			}
			if tt.ok && err != nil {
				t.Errorf("the second push: %v", err)
			}
			newest := tt.newer
			if !tt.ok {
				newest = tt.older
				wantReason(t, err, fault.SchemaIncompatible, `schema "a": not `+
					policyWord(policyOf(tt.then, &store.Record{Compatibility: tt.ends, Revisions: []store.Revision{{}}}))+
					" compatible with revision "+first.Revision+": breaking changes: 1, the first: S.a: ")
				var incompatible *IncompatibleError
				if !errors.As(err, &incompatible) || len(incompatible.Changes) != 1 {
					t.Errorf("changes that break it: %v", err)
				}
			}
			if got := len(checked.Breaking) == 0; got != tt.ok && tt.older != tt.newer {
				t.Errorf("Check says %v, the push %v", got, tt.ok)
			}
			wantResolved(t, r, "a", newest)
			if _, item, err := r.Get(t.Context(), "a"); err != nil || item.Compatibility != tt.ends {
				t.Errorf("the policy is %v, %v; want %v", item.Compatibility, err, tt.ends)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	s := newStore(t)
	r := start(t, s)
	first, second := push(t, r, "a", one), push(t, r, "a", two)
	push(t, r, "b", one)
	removed := func(ref string, want int) {
		t.Helper()
		if got, err := r.Delete(t.Context(), ref); err != nil || got != want {
			t.Errorf("Delete(%s) = %d, %v; want %d", ref, got, err, want)
		}
	}
	held, err := r.Resolve(t.Context(), []byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	removed("a@"+second.Revision, 1)
	wantResolved(t, r, "a", one)
	wantResolved(t, r, "a@"+second.Revision, "")
	if _, ok := held.Type("S"); !ok {
		t.Error("a schema that was found before it was deleted has lost its types")
	}
	removed("a@"+first.Revision, 1)
	wantResolved(t, r, "a", "")
	for _, ref := range []string{"a", "a@" + first.Revision, "b@" + second.Revision, "c"} {
		_, err := r.Delete(t.Context(), ref)
		wantReason(t, err, fault.SchemaNotFound)
	}
	if again := push(t, r, "a", one); !again.New {
		t.Error("a revision that was deleted is not new")
	}
	push(t, r, "a", two)
	removed("a", 2)
	wantResolved(t, r, "a", "")
	wantResolved(t, r, "b", one)
	if items, more := r.List("", "", 10); len(items) != 1 || more {
		t.Errorf("List: %+v, %v; want b alone", items, more)
	}
}

func TestLimits(t *testing.T) {
	r := start(t, newStore(t), func(c *Config) { c.Schemas, c.Revisions = 2, 2 })
	push(t, r, "a", one)
	push(t, r, "b", one)
	_, err := r.Push(t.Context(), Push{Name: "c", Sources: files(one)})
	wantReason(t, err, fault.SizeLimit, "number of schemas: 3 exceeds the limit of 2 (--max-schemas; delete some)")
	push(t, r, "a", two)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two + "\n")})
	wantReason(t, err, fault.SizeLimit, "revisions of the schema: 3 exceeds the limit of 2 (--max-schema-revisions; delete some)")
	push(t, r, "a", one) // is there already
	if _, err := r.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	push(t, r, "c", one)

	cost := r.cache.entries["c@"+push(t, r, "c", one).Revision].cost
	r = start(t, newStore(t), func(c *Config) { c.CacheBytes = cost })
	push(t, r, "a", one)
	_, err = r.Push(t.Context(), Push{Name: "a", Sources: files(two)})
	wantReason(t, err, fault.SizeLimit, "(what --schema-dir leaves of --schema-cache-bytes)")
}
