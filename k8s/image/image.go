package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// labels say what the image is, in the names that the OCI has for it.
func labels(o options) map[string]string {
	all := map[string]string{
		"org.opencontainers.image.title":         "thriftpack",
		"org.opencontainers.image.description":   "A gRPC service that turns values into Apache Thrift compact bytes and back.",
		"org.opencontainers.image.source":        "https://github.com/thriftpack/thriftpack",
		"org.opencontainers.image.documentation": "https://github.com/thriftpack/thriftpack/blob/main/docs/kubernetes.md",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.version":       o.version,
		"org.opencontainers.image.created":       o.created.Format(time.RFC3339),
	}
	if o.revision != "" {
		all["org.opencontainers.image.revision"] = o.revision
	}
	return all
}

// assemble makes the image of one platform.
func assemble(ctx context.Context, o options, p *v1.Platform, s *server) (v1.Image, error) {
	files, err := program(ctx, o, s)
	if err != nil {
		return nil, err
	}
	var layers []v1.Layer
	for _, group := range [][]file{around(), files} {
		l, err := layer(group, o.created)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	plain := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	configured, err := mutate.ConfigFile(plain, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Architecture, Variant: p.Variant, Created: v1.Time{Time: o.created},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: fmt.Sprintf("%d:%d", user, user), Entrypoint: []string{entrypoint}, WorkingDir: "/", Labels: labels(o),
			Env:          []string{"PATH=/usr/local/bin"},
			ExposedPorts: map[string]struct{}{"50051/tcp": {}, "50052/tcp": {}, "8080/tcp": {}},
			StopSignal:   "SIGTERM",
		},
	})
	if err != nil {
		return nil, err
	}
	adds := make([]mutate.Addendum, 0, len(layers))
	for _, l := range layers {
		adds = append(adds, mutate.Addendum{Layer: l, MediaType: types.OCILayer, History: v1.History{
			Created: v1.Time{Time: o.created}, CreatedBy: "thriftpack k8s/image",
		}})
	}
	return mutate.Append(configured, adds...)
}

// listType is the media type of lists of contents.
const listType = "application/spdx+json"

// attach makes the list of contents of an image: an artifact whose subject is the image, so that registries find the one by the other.
func attach(o options, s *server, of v1.Image) (v1.Image, error) {
	digest, err := of.Digest()
	if err != nil {
		return nil, err
	}
	text, err := contents(o, s, digest.String())
	if err != nil {
		return nil, err
	}
	size, err := of.Size()
	if err != nil {
		return nil, err
	}
	artifact := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), listType)
	artifact, err = mutate.Append(artifact, mutate.Addendum{Layer: static.NewLayer(text, listType), MediaType: listType})
	if err != nil {
		return nil, err
	}
	list, ok := mutate.Subject(artifact, v1.Descriptor{MediaType: types.OCIManifestSchema1, Digest: digest, Size: size}).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("the artifact of %s is no image", digest)
	}
	return list, nil
}

var errOccupied = errors.New("there is something else than an OCI layout; it is left as it is")

// clearLayout removes the OCI layout that is in a folder, and nothing else.
func clearLayout(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(folder, "oci-layout")); err != nil {
		return fmt.Errorf("%s: %w", folder, errOccupied)
	}
	return os.RemoveAll(folder)
}

// write writes the image as an OCI layout, in the place of one that is there.
func (i *image) write(folder, tag string) error {
	if err := clearLayout(folder); err != nil {
		return err
	}
	to, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	// The first annotation is the OCI's, the second is what containerd and its clients name an imported image by.
	if err := to.AppendIndex(i.index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "docker.io/library/thriftpack:" + tag,
	})); err != nil {
		return err
	}
	for _, list := range i.lists {
		if err := to.AppendImage(list); err != nil {
			return err
		}
	}
	return nil
}

// push pushes the image to a registry, with the credentials that the user has for it, and the lists of contents with it.
func (i *image) push(ctx context.Context, to string) error {
	reference, err := name.ParseReference(to, name.StrictValidation)
	if err != nil {
		return err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if err := remote.WriteIndex(reference, i.index, options...); err != nil {
		return err
	}
	for _, list := range i.lists {
		digest, err := list.Digest()
		if err != nil {
			return err
		}
		if err := remote.Write(reference.Context().Digest(digest.String()), list, options...); err != nil {
			return err
		}
	}
	return nil
}
