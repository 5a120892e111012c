package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/thriftpack/thriftpack/bench/profile"
)

// profileTitles say what the profiles are of, in the order in which they stand. Others follow under their own names.
var profileTitles = []struct{ name, title string }{
	{"server-encode-small", "The server under unary encodes of 49 bytes, 8 callers"},
	{"server-encode-stream-records", "The server under streams of records"},
	{"tpwchunk-cmp-write-large", "`tpwchunk-cmp-write-large`: the Writer into chunks"},
	{"tp-cmp-read-small", "`tp-cmp-read-small`: reading to wire bytes"},
	{"tp-cmp-write-map_string_i64", "`tp-cmp-write-map_string_i64`: maps from wire bytes"},
}

// packages is how many packages of a profile are told.
const packages = 8

// profileTables is a table for each profile.
func (d *data) profileTables() string {
	var out strings.Builder
	write := func(title string, s *profile.Summary) {
		rows := make([][]string, 0, len(s.Functions))
		for _, f := range s.Functions {
			rows = append(rows, []string{"`" + f.Name + "`", fmt.Sprintf("%.1f", f.Percent), fmt.Sprintf("%.1f", f.Under)})
		}
		fmt.Fprintf(&out, "**%s**, %s of CPU time. By package: %s.\n\n%s\n", title, s.CPU.Round(10*time.Millisecond), s.Shares(packages),
			table([]string{"function", "itself, %", "with what it calls, %"}, rows))
	}
	rest := slices.Clone(d.profiles)
	for _, t := range profileTitles {
		if i := slices.IndexFunc(rest, func(s *profile.Summary) bool { return s.Name == t.name }); i >= 0 {
			write(t.title, rest[i])
			rest = slices.Delete(rest, i, i+1)
		}
	}
	for _, s := range rest {
		write("`"+s.Name+"`", s)
	}
	return out.String()
}
