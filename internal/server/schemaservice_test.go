package server

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/config"
)

// schemas is a client of the server's SchemaService.
func (h *harness) schemas() thriftpackv1.SchemaServiceClient {
	return thriftpackv1.NewSchemaServiceClient(h.conn)
}

// withStore has the server keep schemas in a new file.
func withStore(t testing.TB) func(*setup) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schemas.db")
	return func(s *setup) { s.cfg.SchemaStore = "file:" + path }
}

// create creates a revision of one file.
func (h *harness) create(t testing.TB, name, text string) *thriftpackv1.CreateSchemaResponse {
	t.Helper()
	created, err := h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: name, Files: map[string]string{"main.thrift": text}})
	if err != nil {
		t.Fatalf("CreateSchema %s: %v", name, err)
	}
	return created
}

func TestSchemaLife(t *testing.T) {
	h := start(t, withStore(t))
	began := time.Now()
	files := map[string]string{
		"person.thrift":   "include \"sub/base.thrift\"\nstruct Person { 1: required base.Id id, 2: string name }\nservice People { Person get(1: i64 id) }\n",
		"sub/base.thrift": "typedef i64 Id\nstruct Old { i32 a }\n",
	}
	created, err := h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "people", Files: files, Root: "person.thrift"})
	if err != nil {
		t.Fatal(err)
	}
	want := &thriftpackv1.Schema{
		Name: "people", Root: "person.thrift", Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_BACKWARD,
		Revision: created.GetSchema().GetRevision(), CreateTime: created.GetSchema().GetCreateTime(),
		Types:    []string{"People.get.args", "People.get.result", "Person", "base.Id", "base.Old"},
		Warnings: created.GetSchema().GetWarnings(),
	}
	if diff := cmp.Diff(want, created.GetSchema(), protocmp.Transform()); diff != "" || !created.GetCreated() {
		t.Errorf("CreateSchema: created %v, -want +got:\n%s", created.GetCreated(), diff)
	}
	if at := want.GetCreateTime().AsTime(); at.Before(began.Add(-time.Second)) || at.After(time.Now()) {
		t.Errorf("created at %v", at)
	}
	if len(want.GetWarnings()) != 1 || !strings.HasPrefix(want.GetWarnings()[0], "sub/base.thrift:2:18: ") {
		t.Errorf("warnings: %q, want one of the field without an id", want.GetWarnings())
	}
	want.Files = files
	for _, ref := range []string{"people", "people@" + want.GetRevision()} {
		got, err := h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: ref})
		if diff := cmp.Diff(want, got.GetSchema(), protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("GetSchema(%s): %v, -want +got:\n%s", ref, err, diff)
		}
	}
	again, err := h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "people", Files: files, Root: "person.thrift"})
	if err != nil || again.GetCreated() || again.GetSchema().GetRevision() != want.GetRevision() {
		t.Errorf("the same again: %v, %v", again, err)
	}

	// A change that breaks readers, asked about and then pushed.
	files["person.thrift"] = strings.Replace(files["person.thrift"], "2: string name", "2: string name, 3: required bool here", 1)
	checked, err := h.schemas().CheckCompatibility(t.Context(), &thriftpackv1.CheckCompatibilityRequest{Schema: "people", Files: files, Root: "person.thrift"})
	if err != nil {
		t.Fatal(err)
	}
	wantChange := &thriftpackv1.Change{
		Rule: "REQUIRED_FIELD_ADDED", Path: "Person.here", BreaksBackward: true,
		NewPosition: &thriftpackv1.Position{File: "person.thrift", Line: 2, Column: 74},
	}
	if checked.GetCompatible() || checked.GetAgainst() != "people@"+want.GetRevision() || checked.GetCompatibility() != want.GetCompatibility() {
		t.Errorf("CheckCompatibility: %v", checked)
	}
	if diff := cmp.Diff([]*thriftpackv1.Change{wantChange}, checked.GetChanges(), protocmp.Transform(), protocmp.IgnoreFields(wantChange, "message")); diff != "" {
		t.Errorf("changes, -want +got:\n%s", diff)
	}
	_, err = h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "people", Files: files, Root: "person.thrift"})
	wantError(t, err, codes.FailedPrecondition, "SCHEMA_INCOMPATIBLE", `schema "people"`, "BACKWARD", "Person.here")
	if v := detailOf[*errdetails.PreconditionFailure](err).GetViolations(); len(v) != 1 || v[0].GetType() != "REQUIRED_FIELD_ADDED" ||
		v[0].GetSubject() != "Person.here" || !strings.HasPrefix(v[0].GetDescription(), "person.thrift:2:74: ") {
		t.Errorf("violations: %v", v)
	}
	forced, err := h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{
		Name: "people", Files: files, Root: "person.thrift", Compatibility: thriftpackv1.Compatibility_COMPATIBILITY_NONE,
	})
	if err != nil || !forced.GetCreated() || len(forced.GetChanges()) != 1 || !forced.GetChanges()[0].GetBreaksBackward() {
		t.Errorf("with another policy: %v, %v", forced, err)
	}

	removed, err := h.schemas().DeleteSchema(t.Context(), &thriftpackv1.DeleteSchemaRequest{Schema: "people@" + forced.GetSchema().GetRevision()})
	if err != nil || removed.GetRevisions() != 1 {
		t.Errorf("DeleteSchema of a revision: %v, %v", removed, err)
	}
	if got, err := h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "people"}); err != nil || got.GetSchema().GetRevision() != want.GetRevision() {
		t.Errorf("after that the newest is %v, %v", got, err)
	}
	if removed, err = h.schemas().DeleteSchema(t.Context(), &thriftpackv1.DeleteSchemaRequest{Schema: "people"}); err != nil || removed.GetRevisions() != 1 {
		t.Errorf("DeleteSchema: %v, %v", removed, err)
	}
	_, err = h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "people"})
	wantError(t, err, codes.NotFound, "SCHEMA_NOT_FOUND", `no schema "people"`)
	if lines := h.log.calls(t, "CreateSchema"); len(lines) != 4 {
		t.Errorf("%d lines of CreateSchema in the log, want 4", len(lines))
	}
}

