package config

import (
	"fmt"
	"io"
	"strings"
)

// helpIntro is the head of --help. PROGRAM stands for the name that the program was started by.
const helpIntro = `The thriftpack server turns values into Apache Thrift bytes and back, over gRPC.

Usage:
  PROGRAM [flags]

Every setting is a flag, an environment variable and a key of the YAML file of --config, in this order of precedence:
--max-depth=32, ` + EnvPrefix + `MAX_DEPTH=32 and "max-depth: 32" are the same.
SIZE is a number of bytes, such as 65536, 64KiB, 16MiB or 1GiB. DURATION has a unit, such as 500ms, 30s or 5m.
COUNT is a whole number, such as 100000 or 16Mi.
`

const helpCommands = `
Commands:
  --config FILE
        Read settings from this YAML file. Also ` + EnvPrefix + `CONFIG.
  --check-config
        Print the effective settings and the worst-case memory they allow, and exit.
  --version
        Print the version and exit.
  -h, --help
        Print this and exit.

Examples:
  PROGRAM
  PROGRAM --grpc-addr=0.0.0.0:50051 --insecure --max-request-bytes=64MiB
  PROGRAM --grpc-addr=unix:/run/thriftpack.sock --http-addr=
  ` + EnvPrefix + `MAX_DEPTH=100 PROGRAM --check-config
`

// helpWidth is where lines of --help are broken, in columns.
const helpWidth = 100

// Help writes the text of --help for the program of that name: every setting in its group, with its unit, default and range.
func Help(w io.Writer, program string) error {
	defaults := Default()
	var b strings.Builder
	b.WriteString(helpIntro)
	for _, group := range groups {
		fmt.Fprintf(&b, "\n%s:\n", group)
		for _, s := range Settings() {
			if s.Group != group {
				continue
			}
			fmt.Fprintf(&b, "  --%s %s\n", s.Name, s.unit)
			wrap(&b, s.Meaning+" "+s.facts(&defaults), "        ")
		}
	}
	b.WriteString(helpCommands)
	_, err := io.WriteString(w, trimLines(strings.ReplaceAll(b.String(), "PROGRAM", program)))
	return err
}

// facts are the default, the range and what the setting applies to, in brackets.
func (s *Setting) facts(defaults *Config) string {
	text := "(default " + s.defaultOf(defaults)
	if _, ok := number(s.field(defaults)); ok {
		minimum, maximum := s.bounds()
		text += "; " + minimum + " to " + maximum
		if s.zeroToo {
			text += ", or 0"
		}
	}
	return text + "; applies to: " + s.AppliesTo + ")"
}

// defaultOf says what the setting is unless it is given.
func (s *Setting) defaultOf(defaults *Config) string {
	if s.defaultText != "" {
		return s.defaultText
	}
	return orNone(s.Text(defaults))
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// wrap writes text in lines of at most helpWidth columns, each after indent.
func wrap(b *strings.Builder, text, indent string) {
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > helpWidth {
			b.WriteByte('\n')
			column = 0
		}
		if column == 0 {
			b.WriteString(indent)
			column = len(indent)
		} else {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	b.WriteByte('\n')
}

// trimLines removes spaces at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// Markdown returns the table of all settings for docs/configuration.md.
func Markdown() string {
	defaults := Default()
	var b strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&b, "\n### %s\n\n", group)
		b.WriteString("| flag and key | environment | unit | default | range | applies to | meaning |\n")
		b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
		for _, s := range Settings() {
			if s.Group != group {
				continue
			}
			limits := ""
			if _, ok := number(s.field(&defaults)); ok {
				minimum, maximum := s.bounds()
				limits = minimum + " to " + maximum
				if s.zeroToo {
					limits += ", or 0"
				}
			}
			fmt.Fprintf(&b, "| `--%s` | `%s` | %s | %s | %s | %s | %s |\n", s.Name, s.Env(), s.unitName(), s.defaultOf(&defaults),
				limits, s.AppliesTo, s.Meaning)
		}
	}
	return b.String()
}

// unitName is the unit as a word of the documentation.
func (s *Setting) unitName() string {
	switch s.unit {
	case bytesUnit:
		return "bytes"
	case switchUnit:
		return "true or false"
	default:
		return strings.ToLower(string(s.unit))
	}
}
