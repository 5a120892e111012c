package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// source is an input that is read as it is worked on, and counts how far that came.
type source struct {
	io.Reader

	file *os.File // nil for the standard input
	size int64    // -1 where it is not known
	read atomic.Int64
}

// openSource opens the file named by the first argument, or the standard input without one or with "-".
func openSource(s *IO, args []string) (*source, error) {
	if len(args) == 0 || args[0] == "-" {
		if s.InTerminal {
			s.note("reading from the terminal; end with Ctrl-D")
		}
		in := &source{Reader: s.In, size: -1}
		if file, ok := s.In.(*os.File); ok {
			in.size = regularSize(file)
		}
		return in, nil
	}
	file, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	return &source{Reader: file, file: file, size: regularSize(file)}, nil
}

// regularSize returns the size of a regular file, -1 of anything else.
func regularSize(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil || info.Mode().Type() != fs.FileMode(0) {
		return -1
	}
	return info.Size()
}

// Read reads and counts.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.read.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("input: %w", err)
	}
	return n, err
}

// close closes a file; the standard input is not ours.
func (s *source) close() {
	if s.file != nil {
		_ = s.file.Close() // it was only read
	}
}

// errNotCounted is a list whose length nobody knows.
var errNotCounted = errors.New("--list needs --count N, or a regular FILE whose lines can be counted first: Thrift writes the length first")

// countLines counts the lines that have a value, and goes back to the beginning.
func (s *source) countLines(most int) (n int64, err error) {
	if s.file == nil || s.size < 0 {
		return 0, errNotCounted
	}
	lines := newLines(s.file, most)
	for {
		if _, err := lines.next(); err != nil {
			if !errors.Is(err, io.EOF) {
				return 0, err
			}
			_, err = s.file.Seek(0, io.SeekStart)
			return n, err
		}
		n++
	}
}

// lines reads lines that are not empty.
type lines struct {
	reader *bufio.Reader
	most   int
	number int64 // of the last line, the first being 1
	long   []byte
}

// newLines returns the lines of a reader, of at most so many bytes each.
func newLines(r io.Reader, most int) *lines {
	return &lines{reader: bufio.NewReaderSize(r, 64<<10), most: most}
}

// next returns the next line that is not blank; it is valid until the next call. The error is io.EOF at the end.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.whole()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimRight(line, " \t\r\n"); len(line) > 0 {
			return line, nil // with the blanks at its beginning, for the columns in errors
		}
	}
}

// whole returns the next line, of any length up to most.
func (l *lines) whole() ([]byte, error) {
	l.number++
	line, err := l.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) && len(l.long) <= l.most {
			l.long = append(l.long, line...)
			line, err = l.reader.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	switch {
	case len(line) > l.most+1: // and the line break
		return nil, fmt.Errorf("input: line %d is longer than %d bytes (--max-line)", l.number, l.most)
	case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
		return line, nil
	default:
		return nil, err
	}
}

// value returns the value of the next line.
func (l *lines) value() (*thriftpackv1.Value, error) {
	line, err := l.next()
	if err != nil {
		return nil, err
	}
	v, err := parseValue(line, formJSON)
	var wrong *inputError
	switch {
	case errors.As(err, &wrong) && wrong.column != "":
		return nil, fmt.Errorf("line %d, column %s: %s", l.number, wrong.column, wrong.inLine())
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", l.number, err)
	}
	if _, ok := kindOf(v); !ok {
		return nil, fmt.Errorf("line %d: a value without a kind, want one such as {\"i32\": 42}", l.number)
	}
	return v, nil
}