func TestSchemaPages(t *testing.T) {
	h := start(t, withStore(t))
	for i := range 7 {
		h.create(t, fmt.Sprintf("s%d", i), "struct S { 1: i32 a }")
	}
	var revisions []string
	for i := range 5 {
		revisions = append(revisions, h.create(t, "other", fmt.Sprintf("struct S { 1: i32 a } // %d", i)).GetSchema().GetRevision())
	}
	list := func(request *thriftpackv1.ListSchemasRequest) (names []string, pages int) {
		t.Helper()
		for {
			page, err := h.schemas().ListSchemas(t.Context(), request)
			if err != nil {
				t.Fatalf("ListSchemas(%v): %v", request, err)
			}
			pages++
			for _, s := range page.GetSchemas() {
				if request.GetName() == "" {
					names = append(names, s.GetName())
				} else {
					names = append(names, s.GetRevision())
				}
				if s.GetRoot() != "main.thrift" || s.GetFiles() != nil || s.GetTypes() != nil || s.GetCreateTime() == nil {
					t.Errorf("an item of a list: %v", s)
				}
			}
			if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
				return names, pages
			}
		}
	}
	newest := []string{revisions[4], revisions[3], revisions[2], revisions[1], revisions[0]}
	for _, tt := range []struct {
		request *thriftpackv1.ListSchemasRequest
		want    string
		pages   int
	}{
		{&thriftpackv1.ListSchemasRequest{}, "other s0 s1 s2 s3 s4 s5 s6", 1},
		{&thriftpackv1.ListSchemasRequest{PageSize: 3}, "other s0 s1 s2 s3 s4 s5 s6", 3},
		{&thriftpackv1.ListSchemasRequest{PageSize: 4}, "other s0 s1 s2 s3 s4 s5 s6", 2},
		{&thriftpackv1.ListSchemasRequest{PageSize: 1 << 30, NamePrefix: "s"}, "s0 s1 s2 s3 s4 s5 s6", 1},
		{&thriftpackv1.ListSchemasRequest{NamePrefix: "x"}, "", 1},
		{&thriftpackv1.ListSchemasRequest{Name: "other"}, strings.Join(newest, " "), 1},
		{&thriftpackv1.ListSchemasRequest{Name: "other", PageSize: 2}, strings.Join(newest, " "), 3},
	} {
		if names, pages := list(proto.CloneOf(tt.request)); strings.Join(names, " ") != tt.want || pages != tt.pages {
			t.Errorf("ListSchemas(%v): %v in %d pages, want %s in %d", tt.request, names, pages, tt.want, tt.pages)
		}
	}
	for _, tt := range []struct {
		request *thriftpackv1.ListSchemasRequest
		code    codes.Code
		reason  string
	}{
		{&thriftpackv1.ListSchemasRequest{PageSize: -1}, codes.InvalidArgument, "BAD_OPTION"},
		{&thriftpackv1.ListSchemasRequest{PageToken: "!"}, codes.InvalidArgument, "BAD_OPTION"},
		{&thriftpackv1.ListSchemasRequest{Name: "other", PageToken: base64.RawURLEncoding.EncodeToString([]byte("0123456789abcdef"))}, codes.InvalidArgument, "BAD_OPTION"},
		{&thriftpackv1.ListSchemasRequest{Name: "other", NamePrefix: "o"}, codes.InvalidArgument, "BAD_OPTION"},
		{&thriftpackv1.ListSchemasRequest{Name: "gone"}, codes.NotFound, "SCHEMA_NOT_FOUND"},
		{&thriftpackv1.ListSchemasRequest{Name: "other@" + revisions[0]}, codes.NotFound, "SCHEMA_NOT_FOUND"},
	} {
		_, err := h.schemas().ListSchemas(t.Context(), tt.request)
		wantError(t, err, tt.code, tt.reason)
	}
	// A page that would be too large is cut.
	small := start(t, withStore(t), func(s *setup) { s.cfg.MaxUnaryReplyBytes = 2 << 10 })
	for i := range 20 {
		small.create(t, fmt.Sprintf("a-rather-long-name-of-a-schema-%d", i), "struct S { 1: i32 a }")
	}
	page, err := small.schemas().ListSchemas(t.Context(), &thriftpackv1.ListSchemasRequest{})
	if n := len(page.GetSchemas()); err != nil || n < 5 || n >= 20 || page.GetNextPageToken() == "" {
		t.Errorf("a page of %d, %v", n, err)
	}
}

