package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// console finds the blocks of a document that show commands with what they print.
var console = regexp.MustCompile("(?s)\n```console\n(.*?\n)```\n")

// shown is a command of a document, and the output that stands below it.
type shown struct{ command, output string }

// commandsOf returns what the console blocks of a document show. A command may have further lines, each after a backslash.
func commandsOf(page string) []shown {
	var all []shown
	for _, block := range console.FindAllStringSubmatch(page, -1) {
		more := false
		for line := range strings.Lines(block[1]) {
			command, isCommand := strings.CutPrefix(line, "$ ")
			switch {
			case isCommand:
				all = append(all, shown{command: command})
			case len(all) > 0 && more:
				all[len(all)-1].command += line
			case len(all) > 0:
				all[len(all)-1].output += line
			}
			more = (isCommand || more) && strings.HasSuffix(line, "\\\n")
		}
	}
	return all
}

// TestDocumentedCommands runs what the documents show of the client, in a shell, in their order, and compares the output, as far
// as some is shown.
func TestDocumentedCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	const address = "127.0.0.1:50051" // that of the documents
	for _, name := range []string{"README.md", "docs/cli.md", "docs/inspect.md"} {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join("..", "..", name))
			if err != nil {
				t.Fatal(err)
			}
			dir := likeAClone(t)
			addr := startServer(t, withStore(t))
			ran := 0
			for _, s := range commandsOf(string(page)) {
				if strings.HasPrefix(s.command, "grpcurl ") {
					continue // another program, which may not be here
				}
				ran++
				got := runShown(t, dir, strings.ReplaceAll(s.command, address, addr))
				if diff := cmp.Diff(strings.TrimSpace(s.output), strings.TrimSpace(got)); diff != "" && s.output != "" {
					t.Errorf("$ %s (-documented +got):\n%s", s.command, diff)
				}
			}
			if ran == 0 {
				t.Error("it shows no command")
			}
		})
	}
}

// runShown runs a command in a shell, in a folder, and returns what a terminal would show.
func runShown(t *testing.T, dir, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-c", command)
	shell.Dir = dir
	shell.Env = append(os.Environ(), roleVariable+"=client")
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("$ %s: %v: %s", command, err, output)
	}
	return string(output)
}

// likeAClone makes a folder in which commands find what they would in a clone of the repository, once it is built.
func likeAClone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"bin/thriftpack": self, "examples": examples} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// batchBytes is a batch of spans as libraries of Apache Thrift in Go, C++ and Python read it, all of them alike.
const batchBytes = "1c1803737663191c18016b15001801760000191c160216011604160018026f702502168080cef2be8faa051614194c" +
	"1801621504310018016c1506460100180164150227000000000000f83f001801781508580200ff000000"

// TestBatchOfSpans decodes such bytes by the schema of the examples, and encodes them again.
func TestBatchOfSpans(t *testing.T) {
	const folder = "../../examples/schemas/"
	want, err := os.ReadFile(folder + "batch.json")
	if err != nil {
		t.Fatal(err)
	}
	typed := []string{"--idl", folder + "tracing.thrift", "--type", "Batch"}
	got := execute(t, batchBytes, append([]string{"decode"}, typed...)...)
	if diff := cmp.Diff(string(want), got.stdout); got.code != 0 || diff != "" {
		t.Errorf("decode: %d, %s (-batch.json +got):\n%s", got.code, got.stderr, diff)
	}
	got = execute(t, string(want), append([]string{"encode", "--output", "hex"}, typed...)...)
	if got.stdout != batchBytes+"\n" {
		t.Errorf("encode: %+v, want %s", got, batchBytes)
	}
	call := fmt.Sprintf("82810109%x1c%s00", "emitBatch", batchBytes)
	typed = []string{"--idl", folder + "tracing.thrift", "--type", "Agent.emitBatch.args", "--message", "--quiet"}
	if got = execute(t, call, append([]string{"decode"}, typed...)...); got.code != 0 || !strings.Contains(got.stdout, `"operation": "op"`) {
		t.Errorf("decode of a call: %+v", got)
	}
}
