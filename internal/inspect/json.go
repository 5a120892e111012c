package inspect

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"io"
	"unicode/utf8"
)

// The JSON form: {"summary": …, "fault": …, "rows": [ … ]}, with a row on each line. docs/inspect.md is its reference.
type jsonSummary struct {
	Protocol     string            `json:"protocol"`
	Framed       bool              `json:"framed"`
	Message      *jsonMessage      `json:"message"`
	Root         string            `json:"root"`
	Bytes        int               `json:"bytes"`
	Guessed      bool              `json:"guessed"`
	Why          string            `json:"why,omitempty"`
	Alternatives []jsonAlternative `json:"alternatives,omitempty"`
	Records      int               `json:"more_values,omitempty"`
	LooksLike    string            `json:"looks_like,omitempty"`
}

type jsonMessage struct {
	Form  string `json:"form"`
	Name  string `json:"name"`
	Type  int32  `json:"type"`
	SeqID int32  `json:"seqid"`
}

type jsonAlternative struct {
	Protocol string `json:"protocol"`
	Framed   bool   `json:"framed"`
	Message  bool   `json:"message"`
	Whole    bool   `json:"whole"`
	Why      string `json:"why"`
}

type jsonFault struct {
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
	Path   string `json:"path"`
	Detail string `json:"detail"`
}

type jsonRow struct {
	Offset int     `json:"offset"`
	Length int     `json:"length"`
	Depth  int     `json:"depth"`
	Kind   kind    `json:"kind"`
	Type   string  `json:"type,omitempty"`
	ID     *int32  `json:"id,omitempty"`
	Index  *int    `json:"index,omitempty"`
	Part   string  `json:"part,omitempty"`
	Count  *int64  `json:"count,omitempty"`
	Form   string  `json:"form,omitempty"`
	Value  *string `json:"value,omitempty"`
	Hex    string  `json:"hex,omitempty"`
	Cut    bool    `json:"cut,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Note   string  `json:"note,omitempty"`
	// Name is of the field, or of an enum's number; Declared is the field's type in the IDL.
	Name     string `json:"name,omitempty"`
	Declared string `json:"declared,omitempty"`
}

// WriteJSON writes the listing for a machine: one JSON object, as docs/inspect.md describes it. Like WriteText it writes
// as it reads.
func (l *Listing) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	summary, err := json.Marshal(l.jsonSummary())
	if err != nil {
		return err
	}
	var f *jsonFault
	if e := l.Fault(); e != nil {
		f = &jsonFault{e.Offset, string(e.Reason), e.Path, e.Detail}
	}
	wrong, err := json.Marshal(f)
	if err != nil {
		return err
	}
	b.WriteString(`{"summary":`)
	b.Write(summary)
	b.WriteString(",\n\"fault\":")
	b.Write(wrong)
	b.WriteString(",\n\"rows\":[")
	separator := "\n"
	err = l.walk(func(r *row) error {
		line, err := json.Marshal(l.jsonRow(r))
		if err != nil {
			return err
		}
		b.WriteString(separator)
		separator = ",\n"
		_, err = b.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	b.WriteString("\n]}\n")
	return b.Flush()
}

func (l *Listing) jsonSummary() jsonSummary {
	s := jsonSummary{
		Protocol: l.best.plan.protocol.String(), Framed: l.best.plan.framed, Root: "struct", Bytes: len(l.data),
		Guessed: l.guessed(), Records: l.records, LooksLike: l.looks,
	}
	if name := typeNames[l.o.Root]; name != "" {
		s.Root = name
	}
	if l.best.plan.message {
		e := l.best.envelope
		s.Message = &jsonMessage{e.form, e.name, e.typ, e.seqID}
	}
	if s.Guessed {
		s.Why = l.best.why()
		for _, g := range l.alternatives() {
			s.Alternatives = append(s.Alternatives, jsonAlternative{g.plan.protocol.String(), g.plan.framed, g.plan.message, g.whole(), g.whyNot()})
		}
	}
	return s
}

// jsonRow cuts bytes and text at Options.MaxBytes, and says so. Bytes of what is elided or was not read are cut as well.
func (l *Listing) jsonRow(r *row) jsonRow {
	j := jsonRow{
		Offset: r.offset, Length: len(r.bytes), Depth: r.depth, Kind: r.kind, Type: r.typ, Part: r.part,
		Form: r.form, Reason: string(r.reason), Note: r.note, Name: r.name, Declared: r.named,
	}
	most := len(r.bytes)
	if !l.o.All {
		most = min(most, l.o.MaxBytes)
	}
	if r.kind != kindElided {
		j.Hex, j.Cut = hex.EncodeToString(r.bytes[:most]), most < len(r.bytes)
	}
	if r.hasID {
		id := r.id
		j.ID = &id
	}
	if r.index != noIndex {
		index := r.index
		j.Index = &index
	}
	if r.count >= 0 {
		count := r.count
		j.Count = &count
	}
	if r.value != "" {
		v := r.value
		if (r.kind == kindText || r.kind == kindName) && most < len(v) {
			for most > 0 && !utf8.RuneStart(v[most]) {
				most--
			}
			v = v[:most]
		}
		j.Value = &v
	}
	return j
}
