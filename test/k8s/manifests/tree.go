// Package manifests renders the kustomizations of k8s/ in memory, as kubectl would, and decodes them strictly. What the results must
// be like is for package rules to say; whether a cluster takes them, for package cluster.
package manifests

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Tree is a copy of k8s/ in memory, which callers may change. Paths begin with "/k8s".
type Tree struct{ fs filesys.FileSystem }

// root is the folder k8s/ of the repository, wherever the tests run.
func root() string {
	_, file, _, _ := runtime.Caller(0) //nolint:dogsled // only the file is of interest
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "k8s")
}

// Load copies k8s/ into memory.
func Load() (*Tree, error) {
	t := &Tree{fs: filesys.MakeFsInMemory()}
	from := root()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		contents, err := os.ReadFile(name) //nolint:gosec // files of this repository
		if err != nil {
			return err
		}
		return t.fs.WriteFile(path.Join("/k8s", filepath.ToSlash(relative)), contents)
	})
	return t, err
}

// Write adds or replaces a file.
func (t *Tree) Write(name, contents string) error { return t.fs.WriteFile(name, []byte(contents)) }

// Replace puts a text in the place of another that stands in the file exactly once.
func (t *Tree) Replace(name, before, after string) error {
	contents, err := t.fs.ReadFile(name)
	if err != nil {
		return err
	}
	if n := strings.Count(string(contents), before); n != 1 {
		return fmt.Errorf("%s has %q %d times, want once", name, before, n)
	}
	return t.Write(name, strings.Replace(string(contents), before, after, 1))
}

// Folders returns the paths of the folders of a group that have a kustomization: "overlays", "components" or "examples".
func (t *Tree) Folders(group string) ([]string, error) {
	files, err := t.fs.Glob(path.Join("/k8s", group, "*", "kustomization.yaml"))
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		files[i] = path.Dir(file)
	}
	return files, nil
}

// Render builds the kustomization in a folder and returns the YAML, as `kubectl kustomize` prints it.
func (t *Tree) Render(folder string) ([]byte, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(t.fs, folder)
	if err != nil {
		return nil, fmt.Errorf("kustomize %s: %w", folder, err)
	}
	return built.AsYaml()
}

// Bundle renders a kustomization and decodes it.
func (t *Tree) Bundle(folder string) (*Bundle, error) {
	text, err := t.Render(folder)
	if err != nil {
		return nil, err
	}
	return decode(folder, text)
}

// needs names the components that another one wants before it.
var needs = map[string][]string{"gateway-passthrough": {"mtls"}, "scale-on-streams": {"monitoring"}}

// namespaceInCertificate is what the overlay production says of the names in the certificate.
const namespaceInCertificate = `
replacements:
  - source: {kind: Namespace, fieldPath: metadata.name}
    targets:
      - select: {kind: Certificate, name: thriftpack}
        fieldPaths: [spec.dnsNames.0, spec.dnsNames.1, spec.dnsNames.2, spec.dnsNames.3]
        options: {delimiter: ".", index: 1}
`

// Example writes a kustomization that has the base, one component with those that it needs, and a namespace, as an overlay of a user
// would, and returns its folder.
func (t *Tree) Example(component string) (string, error) {
	folder := path.Join("/k8s", "overlays", "with-"+path.Base(component))
	namespace, err := t.fs.ReadFile("/k8s/overlays/production/namespace.yaml")
	if err != nil {
		return "", err
	}
	if err := t.Write(path.Join(folder, "namespace.yaml"), string(namespace)); err != nil {
		return "", err
	}
	const item = "\n  - ../../components/"
	components := item + strings.Join(slices.Concat(needs[path.Base(component)], []string{path.Base(component)}), item)
	replacements := ""
	if strings.Contains(components, "/mtls") {
		replacements = namespaceInCertificate
	}
	return folder, t.Write(path.Join(folder, "kustomization.yaml"), `
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: thriftpack
resources: [namespace.yaml, ../../base]
components:`+components+replacements)
}

// Bundles renders everything that is shipped: each overlay, each example, and each component on the base.
func (t *Tree) Bundles() ([]*Bundle, error) {
	folders, err := t.Folders("overlays")
	if err != nil {
		return nil, err
	}
	examples, err := t.Folders("examples")
	if err != nil {
		return nil, err
	}
	folders = append(folders, examples...)
	components, err := t.Folders("components")
	if err != nil {
		return nil, err
	}
	for _, component := range components {
		folder, err := t.Example(component)
		if err != nil {
			return nil, err
		}
		folders = append(folders, folder)
	}
	bundles := make([]*Bundle, 0, len(folders))
	for _, folder := range folders {
		b, err := t.Bundle(folder)
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b)
	}
	return bundles, nil
}
