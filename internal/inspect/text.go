package inspect

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// perLine is how many bytes a line shows: as many as the longest varint has.
const perLine = 10

// noteColumn is where notes start, counted from the structure column; longer structures push them to the right.
const noteColumn = 34

// colors of the kinds, as SGR parameters.
const (
	colorHeader = "36"   // field and container headers: cyan
	colorID     = "1;36" // field ids: bold cyan
	colorLength = "35"   // lengths and sizes: magenta
	colorNumber = "32"   // values: green
	colorText   = "33"   // text: yellow
	colorFrame  = "34"   // frame, envelope and stops: blue
	colorFault  = "1;31" // faults: bold red
	colorDim    = "2"    // offsets, notes and what is elided
)

func colorOf(k kind) string {
	switch k {
	case kindField, kindList, kindMap, kindStruct:
		return colorHeader
	case kindLength, kindNameLength:
		return colorLength
	case kindValue:
		return colorNumber
	case kindText, kindName:
		return colorText
	case kindRecord, kindFrame, kindProtocolID, kindVersion, kindMessageType, kindSeqID, kindStop:
		return colorFrame
	case kindFault, kindBad:
		return colorFault
	case kindBytes, kindElided, kindRest:
	}
	return colorDim
}

// textWriter writes rows as lines of three columns and a note: offset, bytes, structure.
type textWriter struct {
	w      *bufio.Writer // keeps the first error
	color  bool
	most   int // bytes of one item that are shown
	digits int // of an offset
	// The bytes of the last line, for marks.
	lineStart, lineEnd int
}

// WriteText writes the listing for a person, with ANSI colours if color is set. It writes as it reads: memory does not
// grow with the number of lines.
func (l *Listing) WriteText(w io.Writer, color bool) error {
	t := &textWriter{w: bufio.NewWriter(w), color: color, most: l.o.MaxBytes, digits: 4}
	if l.o.All {
		t.most = len(l.data)
	}
	for len(l.data)>>(4*t.digits) > 0 {
		t.digits += 2
	}
	t.head(l)
	if err := l.walk(t.row); err != nil {
		return err
	}
	return t.w.Flush()
}

// head writes what the bytes are and why.
func (t *textWriter) head(l *Listing) {
	t.paint("1", l.summary())
	t.w.WriteByte('\n')
	say := func(format string, args ...any) {
		t.paint(colorDim, fmt.Sprintf(format, args...))
		t.w.WriteByte('\n')
	}
	if l.guessed() {
		say("guessed: %s", l.best.why())
		for _, g := range l.alternatives() {
			say("not %s: %s", &g, g.whyNot())
		}
	}
	if f := l.Fault(); f != nil {
		where := ""
		if f.Path != "" {
			where = " (path " + f.Path + ")"
		}
		t.paint(colorFault, fmt.Sprintf("malformed at offset %d%s: %s: %s", f.Offset, where, f.Reason, f.Detail))
		t.w.WriteByte('\n')
	}
	if l.records > 0 {
		say("hint: they read as %s of the same form, one after the other", plural(l.records+1, "value"))
	}
	if l.looks != "" {
		say("hint: the bytes look like %s", l.looks)
	}
	t.w.WriteByte('\n')
}

// paint writes s in a colour.
func (t *textWriter) paint(color, s string) {
	if t.color && s != "" {
		s = "\x1b[" + color + "m" + s + "\x1b[0m"
	}
	t.w.WriteString(s)
}

func (t *textWriter) pad(n int) {
	for ; n > 0; n-- {
		t.w.WriteByte(' ')
	}
}

// row writes one row.
func (t *textWriter) row(r *row) error {
	switch r.kind {
	case kindFault:
		t.mark(r)
	case kindElided:
		t.line(r.offset, nil, r, span{colorDim, t.structure(r)})
	case kindBytes, kindRest:
		t.dump(r)
	default:
		shown := r.bytes[:min(len(r.bytes), max(t.most, perLine))]
		if len(shown) <= perLine {
			shown = r.bytes[:min(len(r.bytes), perLine)]
		}
		t.line(r.offset, shown[:min(len(shown), perLine)], r, t.spans(r)...)
		for at := perLine; at < len(shown); at += perLine {
			piece := shown[at:min(at+perLine, len(shown))]
			t.line(r.offset+at, piece, &row{kind: r.kind, depth: r.depth}, t.gutter(r, piece)...)
		}
		t.more(r, len(shown))
	}
	_, err := t.w.Write(nil) // the first error, if there was one
	return err
}

// gutter shows the characters of text that is too long for its first line.
func (t *textWriter) gutter(r *row, piece []byte) []span {
	if len(r.value) <= perLine*12 || r.kind != kindText {
		return nil
	}
	return []span{{colorDim, printable(piece)}}
}

// more says how many bytes of a row are not shown.
func (t *textWriter) more(r *row, shown int) {
	if n := len(r.bytes) - shown; n > 0 {
		t.line(r.offset+shown, nil, &row{kind: kindElided, depth: r.depth}, span{colorDim, "… " + plural(n, "more byte")})
	}
}

