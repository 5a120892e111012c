package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who the server runs as: a number that Kubernetes can see not to be root, which nobody else has.
const user = 65532

// file is one entry of a layer; a folder where the name ends with a slash.
type file struct {
	name     string
	mode     int64
	owner    int
	contents []byte
}

// around are the files that programs expect: who the user is, where to put temporary files, which authorities to trust.
func around() []file {
	return []file{
		{name: "etc/", mode: 0o755},
		{name: "etc/passwd", mode: 0o644, contents: fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nthriftpack:x:%d:%d:thriftpack:/:/sbin/nologin\n", user, user)},
		{name: "etc/group", mode: 0o644, contents: fmt.Appendf(nil, "root:x:0:\nthriftpack:x:%d:\n", user)},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, contents: authorities()},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/local/", mode: 0o755},
		{name: "usr/local/bin/", mode: 0o755},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/doc/", mode: 0o755},
	}
}

// authorities are Mozilla's, of the version in go.mod, so that they do not depend on this machine. Those that are trusted for a
// part of their certificates only are left out: a file cannot say that.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

const (
	// entrypoint is the server's path in the image.
	entrypoint = "/usr/local/bin/thriftpack-server"
	documents  = "usr/share/doc/thriftpack/"
)

// program are the server and the licences of all that is in it.
func program(ctx context.Context, o options, s *server) ([]file, error) {
	files := []file{
		{name: strings.TrimPrefix(entrypoint, "/"), mode: 0o755, contents: s.binary},
		{name: documents, mode: 0o755},
	}
	licence, err := os.ReadFile(filepath.Join(o.source, "LICENSE"))
	if err != nil {
		return nil, err
	}
	files = append(files, file{name: documents + "LICENSE", mode: 0o644, contents: licence}, file{name: documents + "licenses/", mode: 0o755})

	folders, err := moduleFolders(ctx, o.source)
	if err != nil {
		return nil, err
	}
	others := map[string]string{"go": runtime.GOROOT()} //nolint:staticcheck // the toolchain that built this builds the server, too
	for _, m := range s.info.Deps {
		others[m.Path] = folders[m.Path]
	}
	names := make([]string, 0, len(others))
	for name := range others {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		found, err := licences(name, others[name])
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// licenceNames matches the files that say under which terms a module is there.
var licenceNames = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([._-].*)?$`)

var errNoLicence = errors.New("no licence found")

// licences returns the licences of a module. Where a module is a part of its repository they may be a folder or two above it; then the
// module proxy puts them into the module.
func licences(name, folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", name, err)
	}
	var found []file
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceNames.MatchString(entry.Name()) {
			continue
		}
		contents, err := os.ReadFile(filepath.Join(folder, entry.Name())) //nolint:gosec // a file of the module
		if err != nil {
			return nil, err
		}
		found = append(found, file{name: documents + "licenses/" + strings.ReplaceAll(name, "/", "_") + "_" + entry.Name(), mode: 0o644, contents: contents})
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("module %s: %w", name, errNoLicence)
	}
	return found, nil
}

// layer packs files, all of one time and in their order, into a layer.
func layer(files []file, created time.Time) (v1.Layer, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, f := range files {
		header := &tar.Header{
			Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.contents)),
			ModTime: created, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.contents); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}
