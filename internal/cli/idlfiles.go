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

// sources are the IDL files of a schema, as the server is given them: by their path from the folder that has them all.
type sources struct {
	files map[string]string
	root  string
}

var errTooMuchIDL = fmt.Errorf("more than %d files or %d bytes are included", mostIDLFiles, mostIDLBytes)

// readIDL reads the file at path and all that it includes: from the folder of the file that has the include, from that of
// path, and from dirs. Only this program looks at the file system; a server resolves includes among the files it is given.
func readIDL(path string, dirs []string) (*sources, error) {
	first, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	folders := []string{filepath.Dir(first)}
	for _, dir := range dirs {
		folder, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	texts := map[string]string{}
	size := 0
	for waiting := []string{first}; len(waiting) > 0; {
		name := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		if _, ok := texts[name]; ok {
			continue
		}
		text, err := readBounded(name, mostIDLBytes-size)
		if err != nil {
			return nil, err
		}
		if texts[name] = text; len(texts) > mostIDLFiles {
			return nil, errTooMuchIDL
		}
		size += len(text)
		for _, found := range includeLine.FindAllStringSubmatch(text, -1) {
			if included, ok := findIDL(found[1]+found[2], append([]string{filepath.Dir(name)}, folders...)); ok {
				waiting = append(waiting, included)
			}
		}
	}
	return relativeTo(texts, first)
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

// findIDL returns the first file of that name in the folders.
func findIDL(name string, folders []string) (string, bool) {
	if name == "" || filepath.IsAbs(name) {
		return "", false
	}
	for _, folder := range folders {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}

var errNoCommonFolder = errors.New("the files that are included have no folder in common")

// relativeTo names files by their path from the innermost folder that has them all.
func relativeTo(texts map[string]string, root string) (*sources, error) {
	base := filepath.Dir(root)
	for name := range texts {
		for !strings.HasPrefix(name, strings.TrimSuffix(base, string(filepath.Separator))+string(filepath.Separator)) {
			up := filepath.Dir(base)
			if up == base {
				return nil, errNoCommonFolder
			}
			base = up
		}
	}
	s := &sources{files: make(map[string]string, len(texts))}
	for name, text := range texts {
		path, err := filepath.Rel(base, name)
		if err != nil {
			return nil, err
		}
		s.files[filepath.ToSlash(path)] = text
		if name == root {
			s.root = filepath.ToSlash(path)
		}
	}
	return s, nil
}
