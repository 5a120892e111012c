package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// Schema is one revision of a schema, compiled. It is immutable and may be shared.
type Schema struct {
	// Name is the schema's name.
	Name string
	// Revision is what Revision returns for its files.
	Revision string
	// Root is the file whose types are named without an include.
	Root string
	// Files are the sources by their relative path. They must not be changed.
	Files map[string]string
	// Warnings say what was accepted with doubt, each as file:line:column and a sentence.
	Warnings []string
	// Cost is roughly how many bytes of memory the plans take.
	Cost int64

	declared map[string]*declaration
	types    []string // the names in declared, sorted
}

// Type returns the type of a name: "Type" of the root file, "include.Type", "Service.method.args" or
// "Service.method.result" (with an include's name before it, too). Typedefs and enums are types as well.
func (s *Schema) Type(name string) (*Type, bool) {
	d, ok := s.declared[name]
	if !ok {
		return nil, false
	}
	return d.t, true
}

// Types returns the names of all types, sorted. They must not be changed.
func (s *Schema) Types() []string { return s.types }

// Revision returns the address of these files and their root: 16 hex digits of the SHA-256 over the files sorted by path.
// Lengths go in as well, so that no two sets of files read the same.
func Revision(files map[string]string, root string) string {
	h := sha256.New()
	put := func(text string) {
		var size [8]byte
		for i := range size {
			size[i] = byte(len(text) >> (8 * i)) //nolint:gosec // the byte is meant
		}
		h.Write(size[:])
		h.Write([]byte(text))
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		put(path)
		put(files[path])
	}
	put(root)
	return hex.EncodeToString(h.Sum(nil))[:16]
}
