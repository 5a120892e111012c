package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const streamEncodeLong = `stream encode reads values from FILE, or from the standard input, one on each line in the JSON form of
thriftpack.v1.Value, and writes their Thrift bytes, one record after the other. With --list the values are the elements of one
list; its length comes first, so it must be known: by --count, or because FILE can be read twice.

With --type each line is JSON by the names of the type, and becomes a record.

The file may have any size: memory holds a line and what is on its way.`

const streamEncodeExample = `  thriftpack stream encode --addr localhost:50051 records.jsonl >records.bin
  generate | thriftpack stream encode --framing framed >frames.bin
  generate | thriftpack stream encode --list --count 1000000 >list.bin`

// defaultMaxLine is the longest line, unless --max-line says otherwise: the largest request of a server.
const defaultMaxLine = 16 << 20

// messageBytes is about how many bytes of requests go into one message.
const messageBytes = 24 << 10

// streamEncode is the command stream encode.
type streamEncode struct {
	connection
	wireFormat
	typed

	io          *IO
	output      choice
	list        bool
	count       int64
	elementType choice
	chunkSize   int32
	maxLine     int
	quiet       bool

	ignoreUnknown, omitDefaults bool
}

func newStreamEncode(s *IO) *cobra.Command {
	e := &streamEncode{io: s, output: newChoice(formAuto, formRaw, formHex, formBase64), elementType: newChoice(append([]string{formAuto}, typeNames()...)...)}
	cmd := &cobra.Command{
		Use:     "encode [FILE]",
		Short:   "Turn lines of values into Thrift bytes",
		Long:    streamEncodeLong,
		Example: streamEncodeExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    e.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	e.connection.addFlags(cmd)
	addChoice(cmd, &e.output, "output", "form of the Thrift bytes, by itself hex on a terminal and else raw")
	e.wireFormat.addFlags(cmd)
	e.typed.addFlags(cmd)
	flags.BoolVar(&e.ignoreUnknown, "ignore-unknown", false, "with --type: leave out what the type does not have")
	flags.BoolVar(&e.omitDefaults, "omit-defaults", false, "with --type: do not write the default values of absent fields")
	flags.BoolVar(&e.list, "list", false, "the values are the elements of one list")
	flags.Int64Var(&e.count, "count", -1, "with --list: how many there are, `N` (default: the lines of FILE are counted first)")
	addChoice(cmd, &e.elementType, "element-type", "with --list: type of the elements, by itself that of the first")
	flags.Int32Var(&e.chunkSize, "chunk-size", 0, "`BYTES` of each message from the server, 4096 to 1048576 (default: the server's, 32763)")
	flags.IntVar(&e.maxLine, "max-line", defaultMaxLine, "longest line, in `BYTES`")
	flags.BoolVarP(&e.quiet, "quiet", "q", false, "no progress and no summary on stderr")
	return cmd
}

var (
	errListOnly    = errors.New("--count and --element-type need --list")
	errFramedList  = errors.New("--framing framed is for records: the length of a whole list is not known before its end")
	errFramedChunk = errors.New("--chunk-size does not go with --framing framed")
	errTypedList   = errors.New("--type is for records: give a list a type of its own, and use encode --stream")
	errTypedChunk  = errors.New("--chunk-size does not go with --type")
	errElementType = errors.New("--list without a value needs --element-type: Thrift writes it even then")
)

func (e *streamEncode) run(cmd *cobra.Command, args []string) error {
	framed := e.framingValue() == thriftpackv1.Framing_FRAMING_FRAMED
	changed := cmd.Flags().Changed
	switch {
	case !e.list && (changed("count") || changed("element-type")):
		return errListOnly
	case e.list && framed:
		return errFramedList
	case framed && changed("chunk-size"):
		return errFramedChunk
	case e.set() && e.list:
		return errTypedList
	case e.set() && changed("chunk-size"):
		return errTypedChunk
	case !e.set() && (e.ignoreUnknown || e.omitDefaults):
		return errTypedEncode
	case e.count > math.MaxInt32 || changed("count") && e.count < 0:
		return fmt.Errorf("--count is out of range: %d, want 0..%d", e.count, math.MaxInt32)
	}
	if err := e.check(e.addr); err != nil {
		return err
	}
	var err error
	if e.local, err = e.serverOptions(); err != nil {
		return err
	}
	in, err := openSource(e.io, args)
	if err != nil {
		return err
	}
	defer in.close()
	if e.list && !changed("count") {
		if e.count, err = in.countLines(e.maxLine); err != nil {
			return err
		}
	}
	client, closed, err := e.dial()
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := e.context(cmd.Context())
	defer cancel()
	out := newBytesWriter(e.io.Out, e.io.bytesForm(e.output.value))
	d := &duplex{io: e.io, addr: e.addr, quiet: e.quiet, verb: "encoding", in: in}
	l := newLines(in, e.maxLine)
	var lines int64
	if framed || e.set() {
		lines, err = e.records(ctx, cancel, client, d, l, out)
	} else {
		lines, err = e.parts(ctx, cancel, client, d, l, out)
	}
	// What came before an error is written, too.
	if err == nil || d.bytes > 0 {
		if closed := out.Close(); err == nil && closed != nil {
			err = outputError(closed)
		}
	}
	if err != nil {
		return err
	}
	d.summary("%d values, %d bytes", lines, d.bytes)
	return nil
}

// parts encodes the values by EncodeParts.
func (e *streamEncode) parts(
	ctx context.Context, cancel context.CancelFunc, client thriftpackv1.SerializerServiceClient, d *duplex, l *lines, out io.Writer,
) (int64, error) {
	stream, err := client.EncodeParts(ctx)
	if err != nil {
		return 0, newCallError(e.addr, err)
	}
	p := &partsWriter{stream: stream, request: &thriftpackv1.EncodePartsRequest{
		Options: &thriftpackv1.EncodeOptions{Protocol: e.protocolValue()}, ChunkSize: e.chunkSize,
	}}
	d.locate = p.locate
	values := int64(0)
	send := func() error {
		n, err := e.sendValues(p, l)
		values = n
		return err
	}
	err = d.run(cancel, stream, send, func() error {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		d.count(response.GetData())
		return write(out, response.GetData())
	})
	if err != nil {
		return 0, err // send may still be under way
	}
	return values, nil
}

// sendValues sends all lines, or those before one that is wrong, and returns how many there were.
func (e *streamEncode) sendValues(p *partsWriter, l *lines) (n int64, err error) {
	if e.list {
		return e.sendList(p, l)
	}
	for ; ; n++ {
		v, err := l.value()
		if err != nil {
			return n, firstError(p.flush(), endOfInput(err))
		}
		if err := p.addRoot(v, l.number); err != nil {
			return n, err
		}
	}
}

// firstError is the first error that is one.
func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// endOfInput is the error of an input that is over, or nil at its regular end.
func endOfInput(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// listWriter sends values as the elements of one list.
type listWriter struct {
	*partsWriter

	kind       thriftpackv1.Type
	count      int64 // as announced
	batch      *thriftpackv1.List
	held       int
	from, last int64 // the lines of the batch
}

// begin announces the list.
func (w *listWriter) begin() error {
	return w.add(0, 0, &thriftpackv1.Part{Part: &thriftpackv1.Part_Begin{Begin: &thriftpackv1.Begin{
		Type: thriftpackv1.Type_TYPE_LIST, ElementType: w.kind, Size: w.count,
	}}})
}

// element adds a value from a line.
func (w *listWriter) element(v *thriftpackv1.Value, line int64) error {
	appendElement(w.batch, v)
	w.last = line
	if w.held += proto.Size(v); w.held < messageBytes {
		return nil
	}
	return w.elements()
}

// elements sends what was gathered.
func (w *listWriter) elements() error {
	if w.held == 0 {
		return nil
	}
	full, from := w.batch, w.from
	w.batch, w.held, w.from = &thriftpackv1.List{}, 0, w.last+1
	return w.add(from, w.last, elementsOf(full))
}

// sendList sends all lines as the elements of one list, or those before one that is wrong, and then no end. The server says when
// their number is not the one that was announced.
func (e *streamEncode) sendList(p *partsWriter, l *lines) (n int64, err error) {
	w := &listWriter{partsWriter: p, kind: typeOf(e.elementType.value), count: e.count, batch: &thriftpackv1.List{}, from: 1}
	for ; ; n++ {
		v, inputError := l.value()
		if inputError == nil {
			of, _ := kindOf(v)
			if w.kind == thriftpackv1.Type_TYPE_UNSPECIFIED {
				w.kind = of
			}
			if of != w.kind {
				inputError = fmt.Errorf("line %d: %s in a list of %s", l.number, typeWord(of), typeWord(w.kind))
			}
		}
		if n == 0 && (inputError == nil || errors.Is(inputError, io.EOF)) {
			if w.kind == thriftpackv1.Type_TYPE_UNSPECIFIED {
				return n, errElementType
			}
			if err := w.begin(); err != nil {
				return n, err
			}
		}
		switch {
		case inputError == nil:
			if err := w.element(v, l.number); err != nil {
				return n, err
			}
			continue
		case errors.Is(inputError, io.EOF):
			return n, firstError(w.elements(), firstError(p.add(0, 0, endOfParts), p.flush()))
		default:
			return n, firstError(w.elements(), firstError(p.flush(), inputError))
		}
	}
}

// elementsOf is the part with the elements of a list.
func elementsOf(l *thriftpackv1.List) *thriftpackv1.Part {
	return &thriftpackv1.Part{Part: &thriftpackv1.Part_Elements{Elements: l}}
}

var endOfParts = &thriftpackv1.Part{Part: &thriftpackv1.Part_End{End: &thriftpackv1.End{}}}
