package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Bounds on what is read for one schema. A server has lower ones.
const (
	mostIDLFiles = 1000
	mostIDLBytes = 16 << 20
)

// includeLine finds what a file may include. It need not be exact: what is found in a comment is read where it exists, and
// the compiler says what is missing.
var includeLine = regexp.MustCompile(`(?m)^[^\n#]*?\binclude\s*(?:"([^"\n]*)"|'([^'\n]*)')`)

// sources are the IDL files of a schema, as the server is given them: by names under which it finds what they include.
type sources struct {
	files map[string]string
	root  string
}

// idlFile is a file, and the folder of --include that it was found in, directly or from another file there; "" otherwise.
type idlFile struct{ path, folder string }

var errTooMuchIDL = fmt.Errorf("more than %d files or %d bytes are included", mostIDLFiles, mostIDLBytes)

// readIDL reads the file at path and all that it includes: from the folder of the file that has the include, from that of
// path, and from dirs. Only this program looks at the file system; a server resolves includes among the files it is given.
func readIDL(path string, dirs []string) (*sources, error) {
	first, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	root := idlFile{path: first}
	folders := make([]string, 0, len(dirs))
	for _, dir := range dirs {
		folder, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	texts := map[idlFile]string{}
	read := map[string]string{} // by path: a file may be found in more than one way
	size := 0
	for waiting := []idlFile{root}; len(waiting) > 0; {
		file := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if _, ok := texts[file]; ok {
			continue
		}
		text, known := read[file.path]
		if !known {
			if text, err = readBounded(file.path, mostIDLBytes-size); err != nil {
				return nil, err
			}
			if read[file.path] = text; len(read) > mostIDLFiles {
				return nil, errTooMuchIDL
			}
			size += len(text)
		}
		texts[file] = text
		for _, found := range includeLine.FindAllStringSubmatch(text, -1) {
			if included, ok := findIDL(found[1]+found[2], file, filepath.Dir(first), folders); ok {
				waiting = append(waiting, included)
			}
		}
	}
	return named(texts, root)
}

// readBounded reads a file of at most that many bytes.
func readBounded(name string, most int) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", name)
	}
	if info.Size() > int64(most) {
		return "", errTooMuchIDL
	}
	text, err := os.ReadFile(name) //nolint:gosec // the files of whoever runs this
	if err == nil && len(text) > most {
		err = errTooMuchIDL
	}
	return string(text), err
}

// findIDL returns the file that an include of that name in another file stands for.
func findIDL(name string, from idlFile, rootFolder string, folders []string) (idlFile, bool) {
	if filepath.IsAbs(name) || filepath.Ext(name) != ".thrift" { // what somebody else's IDL names must not become a way to read any file
		return idlFile{}, false
	}
	name = filepath.FromSlash(name)
	beside := idlFile{path: filepath.Join(filepath.Dir(from.path), name), folder: from.folder}
	if !below(beside.folder, beside.path) {
		beside.folder = ""
	}
	candidates := []idlFile{beside, {path: filepath.Join(rootFolder, name)}}
	for _, folder := range folders {
		if path := filepath.Join(folder, name); below(folder, path) {
			candidates = append(candidates, idlFile{path: path, folder: folder})
		}
	}
	for _, file := range candidates {
		if info, err := os.Stat(file.path); err == nil && info.Mode().IsRegular() {
			return file, true
		}
	}
	return idlFile{}, false
}

// below reports whether a path leads to something in a folder.
func below(folder, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

var errNoCommonFolder = errors.New("the files that are included have no folder in common")

// named gives the files the names by which a server finds them, since it looks beside the file that includes, beside the root,
// and at the top: what was found in a folder of --include is called by its path from there, all else by its path from the
// innermost folder that has all of that.
func named(texts map[idlFile]string, root idlFile) (*sources, error) {
	base := filepath.Dir(root.path)
	for file := range texts {
		for file.folder == "" && !below(base, file.path) {
			up := filepath.Dir(base)
			if up == base {
				return nil, errNoCommonFolder
			}
			base = up
		}
	}
	s := &sources{files: make(map[string]string, len(texts))}
	for file, text := range texts {
		folder := file.folder
		if folder == "" {
			folder = base
		}
		path, err := filepath.Rel(folder, file.path)
		if err != nil {
			return nil, err
		}
		name := filepath.ToSlash(path)
		if other, ok := s.files[name]; ok && other != text {
			return nil, fmt.Errorf("two different files are included as %s; the folders of --include decide which are", name)
		}
		s.files[name] = text
		if file == root {
			s.root = name
		}
	}
	return s, nil
}
