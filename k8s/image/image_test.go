package main

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// epoch is the time of the images of these tests.
const epoch = "1700000000"

// layoutOf builds an image of a source and returns its folder.
func layoutOf(t *testing.T, source string, args ...string) string {
	t.Helper()
	t.Setenv("SOURCE_DATE_EPOCH", epoch)
	output := filepath.Join(t.TempDir(), "image")
	args = append([]string{
		"--source", source, "--output", output, "--platforms", "linux/" + runtime.GOARCH, "--version", "v1.2.3", "--revision", "0123abc",
	}, args...)
	var said bytes.Buffer
	if err := run(t.Context(), args, &said); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "v1.2.3 (linux/"+runtime.GOARCH+") in "+output+": sha256:") {
		t.Errorf("it says %q", said.String())
	}
	return output
}

// single returns the one image and the one list of contents of a layout.
func single(t *testing.T, folder string) (image, list v1.Image) {
	t.Helper()
	root, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := root.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Fatalf("the layout has %v, %v; want an image and its list of contents", manifest, err)
	}
	index, err := root.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the image is not valid: %v", err)
	}
	platforms, err := index.IndexManifest()
	if err != nil || len(platforms.Manifests) != 1 {
		t.Fatalf("the image has platforms %v, %v; want one", platforms, err)
	}
	if got := platforms.Manifests[0].Platform.String(); got != "linux/"+runtime.GOARCH {
		t.Errorf("the platform is %s", got)
	}
	if image, err = index.Image(platforms.Manifests[0].Digest); err != nil {
		t.Fatal(err)
	}
	if list, err = root.Image(manifest.Manifests[1].Digest); err != nil {
		t.Fatal(err)
	}
	return image, list
}

// What the server is built of.
var (
	sourceFiles   = []string{"go.mod", "go.sum", "LICENSE"}
	sourceFolders = []string{"api", "internal", "cmd/server"}
)

// copySource copies what the server is built of to another folder.
func copySource(t *testing.T) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "elsewhere", "source")
	for _, name := range sourceFiles {
		contents, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(to, name), contents, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range sourceFolders {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join("..", "..", name))); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// digests returns the contents of every file of a folder, by name.
func digests(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		contents, err := os.ReadFile(filepath.Join(folder, name))
		all[name] = string(contents)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTwoBuildsAreBitForBitTheSame builds once more from another folder, with other folders for temporary files, and with an environment
// that would change the code.
func TestTwoBuildsAreBitForBitTheSame(t *testing.T) {
	first := digests(t, layoutOf(t, filepath.Join("..", "..")))
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("GOFLAGS", "-gcflags=-N")
	t.Setenv("GOAMD64", "v3")
	second := digests(t, layoutOf(t, copySource(t)))
	if len(first) != len(second) || len(first) < 7 {
		t.Errorf("%d files, and %d of the second build", len(first), len(second))
	}
	for name, contents := range first {
		if second[name] != contents {
			t.Errorf("%s differs", name)
		}
	}
	third := digests(t, layoutOf(t, filepath.Join("..", ".."), "--version", "v1.2.3", "--tag", "other"))
	if third["index.json"] == first["index.json"] {
		t.Error("an image of another name has the same index: are the files compared at all?")
	}
}

// TestImage looks at one image from all sides.
func TestImage(t *testing.T) {
	image, list := single(t, layoutOf(t, filepath.Join("..", "..")))
	headers, contents := entries(t, image)
	t.Run("configuration", func(t *testing.T) { checkConfiguration(t, image) })
	t.Run("files", func(t *testing.T) { checkFiles(t, headers, contents) })
	t.Run("list of contents", func(t *testing.T) { checkList(t, contents, listed(t, image, list)) })
	t.Run("Dockerfile", func(t *testing.T) { checkDockerfile(t, image, contents) })
	t.Run("it runs", func(t *testing.T) { checkItRuns(t, headers, contents) })
}

func checkConfiguration(t *testing.T, image v1.Image) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{entrypoint}) || c.WorkingDir != "/" || len(c.Cmd) > 0 || len(c.Volumes) > 0 {
		t.Errorf("the configuration is %+v", c)
	}
	if config.OS != "linux" || config.Architecture != runtime.GOARCH || !config.Created.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("it is for %s/%s, of %s", config.OS, config.Architecture, config.Created)
	}
	for name, want := range map[string]string{
		"title": "thriftpack", "version": "v1.2.3", "revision": "0123abc", "created": "2023-11-14T22:13:20Z", "licenses": "Apache-2.0",
		"source": "https://github.com/thriftpack/thriftpack",
	} {
		if got := c.Labels["org.opencontainers.image."+name]; got != want {
			t.Errorf("label %s is %q, want %q", name, got, want)
		}
	}
}

