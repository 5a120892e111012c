package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Directory reads schemas from a directory:
//
//	NAME.thrift              the schema NAME. It may include other .thrift files beside it, and consists of those that it includes.
//	NAME/                    the schema NAME, of all .thrift files below it. Its root is NAME/NAME.thrift, or the only .thrift
//	                         file directly in it.
//
// What begins with a dot is skipped, so that the folders by which Kubernetes exchanges the files of a ConfigMap are not schemas.
// Links are followed, but not out of the directory. Files that are none, such as pipes, are never opened.
type Directory struct {
	// Path is the directory. It may be a link, which is looked up each time.
	Path string
	// Limits bound what is read.
	Limits DirectoryLimits
}

// DirectoryLimits bounds what is read of a directory. What exceeds them is reported and not served.
type DirectoryLimits struct {
	// Schemas is the most schemas.
	Schemas int
	// Files is the most files of one schema.
	Files int
	// Bytes is the most of the files of one schema, paths included.
	Bytes int
}

// maxEntries bounds the entries that are looked at of one schema that is a folder, and of the directory itself unless it may have more schemas
// than that. maxFolders bounds how deep a folder is looked into.
const (
	maxEntries = 10_000
	maxFolders = 16
)

const extension = ".thrift"

// Found is a schema of a directory, not read yet.
type Found struct {
	// Name is the schema's name, or that of the entry which cannot be one.
	Name string
	// Err says why it cannot be read; nil where it may be.
	Err error
	// Stamp changes when the files do.
	Stamp string

	folder string   // where the files are, from the directory
	root   string   // from the folder
	files  []string // from the folder, sorted
	alone  bool     // the root and what it includes, rather than all
}

// List returns what is in the directory, sorted by name. The error is that of the directory itself.
func (d *Directory) List(ctx context.Context) ([]Found, error) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return nil, errors.New(pathCause(err))
	}
	defer func() { _ = root.Close() }() // it was only read
	l := lister{ctx: ctx, root: root, most: max(maxEntries, d.Limits.Schemas)}
	entries, err := l.entries(".")
	if err != nil {
		return nil, err
	}
	var found []Found
	var single []file
	for _, entry := range entries {
		switch {
		case entry.info != nil && entry.info.IsDir():
			below := lister{ctx: ctx, root: root, most: maxEntries}
			found = append(found, below.folder(entry.name))
		case strings.HasSuffix(entry.name, extension):
			single = append(single, entry)
		}
	}
	stamp, names := stampOf(single), namesOf(single) // shared: each file may include all others
	for _, entry := range single {
		found = append(found, Found{
			Name: strings.TrimSuffix(entry.name, extension), Stamp: stamp, Err: entry.err,
			folder: ".", root: entry.name, files: names, alone: true,
		})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	for i := range found {
		f := &found[i]
		switch {
		case f.Err != nil:
		case !ValidName(f.Name):
			f.Err = errors.New("the name is not 1 to 64 of a-z, 0-9, \".\", \"_\" and \"-\"")
		case i > 0 && found[i-1].Name == f.Name:
			f.Name, f.Err = f.root, errors.New("there is a folder of this name, too")
		case i >= d.Limits.Schemas:
			f.Err = fault.OverLimit(fault.SizeLimit, "number of schemas", "--max-schemas", int64(d.Limits.Schemas), int64(i+1))
		}
	}
	return found, nil
}

// file is an entry of a directory, with the links to it followed.
type file struct {
	name string
	info fs.FileInfo // nil where there is an err
	err  error
}

// lister reads a directory and what is below.
type lister struct {
	ctx  context.Context //nolint:containedctx // that of List
	root *os.Root
	seen int // entries
	most int
}

// entries returns what is in a folder, but for what is hidden.
func (l *lister) entries(folder string) ([]file, error) {
	opened, err := l.root.Open(folder)
	if err != nil {
		return nil, errors.New(pathCause(err))
	}
	defer func() { _ = opened.Close() }() // it was only read
	names, err := opened.Readdirnames(l.most + 1 - l.seen)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(pathCause(err))
	}
	if l.seen += len(names); l.seen > l.most {
		return nil, fmt.Errorf("more than %d entries", l.most)
	}
	slices.Sort(names)
	var found []file
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			continue
		}
		if l.ctx.Err() != nil {
			return nil, l.ctx.Err()
		}
		info, err := l.root.Stat(path.Join(folder, name))
		switch {
		case err != nil && strings.HasSuffix(name, extension):
			found = append(found, file{name: name, err: errors.New(pathCause(err))})
		case err != nil: // nothing of ours
		case !info.IsDir() && !info.Mode().IsRegular() && strings.HasSuffix(name, extension):
			found = append(found, file{name: name, err: errors.New("not a regular file")})
		default:
			found = append(found, file{name: name, info: info})
		}
	}
	return found, nil
}

// folder looks at a schema that is a folder.
func (l *lister) folder(name string) Found {
	found := Found{Name: name, folder: name}
	var files []file
	if found.Err = l.below(name, "", 1, &files); found.Err != nil {
		return found
	}
	found.Stamp, found.files = stampOf(files), namesOf(files)
	var direct []string
	for _, f := range files {
		if f.err != nil {
			found.Err = fmt.Errorf("%s: %w", f.name, f.err)
			return found
		}
		if !strings.Contains(f.name, "/") {
			direct = append(direct, f.name)
		}
	}
	switch {
	case slices.Contains(direct, name+extension):
		found.root = name + extension
	case len(direct) == 1:
		found.root = direct[0]
	default:
		found.Err = fmt.Errorf("which of its %d files is the root? Name it %s", len(direct), name+extension)
	}
	return found
}

