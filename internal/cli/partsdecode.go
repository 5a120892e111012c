package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const streamDecodeLong = `stream decode reads Thrift bytes from FILE, or from the standard input, and writes a line of JSON for each

  part     --output parts, the default: a step of the value, the JSON form of thriftpack.v1.Part
  value    --output values, the default with --records: the JSON form of thriftpack.v1.Value, which stream encode takes back
  element  --output elements: a value for each element of one list or set

The file may have any size: memory holds what is on its way, and with values or elements one of them.`

const streamDecodeExample = `  thriftpack stream decode --records --addr localhost:50051 records.bin >records.jsonl
  thriftpack stream decode --root-type list --output elements list.bin | head
  thriftpack stream decode huge.bin | grep begin`

// What a line of output is.
const (
	linesOfParts    = "parts"
	linesOfValues   = "values"
	linesOfElements = "elements"
)

// streamDecode is the command stream decode.
type streamDecode struct {
	connection

	io                         *IO
	protocol, output, rootType choice
	records, lenient           bool
	allowTrailing              bool
	maxDepth, chunkSize        int32
	maxLine                    int
	quiet                      bool
}

func newStreamDecode(s *IO) *cobra.Command {
	c := &streamDecode{
		io: s, protocol: newChoice("compact", "binary"), output: newChoice(formAuto, linesOfParts, linesOfValues, linesOfElements),
		rootType: newChoice(typeNames()...),
	}
	cmd := &cobra.Command{
		Use:     "decode [FILE]",
		Short:   "Turn Thrift bytes into lines of parts, values or elements",
		Long:    streamDecodeLong,
		Example: streamDecodeExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    c.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	c.connection.addFlags(cmd)
	addChoice(cmd, &c.output, "output", "what a line is, by itself a part, or with --records a value")
	addChoice(cmd, &c.protocol, "protocol", "Thrift protocol")
	flags.BoolVar(&c.records, "records", false, "the bytes are any number of values, one after the other")
	addChoice(cmd, &c.rootType, "root-type", "type of the value, or of each")
	flags.BoolVar(&c.lenient, "lenient", false, "accept what Apache's readers accept")
	flags.BoolVar(&c.allowTrailing, "allow-trailing", false, "leave bytes after the value alone")
	flags.Int32Var(&c.maxDepth, "max-depth", 0, "deepest nesting `LEVEL` accepted (default: the server's, 48)")
	flags.Int32Var(&c.chunkSize, "chunk-size", 0, "`BYTES` of each message from the server, which bounds the parts, 4096 to 1048576 (default: the server's, 32763)")
	flags.IntVar(&c.maxLine, "max-line", defaultMaxLine, "largest value or element, in `BYTES` of its parts")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "no progress and no summary on stderr")
	return cmd
}

var (
	errElementsRoot    = errors.New("--output elements needs --root-type list or set")
	errElementsRecords = errors.New("--output elements is of one list; with --records use values")
)

// lineOf resolves formAuto.
func (c *streamDecode) lineOf() string {
	switch {
	case c.output.value != formAuto:
		return c.output.value
	case c.records:
		return linesOfValues
	default:
		return linesOfParts
	}
}

func (c *streamDecode) run(cmd *cobra.Command, args []string) error {
	of := c.lineOf()
	switch {
	case of == linesOfElements && c.records:
		return errElementsRecords
	case of == linesOfElements && c.rootType.value != "list" && c.rootType.value != "set":
		return errElementsRoot
	}
	in, err := openSource(c.io, args)
	if err != nil {
		return err
	}
	defer in.close()
	client, closed, err := c.dial()
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := c.context(cmd.Context())
	defer cancel()
	stream, err := client.DecodeParts(ctx)
	if err != nil {
		return newCallError(c.addr, err)
	}
	request := &thriftpackv1.DecodePartsRequest{ChunkSize: c.chunkSize, Options: &thriftpackv1.DecodeOptions{
		RootType: typeOf(c.rootType.value), AllowTrailing: c.allowTrailing, Lenient: c.lenient, MaxDepth: c.maxDepth, Records: c.records,
	}}
	if c.protocol.value == "binary" {
		request.Options.Protocol = thriftpackv1.Protocol_PROTOCOL_BINARY
	}
	send := func() error {
		for {
			data := make([]byte, messageBytes)
			n, err := io.ReadFull(in, data)
			if n > 0 || request.GetOptions() != nil {
				request.Data = data[:n]
				if err := stream.Send(request); err != nil {
					return err
				}
				request = &thriftpackv1.DecodePartsRequest{}
			}
			switch {
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return err
			}
		}
	}
	d := &duplex{io: c.io, addr: c.addr, quiet: c.quiet, verb: "decoding", in: in}
	out := &lineWriter{w: bufio.NewWriterSize(c.io.Out, 64<<10), terminal: c.io.OutTerminal}
	add := c.lines(of, out)
	var read int64
	var scratch []byte
	err = d.run(cancel, stream, send, func() error {
		response, err := stream.Recv()
		if err != nil {
			return err
		}
		read = max(read, response.GetBytesRead())
		for _, part := range response.GetParts() {
			// What the trailers cover is each part as it was serialized.
			if scratch, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(scratch[:0], part); err != nil {
				return err
			}
			d.count(scratch)
			if err := add(part); err != nil {
				return &localError{err}
			}
		}
		return nil
	})
	// What came before an error is written, too.
	if flushed := out.w.Flush(); err == nil && flushed != nil {
		err = outputError(flushed)
	}
	if err == nil {
		err = c.checkRead(stream.Trailer(), read, in.read.Load())
	}
	if err != nil {
		return err
	}
	d.summary("%d lines of %d bytes", out.lines, read)
	return nil
}

// checkRead compares how many bytes the server says that it has read, in the last response and in a trailer, with how many it was sent.
func (c *streamDecode) checkRead(trailer metadata.MD, read, sent int64) error {
	if text, want := trailer.Get(thriftpackv1.BytesReadTrailer), strconv.FormatInt(read, 10); !slices.Equal(text, []string{want}) {
		return fmt.Errorf("the server says that it has read %s bytes, and in a trailer %q", want, text)
	}
	return checkRead(read, sent, c.allowTrailing)
}

// lines returns what makes lines of parts.
func (c *streamDecode) lines(of string, out *lineWriter) func(*thriftpackv1.Part) error {
	if of == linesOfParts {
		return func(part *thriftpackv1.Part) error { return out.write(part) }
	}
	a := &assembler{emit: func(v *thriftpackv1.Value) error { return out.write(v) }, most: c.maxLine}
	if of == linesOfElements {
		a.skip = 1
	}
	return a.add
}

// lineWriter writes messages as JSON, one on each line.
type lineWriter struct {
	w        *bufio.Writer
	terminal bool // where w leads
	lines    int64
	line     bytes.Buffer
}

func (l *lineWriter) write(m proto.Message) error {
	text, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	l.line.Reset()
	// Package protojson varies its white space on purpose; this does not.
	if err := json.Compact(&l.line, text); err != nil {
		return err
	}
	l.line.WriteByte('\n')
	line := l.line.Bytes()
	if l.terminal {
		line = printableJSON(line)
	}
	if _, err := l.w.Write(line); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	l.lines++
	return nil
}