// entries returns the files of an image, as they lie over each other, with their headers.
func entries(t *testing.T, image v1.Image) (headers map[string]*tar.Header, contents map[string][]byte) {
	t.Helper()
	headers, contents = map[string]*tar.Header{}, map[string][]byte{}
	flat := mutate.Extract(image)
	defer flat.Close()
	r := tar.NewReader(flat)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(h.Name, "/")
		headers[name] = h
		if contents[name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func checkFiles(t *testing.T, headers map[string]*tar.Header, contents map[string][]byte) {
	t.Helper()
	for name, h := range headers {
		if h.Uid != 0 || h.Gid != 0 || !h.ModTime.Equal(time.Unix(1700000000, 0)) {
			t.Errorf("%s belongs to %d:%d and is of %s", name, h.Uid, h.Gid, h.ModTime)
		}
		if h.Mode&0o6000 != 0 || h.Mode&0o022 != 0 && name != "tmp" {
			t.Errorf("%s has mode %04o: somebody may change it, or become somebody else by it", name, h.Mode)
		}
		if h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir {
			t.Errorf("%s is neither a file nor a folder", name)
		}
	}
	if headers["tmp"] == nil || headers["tmp"].Mode != 0o1777 {
		t.Error("/tmp is not there for everyone")
	}
	for _, line := range []string{"root:x:0:0:", "thriftpack:x:65532:65532:"} {
		if !strings.Contains(string(contents["etc/passwd"]), line) {
			t.Errorf("/etc/passwd has no line %q", line)
		}
	}
	binary, err := elf.NewFile(bytes.NewReader(contents[strings.TrimPrefix(entrypoint, "/")]))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the server is not static: it asks for an interpreter")
		}
	}
	known := 0
	for rest := contents["etc/ssl/certs/ca-certificates.crt"]; ; known++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
	}
	if known < 50 {
		t.Errorf("%d authorities, want all of Mozilla's", known)
	}
}

// checkList asks the Go tool what is in the server, and wants each module to be described and to have its licence there.
func checkList(t *testing.T, contents map[string][]byte, described map[string]string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(binary, contents[strings.TrimPrefix(entrypoint, "/")], 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"CGO_ENABLED=0", "-trimpath=true"} {
		if !strings.Contains(string(text), setting) {
			t.Errorf("the server was not built with %s", setting)
		}
	}
	if strings.Contains(string(text), "vcs.") {
		t.Error("the server has the state of a repository in it")
	}
	modules := regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(string(text), -1)
	if len(modules) < 10 || len(described) != len(modules)+3 {
		t.Errorf("%d modules are linked and %d packages described; want three more, for the image, the server and Go", len(modules), len(described))
	}
	for _, m := range modules {
		if described["pkg:golang/"+m[1]+"@"+m[2]] == "" {
			t.Errorf("the list of contents lacks %s %s", m[1], m[2])
		}
		prefix, found := documents+"licenses/"+strings.ReplaceAll(m[1], "/", "_")+"_", false
		for name, text := range contents {
			found = found || strings.HasPrefix(name, prefix) && len(text) > 100
		}
		if !found {
			t.Errorf("no licence of %s", m[1])
		}
	}
}

// listed reads a list of contents and returns the names of its packages by their package URLs.
func listed(t *testing.T, of, list v1.Image) map[string]string {
	t.Helper()
	manifest, err := list.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Subject == nil || manifest.Subject.Digest != digest || manifest.Config.MediaType != listType || len(manifest.Layers) != 1 {
		t.Fatalf("the list of contents is %+v, want one file about %s", manifest, digest)
	}
	layers, err := list.Layers()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return readSPDX(t, text)
}

// checkDockerfile compares what both ways to an image say.
func checkDockerfile(t *testing.T, image v1.Image, files map[string][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	start, err := json.Marshal(c.Entrypoint)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"USER " + c.User, "ENTRYPOINT " + string(start), "WORKDIR " + c.WorkingDir, "STOPSIGNAL " + c.StopSignal, "ENV " + c.Env[0],
		"EXPOSE 50051 50052 8080", versionVariable + "=$VERSION",
		strings.ReplaceAll(string(files["etc/passwd"]), "\n", `\n`), strings.ReplaceAll(string(files["etc/group"]), "\n", `\n`),
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the Dockerfile has no %q", line)
		}
	}
	ignored, err := os.ReadFile(filepath.Join("..", "..", ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(sourceFiles, sourceFolders) {
		if !strings.Contains(string(ignored), "\n!"+name+"\n") {
			t.Errorf(".dockerignore keeps %s from Docker", name)
		}
	}
	if len(c.ExposedPorts) != 3 {
		t.Errorf("the image exposes %v", c.ExposedPorts)
	}
}