func TestSchemaRequestsThatAreRefused(t *testing.T) {
	h := start(t, withStore(t), func(s *setup) {
		s.cfg.MaxSchemaBytes, s.cfg.MaxSchemaFiles, s.cfg.MaxUnaryReplyBytes = 10_000, 3, 12_000
	})
	many := map[string]string{}
	for i := range 4 {
		many[strconv.Itoa(i)] = ""
	}
	methods := ""
	for _, letter := range "abcdefghij" {
		methods += " void m" + strings.Repeat(string(letter), 400) + "()" //nolint:perfsprint // ten of them
	}
	one := func(text string) map[string]string { return map[string]string{"a.thrift": text} }
	comment := func(n int) string { return "//" + strings.Repeat("x", n-2-len("a.thrift")) }
	for _, tt := range []struct {
		name    string
		request *thriftpackv1.CreateSchemaRequest
		code    codes.Code
		reason  string
		words   string
	}{
		{"as large as may be", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one(comment(10_000))}, codes.OK, "", ""},
		{"a byte more", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one(comment(10_001))}, codes.ResourceExhausted, "SIZE_LIMIT", "10001 exceeds the limit of 10000 (--max-schema-bytes)"},
		{"much more", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one(comment(20_000))}, codes.ResourceExhausted, "SIZE_LIMIT", "(--max-schema-bytes)"},
		{"many files", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: many}, codes.ResourceExhausted, "SIZE_LIMIT", "number of files 4 exceeds the limit of 3 (--max-schema-files)"},
		{"no files", &thriftpackv1.CreateSchemaRequest{Name: "a"}, codes.InvalidArgument, "MISSING_KIND", "files: no files given"},
		{"no root", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{"a": "", "b": ""}}, codes.InvalidArgument, "BAD_OPTION", "root: which of the 2 files"},
		{"a root that is no file", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one(""), Root: "b"}, codes.InvalidArgument, "SCHEMA_INCLUDE", ""},
		{"a path out", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{"../a": ""}}, codes.InvalidArgument, "SCHEMA_INCLUDE", ""},
		{"no name", &thriftpackv1.CreateSchemaRequest{Files: one("")}, codes.InvalidArgument, "BAD_OPTION", "name: want 1 to 64"},
		{"a wrong name", &thriftpackv1.CreateSchemaRequest{Name: "a/b", Files: one("")}, codes.InvalidArgument, "BAD_OPTION", "name: want 1 to 64"},
		{"a wrong policy", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one(""), Compatibility: 9}, codes.InvalidArgument, "BAD_OPTION", "compatibility: unknown number 9"},
		{
			"types whose names do not fit into a reply", &thriftpackv1.CreateSchemaRequest{Name: "a", Files: one("service S {" + methods + "}")},
			codes.ResourceExhausted, "SIZE_LIMIT", "(--max-unary-reply-bytes)",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := h.schemas().CreateSchema(t.Context(), tt.request)
			wantError(t, err, tt.code, tt.reason, tt.words)
			_, errCheck := h.schemas().CheckCompatibility(t.Context(), &thriftpackv1.CheckCompatibilityRequest{
				Schema: "x", Files: tt.request.GetFiles(), Root: tt.request.GetRoot(), Compatibility: tt.request.GetCompatibility(),
			})
			if !strings.Contains(tt.name, "name") && (status.Code(errCheck) != tt.code || reasonOf(errCheck) != tt.reason) {
				t.Errorf("CheckCompatibility: %v, CreateSchema: %v", errCheck, err)
			}
		})
	}
	raw := func(method string, request []byte) error {
		var got rawSize
		return h.conn.Invoke(t.Context(), "/thriftpack.v1.SchemaService/"+method, rawBytes(request), &got, grpc.ForceCodecV2(rawClientCodec{}))
	}
	for _, method := range []string{"CreateSchema", "GetSchema", "ListSchemas", "DeleteSchema", "CheckCompatibility"} {
		for _, request := range []string{"\x0a\x7f", "\xff", "\x0a\x01\xff"} {
			if err := raw(method, []byte(request)); method != "ListSchemas" || request != "\x0a\x01\xff" {
				wantError(t, err, codes.InvalidArgument, "BAD_PROTO")
			}
		}
	}
}

