package cli

import (
	"strings"
	"testing"
)

// TestStreamEncodeByName has a record on each line, in JSON by the names of a type.
func TestStreamEncodeByName(t *testing.T) {
	command := func(more ...string) []string {
		return append([]string{"stream", "encode", "-q", "--output", "hex", "--idl", shop, "--type", "money.Price"}, more...)
	}
	for _, tt := range []struct {
		name, lines string
		flags       []string
		want        string
	}{
		{"records", "{\"cents\":\"5\"}\n\n{\"cents\":6}\n", nil, "160a00" + "160c00"},
		{"frames", "{\"cents\":5}\n{\"cents\":6}", []string{"--framing", "framed"}, "00000003160a00" + "00000003160c00"},
		{"the binary protocol", "{\"cents\":5}\n", []string{"--protocol", "binary"}, "0a0001000000000000000500"},
		{"unknown names", "{\"cents\":5,\"tax\":[]}\n", []string{"--ignore-unknown"}, "160a00"},
		{"nothing", "\n", nil, ""},
	} {
		got := execute(t, tt.lines, command(tt.flags...)...)
		if got.code != 0 || strings.TrimSpace(got.stdout) != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, got, tt.want)
		}
	}
	// What came before a wrong line is written, and the line is named.
	got := execute(t, "{\"cents\":5}\n{\"cents\":1.5}\n{\"cents\":6}\n", command()...)
	if got.code != 1 || got.stdout != "160a00\n" || !strings.Contains(got.stderr, "line 2: INVALID_ARGUMENT: money.Price.cents: offset 9: ") {
		t.Errorf("a wrong line: %+v", got)
	}
	for _, tt := range []struct {
		want  string
		flags []string
	}{
		{"--type is for records", command("--list", "--count", "1")},
		{"--chunk-size does not go with --type", command("--chunk-size", "4096")},
		{"--ignore-unknown and --omit-defaults need --type", []string{"stream", "encode", "--omit-defaults"}},
		{"--idl and --schema need --type TYPE", []string{"stream", "encode", "--idl", shop}},
		{"line 1: not UTF-8", command()},
	} {
		mustFail(t, execute(t, "\xff\n", tt.flags...), tt.want)
	}
}
