package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryLimit is the Go runtime's soft limit.
type memoryLimit struct {
	// bytes is the limit, 0 for none.
	bytes int64
	// from says where it comes from: "memory-limit", "GOMEMLIMIT", "cgroup" or "none".
	from string
	// set says that the runtime does not have it yet.
	set bool
}

// chooseMemoryLimit takes the configured limit, else GOMEMLIMIT, which the runtime has read already, else 90 % of what the
// cgroup allows: the rest is for what the runtime does not count, such as the binary and the kernel's buffers.
func chooseMemoryLimit(configured int64, root fs.FS) memoryLimit {
	if configured > 0 {
		return memoryLimit{bytes: configured, from: "memory-limit", set: true}
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		current := debug.SetMemoryLimit(-1) // a negative limit only asks
		if current == math.MaxInt64 {
			current = 0
		}
		return memoryLimit{bytes: current, from: "GOMEMLIMIT"}
	}
	if limit := cgroupLimit(root); limit > 0 {
		return memoryLimit{bytes: limit / 10 * 9, from: "cgroup", set: true}
	}
	return memoryLimit{from: "none"}
}

// unlimited is above what any cgroup is limited to; version 1 writes "none" as the largest multiple of a page.
const unlimited = 1 << 60

// cgroupLimit returns the smallest memory limit of the process's cgroup and those that hold it, in bytes, 0 for none. It
// reads /proc/self/cgroup and /sys/fs/cgroup below root, of version 2 and of version 1.
func cgroupLimit(root fs.FS) int64 {
	table, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	smallest := int64(0)
	for line := range strings.Lines(string(table)) {
		// hierarchy:controllers:path, such as "0::/kubepods/pod7" (version 2) or "9:memory:/docker/3a" (version 1)
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var mount, file string
		switch {
		case parts[0] == "0" && parts[1] == "":
			mount, file = "sys/fs/cgroup", "memory.max"
		case hasController(parts[1], "memory"):
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// The path is the host's where the container has no cgroup namespace; its own files are then at the mount itself,
		// which the walk upwards reaches.
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if limit := readLimit(root, path.Join(mount, dir, file)); limit > 0 && (smallest == 0 || limit < smallest) {
				smallest = limit
			}
			if dir == "/" {
				break
			}
		}
	}
	return smallest
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

func readLimit(root fs.FS, name string) int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number
	if err != nil || n >= unlimited {
		return 0
	}
	return n
}
