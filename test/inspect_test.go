package test

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thriftpack/thriftpack/internal/inspect"
)

// inspectVector is what of a golden vector the guesses are tested with.
type inspectVector struct {
	Name            string
	Compact, Binary string
	Message         *struct {
		Name  string
		Type  string
		SeqID int32
	}
}

// goldenVectors reads the vectors of testdata: each file as it is or gzipped.
func goldenVectors(tb testing.TB) []inspectVector {
	tb.Helper()
	var all []inspectVector
	for _, name := range []string{"vectors.jsonl", "large.jsonl"} {
		all = append(all, readVectors[inspectVector](tb, filepath.Join("testdata", "vectors", name))...)
	}
	if len(all) < 800 {
		tb.Fatalf("testdata has %d vectors, want over 800", len(all))
	}
	return all
}

func readVectors[T any](tb testing.TB, path string) []T {
	tb.Helper()
	var from io.Reader
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		f, err = os.Open(path + ".gz")
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { f.Close() })
	from = f
	if strings.HasSuffix(f.Name(), ".gz") {
		if from, err = gzip.NewReader(f); err != nil {
			tb.Fatal(err)
		}
	}
	var all []T
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			tb.Fatal(err)
		}
		all = append(all, v)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func frame(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// withoutEnvelope cuts the envelope of a vector's message off.
func withoutEnvelope(tb testing.TB, v inspectVector, protocol inspect.Protocol, b []byte) []byte {
	tb.Helper()
	if v.Message == nil {
		return b
	}
	if protocol == inspect.Binary {
		return b[12+len(v.Message.Name):]
	}
	_, seqID := binary.Uvarint(b[2:])
	_, length := binary.Uvarint(b[2+seqID:])
	return b[2+seqID+length+len(v.Message.Name):]
}

// envelopes are put before bodies that have none. The older one of the binary protocol has no version.
var envelopes = map[string]map[inspect.Protocol]string{
	"call":        {inspect.Compact: "82 21 01 04 70696e67", inspect.Binary: "80010001 00000004 70696e67 00000001"},
	"reply":       {inspect.Compact: "82 41 ffffffff0f 09 6765745f75736572 73", inspect.Binary: "80010002 00000009 6765745f7573657273 ffffffff"},
	"one letter":  {inspect.Compact: "82 81 00 01 65", inspect.Binary: "80010004 00000001 65 00000000"},
	"unversioned": {inspect.Binary: "00000004 70696e67 01 00000001"},
}

// TestInspectGuesses reads every vector in every form without being told which form it is, and counts what was guessed.
// An empty struct without an envelope is the same byte in both protocols; of such bytes, compact is right.
func TestInspectGuesses(t *testing.T) {
	vectors := goldenVectors(t)
	type form struct {
		protocol inspect.Protocol
		framed   bool
		envelope string // "" for none, "own" for the vector's
	}
	right, total := map[form]int{}, map[form]int{}
	try := func(v inspectVector, f form, b []byte) {
		t.Helper()
		if f.framed {
			b = frame(b)
		}
		o := inspect.Defaults()
		o.MaxDepth = 200
		l, err := inspect.Inspect(b, o)
		if err != nil {
			t.Fatal(err)
		}
		total[f]++
		if l.Protocol() == f.protocol && l.Framed() == f.framed && l.Message() == (f.envelope != "") && l.Fault() == nil {
			right[f]++
			return
		}
		t.Logf("%s: guessed %s, framed %t, message %t for %+v: % .40x", v.Name, l.Protocol(), l.Framed(), l.Message(), f, b)
	}
	for _, v := range vectors {
		for protocol, text := range map[inspect.Protocol]string{inspect.Compact: v.Compact, inspect.Binary: v.Binary} {
			whole := unhex(t, text)
			body := withoutEnvelope(t, v, protocol, whole)
			for _, framed := range []bool{false, true} {
				bare := form{protocol, framed, ""}
				if string(body) == "\x00" {
					bare.protocol = inspect.Compact
				}
				try(v, bare, body)
				if v.Message != nil {
					try(v, form{protocol, framed, "own"}, whole)
				}
				for name, of := range envelopes {
					if head, ok := of[protocol]; ok {
						head := unhex(t, strings.ReplaceAll(head, " ", ""))
						try(v, form{protocol, framed, name}, append(head, body...))
					}
				}
			}
		}
	}
	for f, n := range total {
		t.Logf("%+v: %d of %d right", f, right[f], n)
		if 100*right[f] < 99*n {
			t.Errorf("%+v: %d of %d guesses right, want 99 %%", f, right[f], n)
		}
	}
}

// TestInspectGuessesMalformed does the same with bytes that were cut or changed in one place: what a person who needs a
// listing most often has. Nothing is promised for these, but most guesses are to be right.
func TestInspectGuessesMalformed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	damages := map[string]func([]byte) []byte{
		"cut":     func(b []byte) []byte { return b[:1+len(b)*6/10] },
		"changed": func(b []byte) []byte { b[len(b)/3+random.IntN(len(b)/2)] ^= byte(1 + random.IntN(255)); return b },
	}
	for damage, do := range damages {
		for _, framed := range []bool{false, true} {
			for _, name := range []string{"", "call"} {
				right, total := 0, 0
				for _, v := range goldenVectors(t) {
					for protocol, text := range map[inspect.Protocol]string{inspect.Compact: v.Compact, inspect.Binary: v.Binary} {
						b := withoutEnvelope(t, v, protocol, unhex(t, text))
						if len(b) < 8 {
							continue
						}
						if name != "" {
							b = append(unhex(t, strings.ReplaceAll(envelopes[name][protocol], " ", "")), b...)
						}
						if framed {
							b = frame(b)
						}
						l, err := inspect.Inspect(do(b), inspect.Defaults())
						if err != nil {
							t.Fatal(err)
						}
						total++
						if l.Protocol() == protocol && l.Framed() == framed && l.Message() == (name != "") {
							right++
						} else if os.Getenv("SHOW") != "" {
							t.Logf("%s %s %d: %s %t %t: % .60x", v.Name, damage, protocol, l.Protocol(), l.Framed(), l.Message(), b)
						}
					}
				}
				t.Logf("%s, framed %t, envelope %q: %d of %d right", damage, framed, name, right, total)
				if 100*right < 90*total {
					t.Errorf("%s, framed %t, envelope %q: %d of %d guesses right, want 90 %%", damage, framed, name, right, total)
				}
			}
		}
	}
}
