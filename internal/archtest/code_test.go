package archtest

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// Where a file has more than one subject. The guide is 400; a review may allow some more, and tables of tests are long.
const (
	mostLines     = 500
	mostTestLines = 600
)

func TestFilesAreShort(t *testing.T) {
	for _, s := range sources(t) {
		most := mostLines
		if s.test {
			most = mostTestLines
		}
		if lines := strings.Count(s.text, "\n"); !s.generated && lines > most {
			t.Errorf("%s: %d lines, want at most %d: would two names say more than one?", s.name, lines, most)
		}
	}
}

// A word in the code that says it is unfinished is a fault that nobody sees from outside.
func TestNothingIsUnfinishedByItsOwnWords(t *testing.T) {
	words := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}
	texts := files(t, func(name string) bool {
		return !strings.HasSuffix(name, ".sum") && !strings.HasSuffix(name, ".png") && !strings.HasSuffix(name, "package-lock.json")
	})
	for _, name := range texts {
		number := 0
		for line := range strings.Lines(read(t, name)) {
			number++
			for _, word := range words {
				// mktemp templates are runs of the letter X.
				if strings.Contains(line, word) && !strings.Contains(line, "XXXX") {
					t.Errorf("%s:%d: %s: do it, or open an issue", name, number, word)
				}
			}
		}
	}
}

// Functions that run before main hide what a program does, and fill registries that all tests of a process share.
func TestNothingRunsBeforeMain(t *testing.T) {
	for _, s := range sources(t) {
		if s.generated || s.test {
			continue
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init: call it from where it is needed", s.position(f))
			}
		}
	}
}

// The linter sees to the comments of exported declarations. This sees to what stands inside them: the fields of structs and
// the methods of interfaces are just as much what others read first. Where no member has a comment, that of the type
// speaks for all.
func TestMembersAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.generated || s.test || s.module != "" {
			continue
		}
		for _, decl := range s.file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
					checkMembers(t, &s, named)
				}
			}
		}
	}
}

func checkMembers(t *testing.T, s *source, named *ast.TypeSpec) {
	t.Helper()
	var members *ast.FieldList
	switch of := named.Type.(type) {
	case *ast.StructType:
		members = of.Fields
	case *ast.InterfaceType:
		members = of.Methods
	default:
		return
	}
	// One comment may speak for the members that directly follow each other on the next lines.
	var bare []string
	documented, lastLine, comments := false, 0, 0
	for _, member := range members.List {
		line := s.fset.Position(member.Pos()).Line
		own := member.Doc != nil || member.Comment != nil
		if own {
			comments++
		}
		documented = own || documented && line == lastLine+1
		lastLine = s.fset.Position(member.End()).Line
		for _, name := range member.Names {
			if name.IsExported() && !documented {
				bare = append(bare, s.position(name)+": "+named.Name.Name+"."+name.Name)
			}
		}
	}
	if comments == 0 {
		return
	}
	for _, name := range bare {
		t.Errorf("%s has no comment", name)
	}
}
