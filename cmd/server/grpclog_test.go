package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/time/rate"
)

func TestGRPCLines(t *testing.T) {
	var log bytes.Buffer
	w := &grpcLines{slog.New(slog.NewJSONHandler(&log, nil)), rate.NewLimiter(0, 3)}
	for range 100 {
		if n, err := w.Write([]byte("ERROR: \"é\" " + strings.Repeat("é", maxGRPCLine) + "\n")); err != nil || n != 2*maxGRPCLine+13 {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 {
		t.Errorf("%d lines, want 3", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) || len(line) > 2*maxGRPCLine {
			t.Errorf("line %q", line)
		}
	}
}
