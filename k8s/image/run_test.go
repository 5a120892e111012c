package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	spdxjson "github.com/spdx/tools-golang/json"
)

// readSPDX reads a list of contents by SPDX's own library.
func readSPDX(t *testing.T, text []byte) map[string]string {
	t.Helper()
	d, err := spdxjson.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d.SPDXVersion != "SPDX-2.3" || d.CreationInfo.Created != "2023-11-14T22:13:20Z" {
		t.Errorf("the list is %s of %s", d.SPDXVersion, d.CreationInfo.Created)
	}
	ids, packages := map[string]bool{"DOCUMENT": true}, map[string]string{}
	for _, p := range d.Packages {
		ids[string(p.PackageSPDXIdentifier)] = true
		for _, r := range p.PackageExternalReferences {
			packages[r.Locator] = p.PackageName
		}
	}
	for _, r := range d.Relationships {
		if !ids[string(r.RefA.ElementRefID)] || !ids[string(r.RefB.ElementRefID)] {
			t.Errorf("%v %s %v: one of them is not in the list", r.RefA, r.Relationship, r.RefB)
		}
	}
	return packages
}

// checkItRuns runs the server with nothing around it but the image, as the user that the image names.
func checkItRuns(t *testing.T, headers map[string]*tar.Header, contents map[string][]byte) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may change the root folder of a process")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, h := range headers {
		path := filepath.Join(root, filepath.FromSlash(name))
		folder := filepath.Dir(path)
		if h.Typeflag == tar.TypeDir {
			folder = path
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if err := os.WriteFile(path, contents[name], os.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), entrypoint, args...)
		c.Env = []string{"PATH=/usr/local/bin"}
		c.Dir = "/"
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
		return c
	}
	version, err := command("--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(version), "thriftpack server v1.2.3 (") {
		t.Fatalf("--version says %q, %v", version, err)
	}

	server := command("--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0", "--drain-delay=0s")
	logs, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(logs)
	first, err := lines.ReadString('\n')
	var line struct{ Msg, Version string }
	if err != nil || json.Unmarshal([]byte(first), &line) != nil || line.Msg != "serving" || !strings.HasPrefix(line.Version, "v1.2.3") {
		t.Errorf("the first line is %q, %v", first, err)
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("it ends with %v; %s", err, rest)
	}
}

// TestPush pushes to a registry on this machine and asks it for what it has.
func TestPush(t *testing.T) {
	host := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo))))
	defer host.Close()
	to := strings.TrimPrefix(host.URL, "http://") + "/thriftpack:v1.2.3"
	folder := layoutOf(t, filepath.Join("..", ".."), "--push", to)

	local, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := local.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := name.ParseReference(to)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Get(reference, remote.WithContext(t.Context()))
	if err != nil || pushed.Digest != manifest.Manifests[0].Digest {
		t.Fatalf("the registry has %v, %v; want %s", pushed, err, manifest.Manifests[0].Digest)
	}
	image, _ := single(t, folder)
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(reference.Context().Digest(digest.String()), remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	found, err := referrers.IndexManifest()
	if err != nil || len(found.Manifests) != 1 || found.Manifests[0].ArtifactType != listType {
		t.Errorf("what refers to the image is %+v, %v; want its list of contents", found, err)
	}
}

func TestWrongFlags(t *testing.T) {
	occupied := t.TempDir()
	if err := os.WriteFile(filepath.Join(occupied, "thesis.txt"), []byte("years"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		epoch string
		args  []string
		want  string
	}{
		{"a platform without an architecture", "", []string{"--platforms=linux"}, `platform "linux": want os/arch`},
		{"a platform that Go does not know", "", []string{"--platforms=linux/abacus"}, "linux/abacus: go build"},
		{"a time that is none", "noon", nil, `SOURCE_DATE_EPOCH "noon"`},
		{"a flag that does not exist", "", []string{"--docker"}, "not defined: -docker"},
		{"a folder with other files", "", []string{"--output=" + occupied}, "something else than an OCI layout"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("SOURCE_DATE_EPOCH", test.epoch)
			args := append([]string{"--source=../..", "--platforms=linux/amd64", "--output=" + filepath.Join(t.TempDir(), "image")}, test.args...)
			if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("run %q: %v, want %q", args, err, test.want)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(occupied, "thesis.txt")); err != nil {
		t.Errorf("the other files: %v", err)
	}
}
