// Package reload reads the small files that a process is set up by, and reads them again when they have changed:
// certificates, tokens, policies. What is in them is for its callers to say; it keeps what was last good.
package reload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errNotRegular is a path that leads to something that may never end, or never begin: a pipe, a device, a folder.
var errNotRegular = errors.New("not a regular file")

// ReadFile returns the contents of the regular file at path, which the caller owns. A file of more than limit bytes is refused, and
// so is anything else than a file, unread: opening a pipe would wait for its writer.
func ReadFile(path string, limit int64) ([]byte, error) {
	// Without O_NONBLOCK the open itself waits, before there is a file to ask what it is.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // whoever sets the server up names its files
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	contents, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(contents)) > limit {
		return nil, &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", limit)}
	}
	return contents, nil
}
