package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/bench/profile"
)

func TestNotRun(t *testing.T) {
	ran := []string{"tp-cmp-write-small", "apache-cmp-write-small"}
	for _, scenarios := range []string{"", "all", "tp-cmp-write-small", "*-cmp-write-large, apache-cmp-write-small"} {
		if err := notRun(scenarios, ran); err != nil {
			t.Errorf("%q: %v", scenarios, err)
		}
	}
	err := notRun("tp-cmp-write-small,segmentio-bin-write-small", ran)
	if want := "segmentio-bin-write-small: its family does not do that"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestProfile(t *testing.T) {
	folder := t.TempDir()
	var out strings.Builder
	f := profileFlags{scenarios: "tp-cmp-write-small", duration: 300 * time.Millisecond, functions: 3, folder: folder}
	if err := runProfiles(t.Context(), &out, &f); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "tp-cmp-write-small: ") || !strings.Contains(out.String(), "encoder.") {
		t.Errorf("printed %q, want functions of the encoder", out.String())
	}
	if s, err := profile.ReadFile(filepath.Join(folder, "tp-cmp-write-small.pprof"), 3); err != nil || s.Name != "tp-cmp-write-small" {
		t.Errorf("file: got %+v, %v", s, err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("%d files, %v, want one", len(files), err)
	}
	for _, f := range []profileFlags{{}, {scenarios: "tp-cmp-write-tiny", duration: time.Second, functions: 1}} {
		if err := runProfiles(t.Context(), &out, &f); err == nil {
			t.Errorf("%+v: want an error", f)
		}
	}
}
