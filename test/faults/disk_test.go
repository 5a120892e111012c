package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/leaks"
	"github.com/thriftpack/thriftpack/test/process"
)

// TestDiskIsFull keeps schemas on a small disk, fills it, and makes room again. What is known is served all the time.
func TestDiskIsFull(t *testing.T) {
	leaks.Check(t)
	unshare := []string{"unshare", "--user", "--map-root-user", "--mount"}
	if text, err := exec.CommandContext(t.Context(), unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces of users here: %v: %s", err, text)
	}
	folder := t.TempDir()
	s := process.Start(t, append(unshare, "/bin/sh", "-c", `mount -t tmpfs -o size=1m disk "$1" && exec "$0" "--schema-store=file:$1/schemas.db"`, binary, folder)...)
	inside := filepath.Join(fmt.Sprintf("/proc/%d/root", s.Process.Pid), folder)
	conn := dial(t, s.GRPC)
	defer conn.Close()
	schemas := thriftpackv1.NewSchemaServiceClient(conn)

	create := func(name, source string) error {
		_, err := schemas.CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{
			Name: name, Files: map[string]string{"a.thrift": source}, Root: "a.thrift",
		})
		return err
	}
	if err := create("first", "struct S { 1: i32 a }"); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(inside, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}

	large := "struct S { 1: i32 a }\n// " + strings.Repeat("All work and no play. ", 10_000) + "\n"
	err := create("second", large)
	if status.Code(err) != codes.Unavailable || reason(err) != "SCHEMA_STORE_UNAVAILABLE" {
		t.Errorf("a schema for which there is no room: %v (%s), want UNAVAILABLE", err, reason(err))
	}
	reply, err := schemas.GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "first"})
	if err != nil || reply.GetSchema().GetName() != "first" {
		t.Errorf("the schema that is there: %v, %v", reply, err)
	}
	if _, err := schemas.GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "second"}); status.Code(err) != codes.NotFound {
		t.Errorf("the schema that was refused: %v, want NOT_FOUND", err)
	}
	if err := encode(t.Context(), conn); err != nil {
		t.Errorf("a call that needs no disk: %v", err)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if err := create("second", large); err != nil {
		t.Errorf("the same schema when there is room: %v", err)
	}
	if s.Ended() {
		t.Errorf("the server has ended: %v", s.Logs())
	}
}
