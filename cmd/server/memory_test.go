package main

import (
	"testing"
	"testing/fstest"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/stream"
)

func TestCgroupLimit(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no cgroups", nil, 0},
		{"version 2 in a container", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20},
		{"version 2 without a limit", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 0},
		{"version 2, the limit of the slice above is smaller", map[string]string{
			"proc/self/cgroup":                           "0::/a.slice/b.service\n",
			"sys/fs/cgroup/a.slice/memory.max":           "1048576\n",
			"sys/fs/cgroup/a.slice/b.service/memory.max": "2097152\n",
		}, 1 << 20},
		{"version 2, the host's path in a container", map[string]string{
			"proc/self/cgroup": "0::/kubepods/pod7/3a\n", "sys/fs/cgroup/memory.max": "1073741824\n",
		}, 1 << 30},
		{"version 1", map[string]string{
			"proc/self/cgroup": "11:cpu,cpuacct:/\n9:memory:/docker/3a\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		{"version 1 without a limit", map[string]string{
			"proc/self/cgroup": "9:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 0},
		{"a path that climbs", map[string]string{
			"proc/self/cgroup": "0::/../../etc\n", "sys/fs/cgroup/memory.max": "1024\n",
		}, 1024},
		{"nonsense", map[string]string{"proc/self/cgroup": "what\n"}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range test.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := cgroupLimit(root); got != test.want {
				t.Errorf("cgroupLimit = %d, want %d", got, test.want)
			}
		})
	}
}

// TestLargestChunk keeps the estimate of --check-config true to what streams are allowed.
func TestLargestChunk(t *testing.T) {
	if config.LargestChunk != stream.MaxChunkSize {
		t.Errorf("config.LargestChunk = %d, stream.MaxChunkSize = %d, want the same", config.LargestChunk, stream.MaxChunkSize)
	}
}

func TestChooseMemoryLimit(t *testing.T) {
	root := fstest.MapFS{
		"proc/self/cgroup":         {Data: []byte("0::/\n")},
		"sys/fs/cgroup/memory.max": {Data: []byte("1000\n")},
	}
	t.Setenv("GOMEMLIMIT", "")
	tests := []struct {
		name       string
		configured int64
		root       fstest.MapFS
		want       memoryLimit
	}{
		{"configured", 5000, root, memoryLimit{bytes: 5000, from: "memory-limit", set: true}},
		{"nine tenths of the cgroup's", 0, root, memoryLimit{bytes: 900, from: "cgroup", set: true}},
		{"none at all", 0, fstest.MapFS{}, memoryLimit{from: "none"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := chooseMemoryLimit(test.configured, test.root); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
	t.Run("the environment's is left alone", func(t *testing.T) {
		t.Setenv("GOMEMLIMIT", "1GiB")
		if got := chooseMemoryLimit(0, root); got.set || got.from != "GOMEMLIMIT" {
			t.Errorf("got %+v, want one from GOMEMLIMIT that is not set again", got)
		}
	})
}
