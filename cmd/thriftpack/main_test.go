package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is the command line client, built once for all tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m)) // TestMain is a main
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "thriftpack-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder left in the temporary one harms nobody
	program = filepath.Join(dir, "thriftpack")
	if text, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil { //nolint:noctx // bounded by the test's own timeout
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, text)
		return 1
	}
	return m.Run()
}

const answer = `{"struct":{"fields":[{"id":1,"i32":42}]}}`

// prepare returns the program with its input, and what will be its stderr.
func prepare(t *testing.T, stdin string, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	cmd = exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), stderr
	return cmd, stderr
}

// mustFail checks for exit code 1 and one line on stderr with the text want.
func mustFail(t *testing.T, cmd *exec.Cmd, err error, stderr, want string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
		t.Errorf("%q: %v, stderr %q; want exit code 1 and one line with %q", cmd.Args[1:], err, stderr, want)
	}
}

// TestPipe passes the output of one process to another: the bytes themselves, since a pipe is no terminal.
func TestPipe(t *testing.T) {
	encode, _ := prepare(t, answer, "encode")
	data, err := encode.Output()
	if err != nil || string(data) != "\x15\x54\x00" {
		t.Fatalf("encode: %x, %v; want 155400", data, err)
	}
	decode, _ := prepare(t, string(data), "decode", "--output=wire")
	wire, err := decode.Output()
	if err != nil {
		t.Fatal(err)
	}
	again, _ := prepare(t, string(wire), "encode", "--input=wire", "--output=hex")
	if text, err := again.Output(); err != nil || string(text) != "155400\n" {
		t.Errorf("encode | decode | encode: %q, %v; want 155400", text, err)
	}
}

func TestBrokenPipe(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	cmd, stderr := prepare(t, answer, "encode", "--stream", "--count=1000000")
	cmd.Stdout = writer
	mustFail(t, cmd, cmd.Run(), stderr.String(), "output: broken pipe")
}

// TestInterrupt ends an endless stream as Ctrl-C does.
func TestInterrupt(t *testing.T) {
	cmd, stderr := prepare(t, answer, "encode", "--stream", "--count=1000000000000")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1<<20)
	if _, err := io.ReadFull(stdout, first); err != nil {
		t.Errorf("the first bytes: %v", err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, stdout); err != nil {
		t.Error(err)
	}
	mustFail(t, cmd, cmd.Wait(), stderr.String(), "CANCELLED: ")
}

func TestFlagErrorIsOneLine(t *testing.T) {
	cmd, stderr := prepare(t, "", "encode", "--no-such-flag")
	mustFail(t, cmd, cmd.Run(), stderr.String(), "unknown flag: --no-such-flag")
}
