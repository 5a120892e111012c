package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// README.md shows this client's call, its reply, and what each byte of it is. All three must stay true.
func TestReadmeShowsThisClient(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}

	var out strings.Builder
	if err := run(t.Context(), serve(t), &out); err != nil {
		t.Fatal(err)
	}
	reply, byName, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if byName != reply {
		t.Errorf("by name the bytes are %s, want %s as without a type", byName, reply)
	}
	if !strings.Contains(readme, "\n    "+reply+"\n") {
		t.Errorf("the server replied %s, which is not in README.md", reply)
	}

	_, code, _ := strings.Cut(readme, "```go\n")
	code, _, found := strings.Cut(code, "```")
	if !found || !strings.Contains(unindent(string(source)), unindent(code)) {
		t.Errorf("README.md shows other code than main.go:\n%s", code)
	}

	rows := regexp.MustCompile("(?m)^\\| `([0-9a-f ]+)` \\|").FindAllStringSubmatch(readme, -1)
	bytes := make([]string, 0, len(rows))
	for _, row := range rows {
		bytes = append(bytes, row[1])
	}
	if got := strings.Join(bytes, " "); got != reply {
		t.Errorf("README.md explains %s, the server replied %s", got, reply)
	}
}

func unindent(code string) string { return regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(code, "") }

// serve runs a server on a free port until the test ends, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	cfg := config.Default()
	cfg.GRPCAddr, cfg.HTTPAddr, cfg.DrainDelay = "127.0.0.1:0", "", 0
	cfg.SchemaStore = "file:" + filepath.Join(t.TempDir(), "schemas.db")
	addr := make(chan string, 1)
	s, err := server.New(cfg, server.WithListening(func(a server.Addresses) { addr <- a.GRPC.String() }))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	select {
	case a := <-addr:
		return a
	case err := <-done:
		done <- err
		t.Fatalf("the server did not start: %v", err)
		return ""
	}
}
