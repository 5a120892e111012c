package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const versionVariable = "github.com/thriftpack/thriftpack/internal/buildinfo.version"

// image is a finished image: an index of one image for each platform, and the list of contents of each.
type image struct {
	index v1.ImageIndex
	lists []v1.Image
}

// server is a built server and what it is made of.
type server struct {
	binary []byte
	info   *debug.BuildInfo
}

// build builds the image for every platform.
func build(ctx context.Context, o options) (*image, error) {
	built := &image{index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for _, platform := range o.platforms {
		p, err := v1.ParsePlatform(platform)
		if err != nil || p.OS == "" || p.Architecture == "" {
			return nil, fmt.Errorf("platform %q: want os/arch, such as linux/amd64", platform)
		}
		s, err := compile(ctx, o, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
		made, err := assemble(ctx, o, p, s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", platform, err)
		}
		built.index = mutate.AppendManifests(built.index, mutate.IndexAddendum{Add: made, Descriptor: v1.Descriptor{Platform: p}})
		list, err := attach(o, s, made)
		if err != nil {
			return nil, fmt.Errorf("%s: list of contents: %w", platform, err)
		}
		built.lists = append(built.lists, list)
	}
	return built, nil
}

// compile builds the server for a platform. Nothing of this machine gets into it: no paths, no state of a repository, no settings of
// the environment.
func compile(ctx context.Context, o options, p *v1.Platform) (*server, error) {
	folder, err := os.MkdirTemp("", "thriftpack-image-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a folder left in the temporary one harms nobody
	binary := filepath.Join(folder, "server")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", //nolint:gosec // the flags are this program's caller's
		"-ldflags", "-s -w -X "+versionVariable+"="+o.version, "-o", binary, "./cmd/server")
	command.Dir = o.source
	command.Env = append(plainEnvironment(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	if text, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	var s server
	if s.info, err = buildinfo.ReadFile(binary); err != nil {
		return nil, err
	}
	s.binary, err = os.ReadFile(binary) //nolint:gosec // the file that was just built
	return &s, err
}

// codeVariables are those that change what the compiler makes: flags, experiments, targets and their levels of instruction sets.
var codeVariables = []string{"GOFLAGS", "GOEXPERIMENT", "GODEBUG", "GOFIPS140", "GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64"}

// plainEnvironment is the environment without codeVariables.
func plainEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(codeVariables, name)
	})
}

var errNoModule = errors.New("the build left no list of modules")

// moduleFolders returns where the modules of the server lie, by path.
func moduleFolders(ctx context.Context, source string) (map[string]string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-mod=readonly", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	command.Dir = source
	command.Env = append(plainEnvironment(), "GOWORK=off")
	text, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	folders := map[string]string{}
	for line := range strings.Lines(string(text)) {
		path, folder, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		folders[path] = folder
	}
	return folders, nil
}
