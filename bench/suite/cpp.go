package suite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/thriftpack/thriftpack/bench/peers"
)

// errMissing says that the C++ peer cannot be built here.
var errMissing = errors.New("missing: it needs g++, libthrift-dev and libboost-dev")

// CPP is the C++ peer: a process that the benchmark has compiled. It is for one goroutine.
type CPP struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// cppFlags are how C++ is compiled where speed counts.
var cppFlags = []string{"-O3", "-DNDEBUG", "-std=c++17"}

// StartCPP compiles the C++ peer into the user's cache, unless that was done before, and starts it. Close must be called.
func StartCPP(ctx context.Context) (*CPP, error) {
	program, err := buildCPP(ctx)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program) //nolint:gosec // we have just built it
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("c++ peer: %w", err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("c++ peer: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("c++ peer: %w", err)
	}
	return &CPP{command: command, in: in, out: bufio.NewReader(out)}, nil
}

// Close ends the process.
func (c *CPP) Close() {
	_ = c.in.Close()
	_ = c.command.Wait()
}

func buildCPP(ctx context.Context) (program string, err error) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return "", errMissing
	}
	test := exec.CommandContext(ctx, compiler, "-E", "-x", "c++", "-include", "thrift/protocol/TCompactProtocol.h", "/dev/null", "-o", "/dev/null") //nolint:gosec // the compiler
	if test.Run() != nil {
		return "", errMissing
	}
	sources, digest, err := peers.Read(peers.CPP, cppFlags)
	if err != nil {
		return "", fmt.Errorf("c++ peer: %w", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("c++ peer: %w", err)
	}
	program = filepath.Join(cache, "thriftpack", "bench", "cpp-"+digest)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	folder, err := os.MkdirTemp("", "thriftpack-cpp-")
	if err != nil {
		return "", fmt.Errorf("c++ peer: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears it otherwise
	args := append(append([]string{}, cppFlags...), "-o", program+".new")
	for name, text := range sources {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return "", fmt.Errorf("c++ peer: %w", err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return "", fmt.Errorf("c++ peer: %w", err)
		}
		if filepath.Ext(name) == ".cpp" {
			args = append(args, file)
		}
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		return "", fmt.Errorf("c++ peer: %w", err)
	}
	build := exec.CommandContext(ctx, compiler, append(args, "-lthrift")...) //nolint:gosec // the compiler
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("c++ peer: %w\n%s", err, text)
	}
	if err := os.Rename(program+".new", program); err != nil {
		return "", fmt.Errorf("c++ peer: %w", err)
	}
	return program, nil
}

// load hands over the struct that the next questions are about, as bytes of a protocol, and checks that it is written in as many.
func (c *CPP) load(name, protocol string, data []byte) error {
	if _, err := fmt.Fprintf(c.in, "load %s %s %d\n", name, protocol, len(data)); err != nil {
		return fmt.Errorf("c++ peer: %w", err)
	}
	if _, err := c.in.Write(data); err != nil {
		return fmt.Errorf("c++ peer: %w", err)
	}
	var size int
	if err := c.answer("ok %d\n", &size); err != nil {
		return err
	}
	if size != len(data) {
		return fmt.Errorf("c++ peer: writes %s in %d bytes, want %d", name, size, len(data))
	}
	return nil
}

// contender does an operation, "write" or "read", of the struct that was loaded last when it runs.
func (c *CPP) contender(operation string) Contender {
	return Contender{Family: cpp, Elsewhere: func(runs int) (Sample, error) {
		if _, err := fmt.Fprintf(c.in, "%s %d\n", operation, runs); err != nil {
			return Sample{}, fmt.Errorf("c++ peer: %w", err)
		}
		var s Sample
		var nanoseconds int64
		err := c.answer("ok %d %d %d\n", &nanoseconds, &s.Objects, &s.Bytes)
		s.CPU = time.Duration(nanoseconds)
		return s, err
	}}
}

func (c *CPP) answer(format string, into ...any) error {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("c++ peer: %w", err)
	}
	if _, err := fmt.Sscanf(line, format, into...); err != nil {
		return fmt.Errorf("c++ peer: it said %q", line)
	}
	return nil
}

// IsMissing tells whether an error of StartCPP only says that the C++ peer cannot be built here.
func IsMissing(err error) bool { return errors.Is(err, errMissing) }
