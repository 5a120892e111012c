package buildinfo

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestFromBuild(t *testing.T) {
	vcs := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.time", Value: "2026-11-30T12:00:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	tests := []struct {
		name, release string
		build         debug.BuildInfo
		want          string
	}{
		{"nothing known", "", debug.BuildInfo{}, "devel (go"},
		{"built from a folder", "", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel (go"},
		{"installed as a module", "", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3 (go"},
		{"a release", "v2.0.0", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v2.0.0 (go"},
		{
			"a commit with changes", "",
			debug.BuildInfo{Settings: vcs},
			"devel (revision 0123456789ab of 2026-11-30T12:00:00Z with changes, go",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := fromBuild(test.release, &test.build).String(); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want a text that starts with %q", got, test.want)
			}
		})
	}
}
