package cli

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode"

	"google.golang.org/grpc"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// hostileSchemas is a server of schemas whose list never ends, and whose sources have commands to terminals.
type hostileSchemas struct {
	thriftpackv1.UnimplementedSchemaServiceServer
}

const hostileSource = "// a\x1b[2J\u202e\r\nstruct S {\n\t1: i32 a // \xff\n}\n"

func (hostileSchemas) ListSchemas(context.Context, *thriftpackv1.ListSchemasRequest) (*thriftpackv1.ListSchemasResponse, error) {
	return &thriftpackv1.ListSchemasResponse{Schemas: []*thriftpackv1.Schema{{Name: "a"}}, NextPageToken: "more"}, nil
}

func (hostileSchemas) GetSchema(context.Context, *thriftpackv1.GetSchemaRequest) (*thriftpackv1.GetSchemaResponse, error) {
	// Strings of protobuf are UTF-8.
	return &thriftpackv1.GetSchemaResponse{Schema: &thriftpackv1.Schema{
		Name: "a", Files: map[string]string{"a.thrift": strings.ToValidUTF8(hostileSource, "\u009b")},
	}}, nil
}

func startHostile(t *testing.T) string {
	t.Helper()
	server := grpc.NewServer()
	thriftpackv1.RegisterSchemaServiceServer(server, hostileSchemas{})
	listener := listen(t)
	go func() { _ = server.Serve(listener) }() // ends with Stop
	t.Cleanup(server.Stop)
	return "--addr=" + listener.Addr().String()
}

// TestListThatNeverEnds has a server that gives the token of the same page again.
func TestListThatNeverEnds(t *testing.T) {
	addr := startHostile(t)
	ended := make(chan outcome, 1)
	go func() { ended <- execute(t, "", "schema", "list", "--timeout=20s", addr) }()
	select {
	case got := <-ended:
		if got.code == 0 || !strings.Contains(got.stderr, "the same page") {
			t.Errorf("code %d, %q; want an error about the same page", got.code, got.stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}

// TestSourcesOnATerminal shows the source that somebody has pushed.
func TestSourcesOnATerminal(t *testing.T) {
	addr := startHostile(t)
	got := executeOn(t, IO{OutTerminal: true}, "", "schema", "get", "a", "--file=a.thrift", addr)
	for _, r := range got.stdout {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%q has %U", got.stdout, r)
		}
	}
	if want := "// a\\x1b[2J\\u202e\nstruct S {\n\t1: i32 a // \\u009b\n}\n"; got.stdout != want || got.code != 0 {
		t.Errorf("on a terminal: %q, code %d; want %q", got.stdout, got.code, want)
	}
	// What is no terminal gets what came.
	if got := execute(t, "", "schema", "get", "a", "--file=a.thrift", addr); got.stdout != strings.ToValidUTF8(hostileSource, "\u009b") {
		t.Errorf("into a pipe: %q", got.stdout)
	}
}
