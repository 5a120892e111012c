package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/internal/fault"
)

func TestEveryReasonHasAnAnswer(t *testing.T) {
	for _, reason := range fault.All() {
		to, ok := answers[reason]
		if !ok {
			t.Errorf("%s has no answer", reason)
			continue
		}
		err := toStatus(fmt.Errorf("%s: %w", secret, fault.New(reason, "what is wrong")))
		if err.status.Code() != to.code || reasonOf(err) != string(reason) || infoOf(err).GetDomain() != "thriftpack.dev" {
			t.Errorf("%s: status %v", reason, err.status.Proto())
		}
		if strings.Contains(err.status.Proto().String(), secret) {
			t.Errorf("%s: the text around the fault is in the status: %v", reason, err.status.Proto())
		}
		if got := detailOf[*errdetails.BadRequest](err) != nil; got != to.violation {
			t.Errorf("%s: has a BadRequest: %v, want %v", reason, got, to.violation)
		}
		if got := detailOf[*errdetails.RetryInfo](err) != nil; got != to.retry {
			t.Errorf("%s: has a RetryInfo: %v, want %v", reason, got, to.retry)
		}
	}
	if len(answers) != len(fault.All()) {
		t.Errorf("%d answers for %d reasons", len(answers), len(fault.All()))
	}
}

// TestErrorsPage compares docs/errors.md with the table in the code.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)` \\| ([A-Z_]+) \\| ([^|]+) \\| ([^|]+) \\|$")
	var rows []string
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, m[1]+" "+m[2])
	}
	var want []string
	for _, reason := range fault.All() {
		want = append(want, string(reason)+" "+codeName(answers[reason].code))
	}
	if got := strings.Join(rows, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("docs/errors.md has the rows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// codeName writes a code as the gRPC documentation does.
func codeName(code codes.Code) string {
	return strings.ToUpper(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(code.String(), "${1}_${2}"))
}

func TestStatusDetails(t *testing.T) {
	f := fault.OverLimit(fault.DepthLimit, "nesting", "--max-depth", 64, 65)
	f.Path, f.Offset = "5[0].2", 17
	err := toStatus(f)
	if want := "5[0].2: offset 17: nesting 65 exceeds the limit of 64 (--max-depth)"; err.status.Message() != want {
		t.Errorf("message %q, want %q", err.status.Message(), want)
	}
	metadata := infoOf(err).GetMetadata()
	for key, want := range map[string]string{"path": "5[0].2", "offset": "17", "limit": "64", "actual": "65"} {
		if metadata[key] != want {
			t.Errorf("metadata %s: got %q, want %q", key, metadata[key], want)
		}
	}
	if got := detailOf[*errdetails.BadRequest](err).GetFieldViolations()[0].GetField(); got != "5[0].2" {
		t.Errorf("violation of %q, want the path", got)
	}
	f.Path = ""
	if got := detailOf[*errdetails.BadRequest](toStatus(f)).GetFieldViolations()[0].GetField(); got != "offset 17" {
		t.Errorf("violation of %q, want the offset", got)
	}
}

func TestStatusIsBounded(t *testing.T) {
	f := fault.New(fault.BadType, "%s", strings.Repeat("détail ", 10_000))
	f.Path, f.Offset = "value.struct"+strings.Repeat(".fields[é]", 10_000)+".i16", 1<<62
	st := toStatus(f).status
	if n := len(st.Message()); n > maxMessageBytes || !utf8.ValidString(st.Message()) {
		t.Errorf("message of %d bytes, valid %v", n, utf8.ValidString(st.Message()))
	}
	if n := proto.Size(st.Proto()) - len(st.Message()); n > 4<<10 {
		t.Errorf("details of %d bytes", n)
	}
	path := infoOf(st.Err()).GetMetadata()["path"]
	if !strings.HasPrefix(path, "value.struct.fields") || !strings.HasSuffix(path, "].i16") || !strings.Contains(path, "…") || len(path) > maxPathBytes {
		t.Errorf("path %q", path)
	}
	// A status of somebody else's keeps its code, and is bounded, too.
	long := toStatus(status.Error(codes.NotFound, strings.Repeat("x", 5000))).status
	if long.Code() != codes.NotFound || len(long.Message()) > maxMessageBytes {
		t.Errorf("status %v with %d bytes", long.Code(), len(long.Message()))
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"12345678", 8, "12345678"},
		{"123456789", 8, "12…789"},
		{"ééééé", 9, "é…é"},
		{"", 8, ""},
	} {
		if got := shorten(tt.text, tt.limit); got != tt.want {
			t.Errorf("shorten(%q, %d): got %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

func TestContextErrors(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code codes.Code
	}{
		{context.Canceled, codes.Canceled},
		{fmt.Errorf("send: %w", context.DeadlineExceeded), codes.DeadlineExceeded},
		{errors.Join(errors.New(secret), context.Canceled), codes.Canceled},
	} {
		if got := toStatus(tt.err).status; got.Code() != tt.code || strings.Contains(got.Message(), secret) {
			t.Errorf("toStatus(%v): %v", tt.err, got)
		}
	}
}
