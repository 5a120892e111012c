package idl

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Parse reads the root file and all that it includes, and links them. The files are sources by their path: relative, with
// slashes, without "." and "..". An include is looked for in the folder of the file that has it, in that of the root, and at
// the top. Nothing else is opened.
//
// The error is an Errors. Warnings are there with an error as well as without one. Parse keeps no reference to the map, but
// to the strings in it. It needs time and memory in proportion to the sources, and starts no goroutine.
func Parse(files map[string]string, root string, limits Limits) (*Program, []Warning, error) {
	l := &loader{report: newReporter(limits), files: files, root: root, loaded: make(map[string]*loading)}
	var program *Program
	if l.checkFiles() {
		if l.load(root, Position{}, nil); !l.report.lost && !l.report.full {
			program = l.link()
		}
	}
	if err := l.report.errors(); err != nil {
		return nil, l.report.warned(), err
	}
	l.warnOfUnused()
	return program, l.report.warned(), nil
}

// loader finds the files of a program.
type loader struct {
	report *reporter
	files  map[string]string
	root   string
	spent  budget
	loaded map[string]*loading
	// sources are those loaded, each behind what it includes.
	sources []*source
}

// loading is the state of one file.
type loading struct {
	source *source
	// open says that its includes are being loaded: one that includes it closes a circle.
	open bool
	// depth is how many files the longest chain of includes from it has.
	depth int
}

// checkFiles checks the map of files as such.
func (l *loader) checkFiles() bool {
	limits := &l.report.limits
	if len(l.files) > limits.Files {
		l.report.overLimit(Position{}, fault.SizeLimit, "files", limits.Files, len(l.files))
		return false
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		place := Position{File: quote(name)}
		if size, most := len(l.files[name]), min(limits.FileBytes, largestFile); size > most {
			l.report.overLimit(place, fault.SizeLimit, "bytes of a file", most, size)
		}
		if cause := wrongPath(name); cause != "" {
			l.report.fault(place, fault.SchemaInclude, "this path of a file %s", cause)
		}
		if total += len(l.files[name]); total > limits.TotalBytes {
			l.report.overLimit(Position{}, fault.SizeLimit, "bytes of all files", limits.TotalBytes, total)
		}
		if l.report.full {
			return false
		}
	}
	if _, ok := l.files[l.root]; !ok && !l.report.failed {
		l.report.fault(Position{File: quote(l.root)}, fault.SchemaInclude, "the root is not among the files: %s", l.supplied(l.root))
	}
	return !l.report.failed
}

// longestPath bounds paths, which stand in errors and in every position.
const longestPath = 255

// wrongPath says what is wrong with a file's path, or "".
func wrongPath(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > longestPath:
		return "is too long"
	case name[0] == '/':
		return "is absolute"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' || r == utf8.RuneError }):
		return "has backslashes or what cannot be printed, or is not UTF-8"
	case path.Clean(name) != name, name == ".", name == "..", strings.HasPrefix(name, "../"):
		return `has empty elements, or such as "." and ".."`
	}
	return ""
}

// supplied lists the files that there are, for an error: first those that have the name that is looked for in another folder.
func (l *loader) supplied(wanted string) string {
	const most = 10
	base := path.Base(wanted)
	names := slices.SortedFunc(maps.Keys(l.files), func(a, b string) int {
		switch aIs, bIs := path.Base(a) == base, path.Base(b) == base; {
		case aIs && !bIs:
			return -1
		case bIs && !aIs:
			return 1
		}
		return strings.Compare(a, b)
	})
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	for i := range names {
		names[i] = clip(names[i])
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "there are " + strings.Join(names, ", ") + more
}

// load loads a file and all that it includes, and returns it, or nil where that cannot be. The place is that of the
// include, and the chain has the files that led to it.
func (l *loader) load(name string, place Position, chain []string) *loading {
	chain = append(chain, name)
	if state := l.loaded[name]; state != nil {
		if state.open {
			l.cycle(place, chain)
			return nil
		}
		return state
	}
	if most := l.report.limits.IncludeDepth; len(chain) > most {
		l.report.overLimit(place, fault.DepthLimit, "files on a chain of includes", most, len(chain))
		return nil
	}
	state := &loading{open: true}
	l.loaded[name] = state
	l.report.order[name] = len(l.report.order)
	state.source = parse(l.report, &l.spent, name, l.files[name])
	seen := make(map[*loading]bool, len(state.source.includes))
	names := make(map[string]int, len(state.source.includes))
	for _, inc := range state.source.includes {
		if l.report.full {
			break
		}
		target, ok := l.find(name, inc)
		if !ok {
			continue
		}
		other := l.load(target, inc.place, chain)
		if other == nil || seen[other] {
			continue
		}
		seen[other] = true
		state.depth = max(state.depth, other.depth)
		file := other.source.file
		if names[file.Name]++; names[file.Name] > mostOfOneName {
			l.report.fault(inc.place, fault.SchemaAmbiguous, "more than %d includes are named %s", mostOfOneName, clip(file.Name))
			continue
		}
		state.source.file.Includes = append(state.source.file.Includes, Include{Position: inc.place, File: file})
	}
	state.open = false
	state.depth++
	if most := l.report.limits.IncludeDepth; state.depth > most {
		l.report.overLimit(place, fault.DepthLimit, "files on a chain of includes", most, state.depth)
	}
	l.sources = append(l.sources, state.source)
	return state
}

// find returns the path of the file that an include names. The file system has no part in it.
func (l *loader) find(from string, inc include) (string, bool) {
	refuse := func(format string, args ...any) (string, bool) {
		l.report.fault(inc.place, fault.SchemaInclude, format, args...)
		return "", false
	}
	switch {
	case inc.path == "" || len(inc.path) > longestPath:
		return refuse("this include has a path that is empty or too long")
	case inc.path[0] == '/':
		return refuse("this include is absolute: only the files that were given can be included")
	}
	inside := false
	for _, folder := range [...]string{path.Dir(from), path.Dir(l.root), "."} {
		target := path.Join(folder, inc.path)
		if target == ".." || strings.HasPrefix(target, "../") {
			continue
		}
		inside = true
		if _, ok := l.files[target]; ok {
			return target, true
		}
	}
	if !inside {
		return refuse("this include leads out of the files: only those that were given can be included")
	}
	name := "this include" // a text that cannot be a path may be anything
	if wrongPath(path.Clean(inc.path)) == "" {
		name = clip(inc.path)
	}
	return refuse("%s is not among the files: %s", name, l.supplied(inc.path))
}

// quote returns a path that may be none as errors have it.
func quote(name string) string {
	if wrongPath(path.Clean(name)) != "" {
		return clip(strconv.QuoteToASCII(name))
	}
	return clip(name)
}

// cycle reports a circle of includes, the last of the chain being in it before.
func (l *loader) cycle(place Position, chain []string) {
	const most = 10
	last := chain[len(chain)-1]
	circle := slices.Clone(chain[slices.Index(chain, last):])
	if len(circle) > most {
		circle = append(append(circle[:most-2:most-2], "…"), last)
	}
	for i := range circle {
		circle[i] = clip(circle[i])
	}
	l.report.fault(place, fault.SchemaIncludeCycle, "files include each other: %s", strings.Join(circle, " -> "))
}

// warnOfUnused warns of files that nothing includes.
func (l *loader) warnOfUnused() {
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		if l.loaded[name] == nil {
			l.report.order[name] = len(l.report.order)
			l.report.warn(Position{File: name, Line: 1, Column: 1}, "this file is not included")
		}
	}
}
