package registry

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/store"
)

// TestCallsBeforeTheDirectoryIsRead makes calls at once, without waiting for Loaded: they must not be told that there is no such
// schema, which would be final, nor may a push come before the directory that hides it.
func TestCallsBeforeTheDirectoryIsRead(t *testing.T) {
	calls := map[string]func(context.Context, *Registry) error{
		"Resolve": func(ctx context.Context, r *Registry) error {
			_, err := r.Resolve(ctx, []byte("a"))
			return err
		},
		"Get": func(ctx context.Context, r *Registry) error {
			_, _, err := r.Get(ctx, "a")
			return err
		},
		"Push": func(ctx context.Context, r *Registry) error {
			_, err := r.Push(ctx, Push{Name: "a", Sources: files(two)})
			return err
		},
	}
	want := map[string]*fault.Error{"Push": fault.New(fault.SchemaReadOnly, "")}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "a.thrift"), []byte(one), 0o600); err != nil {
				t.Fatal(err)
			}
			r := New(Config{
				Store: newStore(t), Directory: &store.Directory{Path: folder, Limits: store.DirectoryLimits{Schemas: 9, Files: 9, Bytes: 1 << 20}},
				Limits: schema.DefaultLimits(), Compilations: 1, Pushes: 1, Checks: 1, WaitingBytes: 1 << 20, CacheBytes: 64 << 20, Schemas: 9, Revisions: 9,
				Logger: slog.New(slog.DiscardHandler),
			})
			defer func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}()
			err := call(t.Context(), r)
			if expected := want[name]; expected == nil && err != nil || expected != nil && !errors.Is(err, expected) {
				t.Errorf("%s: %v, want %v", name, err, expected)
			}
		})
	}
}