// dump writes bytes that are no text, with their printable characters.
func (t *textWriter) dump(r *row) {
	shown := r.bytes[:min(len(r.bytes), t.most)]
	for at := 0; at < len(shown); at += perLine {
		piece := shown[at:min(at+perLine, len(shown))]
		first := &row{kind: r.kind, depth: r.depth}
		if at == 0 {
			first.note = plural(len(r.bytes), "byte")
			if r.kind == kindRest {
				first.note += " not read"
			}
		}
		t.line(r.offset+at, piece, first, span{colorDim, printable(piece)})
	}
	t.more(r, len(shown))
}

// printable is the right column of a hex dump: |text..|.
func printable(b []byte) string {
	s := make([]byte, 0, perLine+2)
	s = append(s, '|')
	for _, c := range b {
		if c < ' ' || c > '~' {
			c = '.'
		}
		s = append(s, c)
	}
	return string(append(s, '|'))
}

// span is a piece of the structure column in one colour.
type span struct{ color, text string }

// line writes one line.
func (t *textWriter) line(offset int, b []byte, r *row, spans ...span) {
	t.paint(colorDim, fmt.Sprintf("%0*x", t.digits, offset))
	t.w.WriteString("  ")
	color := colorOf(r.kind)
	if r.marked {
		color = colorFault
	}
	width := 3*len(b) - 1
	if len(b) > 0 {
		t.paint(color, fmt.Sprintf("% x", b))
		t.lineStart, t.lineEnd = offset, offset+len(b)
	}
	if len(spans) > 0 {
		t.pad(3*perLine - 1 - max(width, 0) + 2 + 2*r.depth)
	}
	used := 2 * r.depth
	for _, s := range spans {
		t.paint(s.color, s.text)
		used += utf8.RuneCountInString(s.text)
	}
	if r.note != "" && r.kind != kindFault {
		t.pad(max(noteColumn-used, 1))
		t.paint(colorDim, "; "+r.note)
	}
	t.w.WriteByte('\n')
}

// mark writes carets under the bytes that a fault is about, and what is wrong with them.
func (t *textWriter) mark(r *row) {
	at, carets := 0, max(len(r.bytes), 1)
	if r.offset >= t.lineStart && r.offset <= t.lineEnd && r.offset-t.lineStart < perLine {
		at = r.offset - t.lineStart
	}
	carets = min(carets, perLine-at)
	t.paint(colorDim, fmt.Sprintf("%0*x", t.digits, r.offset))
	t.pad(2 + 3*at)
	t.paint(colorFault, strings.TrimSuffix(strings.Repeat("^^ ", carets), " "))
	t.pad(3*(perLine-at-carets) + 2 + 2*r.depth)
	t.paint(colorFault, fmt.Sprintf("%s: %s", r.reason, r.note))
	t.w.WriteByte('\n')
}

// label is the place in a container, like [3] or [3].key, with a space behind it.
func label(r *row) string {
	if r.index == noIndex {
		return ""
	}
	s := "[" + strconv.Itoa(r.index) + "]"
	if r.part != "" {
		s += "." + r.part
	}
	return s + " "
}

// spans is the structure column of a row.
func (t *textWriter) spans(r *row) []span {
	color := colorOf(r.kind)
	if r.kind != kindField {
		return []span{{colorID, label(r)}, {color, t.structure(r)}}
	}
	typ := r.typ
	if r.named != "" {
		typ = r.named
	}
	s := []span{{colorID, strconv.Itoa(int(r.id))}, {color, ": " + typ}}
	if r.name != "" {
		s = append(s, span{colorID, " " + r.name}) // as in the IDL: 1: i32 name
	}
	if r.value != "" {
		s = append(s, span{color, " = "}, span{colorNumber, r.value})
	}
	return s
}

// structure says what a row is and what it says.
func (t *textWriter) structure(r *row) string {
	switch r.kind {
	case kindFrame:
		return "frame of " + plural(int(r.count), "byte")
	case kindRecord:
		return fmt.Sprintf("value %d", r.count)
	case kindProtocolID:
		return "compact protocol"
	case kindVersion:
		return "version 1, " + r.value
	case kindSeqID:
		return "seqid " + r.value
	case kindNameLength:
		return "name length " + strconv.FormatInt(r.count, 10)
	case kindLength:
		return "length " + strconv.FormatInt(r.count, 10)
	case kindText, kindName:
		return t.quote(r.value)
	case kindList:
		return r.typ + ", " + plural(int(r.count), "element")
	case kindMap:
		if r.count == 1 {
			return r.typ + ", 1 entry"
		}
		return fmt.Sprintf("%s, %d entries", r.typ, r.count)
	case kindStruct:
		return "struct"
	case kindStop:
		return "stop"
	case kindElided:
		what := r.typ
		if r.count == 1 {
			what = map[string]string{"elements": "element", "entries": "entry", "fields": "field"}[what]
		}
		return fmt.Sprintf("… %d more %s, %s", r.count, what, plural(len(r.bytes), "byte"))
	case kindBad:
		return "does not read"
	case kindValue:
		if r.name != "" {
			return r.name + " = " + r.value
		}
	case kindMessageType, kindField, kindFault, kindBytes, kindRest:
	}
	return r.value
}

// quote quotes text; what is longer than twelve lines of bytes ends in an ellipsis, with the characters beside the bytes.
func (t *textWriter) quote(s string) string {
	most := min(t.most, perLine*12)
	if len(s) <= most {
		return strconv.Quote(s)
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strconv.Quote(s[:most]) + "…"
}