// TestBadSources has many faults, and a secret in the sources: the places are told, the contents are not.
func TestBadSources(t *testing.T) {
	h := start(t, withStore(t))
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "const string c%d = \"%s\" struct S%d { 1: Gone%d a = \"%s\" }\n", i, secret, i, i, secret)
	}
	_, err := h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{"a.thrift": text.String()}})
	wantError(t, err, codes.InvalidArgument, "SCHEMA_UNDEFINED", "a.thrift:1:")
	violations := detailOf[*errdetails.BadRequest](err).GetFieldViolations()
	if len(violations) != 10 {
		t.Errorf("%d violations, want 10", len(violations))
	}
	for i, v := range violations {
		if !strings.HasPrefix(v.GetField(), fmt.Sprintf("a.thrift:%d:", i+1)) || v.GetReason() != "SCHEMA_UNDEFINED" || v.GetDescription() == "" {
			t.Errorf("violation %d: %v", i, v)
		}
	}
	wantNoSecret(t, "the status", statusProto(err).String())
	wantNoSecret(t, "the log", h.log.String())

	// With the longest names everything stays within what trailers may have.
	text.Reset()
	long := strings.Repeat("Long", 60)
	for i := range 50 {
		fmt.Fprintf(&text, "struct %s%d { 1: %sGone%d a }\n", long, i, long, i)
	}
	file := strings.Repeat("f", 240) + ".thrift"
	_, err = h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{file: text.String()}})
	st := statusProto(err)
	if n := proto.Size(st) - len(st.GetMessage()); n > 4<<10 || len(st.GetMessage()) > maxMessageBytes {
		t.Errorf("a message of %d bytes and details of %d", len(st.GetMessage()), n)
	}
	if n := len(detailOf[*errdetails.BadRequest](err).GetFieldViolations()); n < 3 {
		t.Errorf("%d violations", n)
	}
}