// below adds the .thrift files below a folder, by their path from there.
func (l *lister) below(folder, prefix string, depth int, files *[]file) error {
	if depth > maxFolders {
		return fmt.Errorf("folders are nested more than %d deep", maxFolders)
	}
	entries, err := l.entries(path.Join(folder, prefix))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		entry.name = path.Join(prefix, entry.name)
		if entry.info != nil && entry.info.IsDir() {
			if err := l.below(folder, entry.name, depth+1, files); err != nil {
				return err
			}
		} else if strings.HasSuffix(entry.name, extension) {
			*files = append(*files, entry)
		}
	}
	return nil
}

// namesOf returns the names of files.
func namesOf(files []file) []string {
	names := make([]string, len(files))
	for i := range files {
		names[i] = files[i].name
	}
	return names
}

// stampOf returns what changes when one of the files does: another file in its place, another size or time. It is a digest, since there may
// be thousands of files, and stamps are compared at each look.
func stampOf(files []file) string {
	stamp := sha256.New()
	for _, f := range files {
		if f.info == nil {
			_, _ = fmt.Fprintf(stamp, "%q %v\n", f.name, f.err)
			continue
		}
		_, _ = fmt.Fprintf(stamp, "%q %d %d %d\n", f.name, f.info.Size(), f.info.ModTime().UnixNano(), identityOf(f.info))
	}
	return string(stamp.Sum(nil))
}

// includePattern finds includes. It also finds those that are commented out, which at worst makes a file part of a schema that
// does not need it; what an include means is the compiler's to say.
var includePattern = regexp.MustCompile(`\binclude\s*("[^"\n]*"|'[^'\n]*')`)

// includesOf returns what a file includes.
func includesOf(text string) []string {
	matches := includePattern.FindAllStringSubmatch(text, -1)
	names := make([]string, len(matches))
	for i, match := range matches {
		names[i] = path.Clean(match[1][1 : len(match[1])-1])
	}
	return names
}

// Read returns the sources of a schema that List has found without an error.
func (d *Directory) Read(ctx context.Context, found *Found) (Sources, error) {
	root, err := os.OpenRoot(d.Path)
	if err != nil {
		return Sources{}, errors.New(pathCause(err))
	}
	defer func() { _ = root.Close() }() // it was only read
	sources := Sources{Files: map[string]string{}, Root: found.root}
	if found.alone {
		return sources, d.readAlone(ctx, root, found, sources.Files)
	}
	return sources, d.readAll(ctx, root, found, sources.Files)
}

// readAll reads all files of a folder.
func (d *Directory) readAll(ctx context.Context, root *os.Root, found *Found, files map[string]string) error {
	if len(found.files) > d.Limits.Files {
		return fault.OverLimit(fault.SizeLimit, "number of files", "--max-schema-files", int64(d.Limits.Files), int64(len(found.files)))
	}
	left := d.Limits.Bytes
	for _, name := range found.files {
		if err := d.readInto(ctx, root, found.folder, name, files, &left); err != nil {
			return err
		}
	}
	return nil
}

// readAlone reads a file, and those beside it that it includes.
func (d *Directory) readAlone(ctx context.Context, root *os.Root, found *Found, files map[string]string) error {
	left := d.Limits.Bytes
	for names := []string{found.root}; len(names) > 0; {
		name := names[0]
		names = names[1:]
		_, known := files[name]
		if _, there := slices.BinarySearch(found.files, name); known || !there {
			continue // a file that is not there is the compiler's to name
		}
		if len(files) == d.Limits.Files {
			return fault.OverLimit(fault.SizeLimit, "number of files", "--max-schema-files", int64(d.Limits.Files), int64(len(files)+1))
		}
		if err := d.readInto(ctx, root, found.folder, name, files, &left); err != nil {
			return err
		}
		names = append(names, includesOf(files[name])...)
	}
	return nil
}

// readInto reads a file, which may be larger than when it was listed.
func (d *Directory) readInto(ctx context.Context, root *os.Root, folder, name string, files map[string]string, left *int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := readRegular(root, path.Join(folder, name), *left)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if *left -= len(text) + len(name); *left < 0 {
		return fault.OverLimit(fault.SizeLimit, "bytes of sources: at least", "--max-schema-bytes", int64(d.Limits.Bytes), int64(d.Limits.Bytes-*left))
	}
	files[name] = text
	return nil
}

// readRegular reads a file, at most limit bytes of it and one more.
func readRegular(root *os.Root, name string, limit int) (string, error) {
	// Without waiting: what was a file when it was listed may be a pipe now.
	opened, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", errors.New(pathCause(err))
	}
	defer func() { _ = opened.Close() }() // it was only read
	info, err := opened.Stat()
	if err != nil {
		return "", errors.New(pathCause(err))
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(opened, int64(limit)+1))
	if err != nil {
		return "", errors.New(pathCause(err))
	}
	return string(text), nil
}

// pathCause says what is wrong with a file, without the path that it was asked for by: who reads this knows another one.
func pathCause(err error) string {
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		return inPath.Err.Error()
	}
	return err.Error()
}
