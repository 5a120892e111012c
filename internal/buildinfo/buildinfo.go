// Package buildinfo says which build of thriftpack is running.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by releases: -ldflags "-X github.com/thriftpack/thriftpack/internal/buildinfo.version=v1.2.3".
var version string

// Info is what is known of a build. Members that are not known are empty.
type Info struct {
	// Version is the release, or the module's version, or "devel".
	Version string
	// Revision is the commit, and Time its time in RFC 3339.
	Revision, Time string
	// Modified says that the source had changes that were not committed.
	Modified bool
}

// Read returns what the linker and the Go toolchain noted.
func Read() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return fromBuild(version, build)
}

func fromBuild(release string, build *debug.BuildInfo) Info {
	info := Info{Version: release}
	if info.Version == "" {
		info.Version = strings.Trim(build.Main.Version, "()")
	}
	if info.Version == "" {
		info.Version = "devel"
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Revision = s.Value
		case "vcs.time":
			info.Time = s.Value
		case "vcs.modified":
			info.Modified = s.Value == "true"
		}
	}
	return info
}

// String is one line: "v1.2.3 (revision 0123456789ab of 2026-11-30T12:00:00Z, go1.26.8 linux/amd64)".
func (i Info) String() string {
	var facts []string
	if i.Revision != "" {
		text := "revision " + i.Revision[:min(12, len(i.Revision))]
		if i.Time != "" {
			text += " of " + i.Time
		}
		if i.Modified {
			text += " with changes"
		}
		facts = append(facts, text)
	}
	facts = append(facts, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return i.Version + " (" + strings.Join(facts, ", ") + ")"
}