func TestServerWithoutAStore(t *testing.T) {
	h := start(t, func(s *setup) {
		s.options = append(s.options, WithSchemas(Source{Name: "fixed", Files: map[string]string{"a.thrift": "struct S { 1: i32 a }"}, Root: "a.thrift"}))
	})
	request := &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{"a.thrift": ""}}
	_, err := h.schemas().CreateSchema(t.Context(), request)
	wantError(t, err, codes.FailedPrecondition, "NO_SCHEMA_STORE", "--schema-store")
	_, err = h.schemas().DeleteSchema(t.Context(), &thriftpackv1.DeleteSchemaRequest{Schema: "fixed"})
	wantError(t, err, codes.FailedPrecondition, "NO_SCHEMA_STORE")
	_, err = h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "a"})
	wantError(t, err, codes.NotFound, "SCHEMA_NOT_FOUND")
	got, err := h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "fixed"})
	if err != nil || !got.GetSchema().GetReadOnly() || got.GetSchema().GetCompatibility() != 0 {
		t.Errorf("GetSchema: %v, %v", got, err)
	}
	if _, ok := h.gauges(t)["thriftpack_schema_store_up"]; ok {
		t.Error("a server without a store says whether that is up")
	}
	if _, err := New(config.Default(), WithSchemas(Source{Name: "a", Files: map[string]string{"a.thrift": "struct"}, Root: "a.thrift"})); err == nil ||
		!strings.Contains(err.Error(), "a.thrift:1:") {
		t.Errorf("New with a schema that does not compile: %v", err)
	}
}

// gauges returns the server's gauges that have no labels.
func (h *harness) gauges(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := h.server.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetGauge() != nil && len(m.GetLabel()) == 0 {
				values[family.GetName()] = m.GetGauge().GetValue()
			}
		}
	}
	return values
}

func TestSchemaDirectory(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.thrift", "// caf\xe9\nstruct S { 1: i32 a }")
	for i := range 12 {
		write(fmt.Sprintf("bad%02d.thrift", i), "struct { // "+secret)
	}
	h := start(t, withStore(t), func(s *setup) { s.cfg.SchemaDir = folder })
	eventually(t, "ready", func() bool { return healthOf(t.Context(), h.conn, "") == "SERVING" })
	got, err := h.schemas().GetSchema(t.Context(), &thriftpackv1.GetSchemaRequest{Schema: "good"})
	if err != nil || got.GetSchema().GetFiles()["good.thrift"] != "// caf\uFFFD\nstruct S { 1: i32 a }" {
		t.Errorf("GetSchema: %v, %v", got, err)
	}
	_, err = h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "good", Files: map[string]string{"a.thrift": ""}})
	wantError(t, err, codes.FailedPrecondition, "SCHEMA_READ_ONLY", "--schema-dir")
	h.create(t, "stored", "struct S { 1: i32 a }")
	gauges := h.gauges(t)
	if gauges["thriftpack_schema_last_load_timestamp_seconds"] < 1e9 || gauges["thriftpack_schema_cache_bytes"] < 1000 {
		t.Errorf("gauges: %v", gauges)
	}
	want := map[string]float64{"thriftpack_schema_store_up": 1, "thriftpack_schemas": 2, "thriftpack_schemas_broken": 12}
	if diff := cmp.Diff(want, gauges, cmpopts.IgnoreMapEntries(func(name string, _ float64) bool { return want[name] == 0 })); diff != "" {
		t.Errorf("gauges, -want +got:\n%s", diff)
	}
	code, text := h.server.readyText()
	if lines := strings.Split(text, "\n"); code != http.StatusOK || len(lines) != 13 || lines[0] != "ready" ||
		!strings.HasPrefix(lines[1], "broken schema bad00: bad00.thrift:1:8: ") || lines[11] != "and 2 more" {
		t.Errorf("/readyz: %d %s", code, text)
	}
	wantNoSecret(t, "/readyz", text)
	wantNoSecret(t, "the log", h.log.String())
}

