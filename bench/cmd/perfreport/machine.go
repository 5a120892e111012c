package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// versioned are the modules whose versions matter.
var versioned = []string{
	"google.golang.org/grpc", "google.golang.org/protobuf", "github.com/apache/thrift", "github.com/segmentio/encoding",
	"github.com/go-json-experiment/json", "github.com/bytedance/sonic",
}

// machineText says what this is measured on, and when.
func (d *data) machineText() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "- "+fmt.Sprintf(format, args...)) }
	add("%s, %d CPUs, %s memory", field("/proc/cpuinfo", "model name"), runtime.NumCPU(), field("/proc/meminfo", "MemTotal"))
	add("%s, Linux %s", osName(), output("uname", "-r"))
	add("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if slices.Contains(versioned, module.Path) {
				add("%s %s", module.Path, module.Version)
			}
		}
	}
	compiler := output("g++", "-dumpfullversion")
	if compiler != "" {
		add("g++ %s -O3, libthrift %s", compiler, output("dpkg-query", "-W", "-f", "${Version}", "libthrift-dev"))
	}
	if compiler == "" {
		add("no g++: the C++ peer is missing")
	}
	if len(d.machine) == 3 {
		add("measured on %s, commit %s; load average before: %s", d.machine[0], d.machine[1], d.machine[2])
		load, _, _ := strings.Cut(d.machine[2], " ")
		if busy, err := strconv.ParseFloat(load, 64); err == nil && busy > float64(runtime.NumCPU())/2 {
			lines = append(lines, "", "**The machine was busy**: other work wanted its CPUs, so ranges are wide and medians move from run to run, those of calls most.")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func osName() string {
	return strings.Trim(strings.TrimPrefix(grep("/etc/os-release", "PRETTY_NAME="), "PRETTY_NAME="), `"`)
}

// field is the value of the first line of a file that begins with a name and a colon.
func field(file, name string) string {
	_, value, _ := strings.Cut(grep(file, name), ":")
	return strings.TrimSpace(value)
}

func grep(file, prefix string) string {
	in, err := os.Open(file) //nolint:gosec // files of the system
	if err != nil {
		return ""
	}
	defer in.Close() //nolint:errcheck // it was only read
	for scanner := bufio.NewScanner(in); scanner.Scan(); {
		if strings.HasPrefix(scanner.Text(), prefix) {
			return scanner.Text()
		}
	}
	return ""
}

// output is what a program prints, or nothing where it is not there.
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output() //nolint:gosec,noctx // fixed programs that end at once
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
