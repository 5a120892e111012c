package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func markdown(t *testing.T) []string {
	t.Helper()
	return files(t, func(name string) bool { return strings.HasSuffix(name, ".md") })
}

var (
	makeCall   = regexp.MustCompile("(?m)(?:^|[`$(] ?)make ([a-z][a-z0-9-]*)")
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	link       = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	version    = regexp.MustCompile(`v\d+\.\d+\.\d+|@latest`)
)

func TestEveryMakeTargetThatTheDocumentsNameExists(t *testing.T) {
	targets := map[string]bool{}
	for _, match := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[match[1]] = true
	}
	if !targets["help"] {
		t.Fatal("Makefile: no target found")
	}
	named := 0
	for _, name := range append(markdown(t), ".ci/run") {
		for _, match := range makeCall.FindAllStringSubmatch(read(t, name), -1) {
			named++
			if !targets[match[1]] {
				t.Errorf("%s: make %s: there is no such target", name, match[1])
			}
		}
	}
	if named == 0 {
		t.Error("no document names a make target: is the pattern right?")
	}
}

func TestEveryLinkBetweenDocumentsLeadsSomewhere(t *testing.T) {
	found := 0
	for _, name := range markdown(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, name), -1) {
			found++
			to := path.Join(path.Dir(name), match[1])
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s: link to %s: there is no such file", name, match[1])
			}
		}
	}
	if found == 0 {
		t.Error("no document has a link: is the pattern right?")
	}
}

func TestEveryDocumentIsInTheIndex(t *testing.T) {
	for _, name := range markdown(t) {
		folder, file := path.Split(name)
		if folder == "docs/" && file != "README.md" && !strings.Contains(read(t, "docs/README.md"), "]("+file+")") {
			t.Errorf("%s: docs/README.md does not link to it", name)
		}
	}
}

// Versions of tools stand in the variables at the top of the Makefile and nowhere else, so that one line moves each.
func TestToolVersionsStandInOnePlace(t *testing.T) {
	top, rest, _ := strings.Cut(read(t, "Makefile"), "\n\n# What can be set")
	if got := len(version.FindAllString(top, -1)); got < 4 {
		t.Errorf("Makefile: %d versions at the top, want those of at least four tools", got)
	}
	for line := range strings.Lines(rest) {
		if found := version.FindString(line); found != "" {
			t.Errorf("Makefile: %s in %q: make it a variable at the top", found, strings.TrimSpace(line))
		}
	}
	scripts := files(t, func(name string) bool {
		return strings.HasSuffix(name, ".sh") || name == ".ci/run" || name == ".golangci.yml" || strings.HasPrefix(name, "buf.")
	})
	for _, name := range scripts {
		if found := version.FindString(read(t, name)); found != "" {
			t.Errorf("%s: %s: take it from the Makefile", name, found)
		}
	}
}

// A lock file that names where each package came from would send everyone there.
func TestLockFilesNameNoHost(t *testing.T) {
	for _, name := range files(t, func(name string) bool { return path.Base(name) == "package-lock.json" }) {
		if strings.Contains(read(t, name), `"resolved"`) {
			t.Errorf("%s: has \"resolved\" entries; see .npmrc beside it", name)
		}
	}
}