// TestStoreNeverReached has a store that nobody answers for: not ready, but alive, and it ends in order.
func TestStoreNeverReached(t *testing.T) {
	var lc net.ListenConfig
	silent, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	h := start(t, func(s *setup) { s.cfg.SchemaStore = "etcd://" + silent.Addr().String() + "/test" })
	eventually(t, "waiting for the store", func() bool {
		code, text := h.server.readyText()
		return code == http.StatusServiceUnavailable && text == "not ready: schemas are being loaded\nschema store: away\n"
	})
	if got := healthOf(t.Context(), h.conn, "readiness"); got != "NOT_SERVING" {
		t.Errorf("readiness: %s", got)
	}
	if got := healthOf(t.Context(), h.conn, "liveness"); got != "SERVING" {
		t.Errorf("liveness: %s", got)
	}
	if err := h.oneCall(t.Context(), "Encode"); err != nil {
		t.Errorf("Encode: %v", err)
	}
	_, err = h.schemas().CreateSchema(t.Context(), &thriftpackv1.CreateSchemaRequest{Name: "a", Files: map[string]string{"a.thrift": ""}})
	wantError(t, err, codes.Unavailable, "SCHEMA_STORE_UNAVAILABLE")
	if detailOf[*errdetails.RetryInfo](err) == nil {
		t.Error("no RetryInfo")
	}
	if got := h.gauges(t)["thriftpack_schema_store_up"]; got != 0 {
		t.Errorf("the store is up: %v", got)
	}
}

func TestSchemaSettingsThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(folder, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(folder, "gone")
	const etcd = "etcds://127.0.0.1:1"
	for want, change := range map[string]func(*config.Config){
		"schema-dir: stat " + gone:                    func(c *config.Config) { c.SchemaDir = gone },
		"schema-dir: " + text + " is not a directory": func(c *config.Config) { c.SchemaDir = text },
		"schema store " + text + ": ":                 func(c *config.Config) { c.SchemaStore = "file:" + text },
		`schema-store: "x" is no store`:               func(c *config.Config) { c.SchemaStore = "x" },
		"schema-etcd-ca: open " + gone:                func(c *config.Config) { c.SchemaStore, c.SchemaEtcdCA = etcd, gone },
		"schema-etcd-ca: no certificate in it":        func(c *config.Config) { c.SchemaStore, c.SchemaEtcdCA = etcd, text },
		"schema-etcd-cert: open " + gone:              func(c *config.Config) { c.SchemaStore, c.SchemaEtcdCert, c.SchemaEtcdKey = etcd, gone, text },
		"schema-etcd-cert: tls: ":                     func(c *config.Config) { c.SchemaStore, c.SchemaEtcdCert, c.SchemaEtcdKey = etcd, text, text },
		"schema-etcd-password-file: open " + gone:     func(c *config.Config) { c.SchemaStore, c.SchemaEtcdPasswordFile = etcd, gone },
		"schema-etcd-password-file: it is empty":      func(c *config.Config) { c.SchemaStore, c.SchemaEtcdPasswordFile = etcd, empty },
	} {
		cfg := config.Default()
		change(&cfg)
		if _, err := New(cfg, WithLogger(slog.New(slog.DiscardHandler))); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("New: %v, want %s", err, want)
		}
	}
}
