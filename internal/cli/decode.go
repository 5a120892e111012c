package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const decodeLong = `decode reads Thrift bytes from FILE, or from the standard input, and writes the value they hold.

Input of hex digits and white space alone is taken for hex, everything else for the bytes themselves; --input says
otherwise. The value is written as the JSON form of thriftpack.v1.Value, which encode takes back. Compact Thrift does not
say whether bytes are text: they come as "binary" (base64), or as "string" with --detect-text where they are UTF-8.

With --type the bytes are read by the names of a type, declared in the file of --idl or in a --schema of the server, and the
result is JSON by these names; --output value gives the self-describing form instead.`

const decodeExample = `  echo 155400 | thriftpack decode
  echo 1803746561 26f40300 | thriftpack decode --idl shop.thrift --type Item
  thriftpack decode --framing framed --message call.bin
  thriftpack decode --allow-trailing --detect-text footer.bin
  thriftpack decode --output wire data.bin | thriftpack encode --input wire >again.bin`

// decode is the command of that name.
type decode struct {
	connection
	wireFormat
	typed

	io                      *IO
	input, output, rootType choice

	message, allowTrailing, lenient, detectText bool
	emitDefaults, i64AsNumber, keepUnknown      bool

	maxDepth  int32
	stream    bool
	chunkSize int32
	quiet     bool
}

func newDecode(s *IO) *cobra.Command {
	d := &decode{
		io: s, input: newChoice(formAuto, formHex, formBase64, formRaw), output: newChoice(formJSON, formValue, formWire, formResponse),
		rootType: newChoice(typeNames()...),
	}
	cmd := &cobra.Command{
		Use:     "decode [FILE]",
		Short:   "Turn Thrift bytes into a value",
		Long:    decodeLong,
		Example: decodeExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    d.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	d.connection.addFlags(cmd)
	addChoice(cmd, &d.input, "input", "form of the Thrift bytes")
	addChoice(cmd, &d.output, "output", "the value as JSON (with --type by its names), as JSON of thriftpack.v1.Value or its wire bytes, or the whole response")
	d.wireFormat.addFlags(cmd)
	flags.BoolVar(&d.message, "message", false, "the bytes are an RPC message, envelope first")
	addChoice(cmd, &d.rootType, "root-type", "type of the value")
	flags.BoolVar(&d.lenient, "lenient", false, "accept what Apache's readers accept")
	flags.BoolVar(&d.allowTrailing, "allow-trailing", false, "leave bytes after the value alone")
	flags.BoolVar(&d.detectText, "detect-text", false, "show UTF-8 bytes as string")
	d.typed.addFlags(cmd)
	flags.BoolVar(&d.emitDefaults, "emit-defaults", false, "with --type: show the default values of absent fields")
	flags.BoolVar(&d.i64AsNumber, "i64-as-number", false, "with --type: write i64 as numbers rather than strings")
	flags.BoolVar(&d.keepUnknown, "keep-unknown", false, "with --type: keep the fields that the type does not have")
	flags.Int32Var(&d.maxDepth, "max-depth", 0, "deepest nesting `LEVEL` accepted (default: the server's, 48)")
	flags.BoolVar(&d.stream, "stream", false, "receive the value in chunks and check their CRC-32C")
	flags.Int32Var(&d.chunkSize, "chunk-size", 0, "with --stream: `BYTES` of each message, 4096 to 1048576 (default: the server's, 32763)")
	flags.BoolVarP(&d.quiet, "quiet", "q", false, "no notes, progress and summary on stderr")
	return cmd
}

var (
	errChunkSize      = errors.New("--chunk-size needs --stream")
	errTypedDecode    = errors.New("--emit-defaults, --i64-as-number and --keep-unknown need --type")
	errStreamResponse = errors.New("--output response is of a single message; it does not go with --stream")
)

func (d *decode) run(cmd *cobra.Command, args []string) error {
	switch {
	case !d.stream && cmd.Flags().Changed("chunk-size"):
		return errChunkSize
	case d.stream && d.output.value == formResponse:
		return errStreamResponse
	case !d.set() && (d.emitDefaults || d.i64AsNumber || d.keepUnknown):
		return errTypedDecode
	}
	if err := d.check(d.addr); err != nil {
		return err
	}
	text, err := read(d.io, args)
	if err != nil {
		return err
	}
	data, err := thriftBytes(text, d.input.value)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if d.local, err = d.serverOptions(); err != nil {
		return err
	}
	client, closed, err := d.dial()
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := d.context(cmd.Context())
	defer cancel()

	request := &thriftpackv1.DecodeRequest{Data: data, Options: &thriftpackv1.DecodeOptions{
		Protocol: d.protocolValue(), Framing: d.framingValue(), Message: d.message, RootType: typeOf(d.rootType.value),
		AllowTrailing: d.allowTrailing, Lenient: d.lenient, DetectText: d.detectText, MaxDepth: d.maxDepth,
		EmitDefaults: d.emitDefaults, I64AsNumber: d.i64AsNumber, KeepUnknown: d.keepUnknown,
	}}
	if d.set() {
		request.Type = d.ref()
		request.Options.RootType = thriftpackv1.Type_TYPE_UNSPECIFIED // the type says it
	}
	if d.byName() {
		request.Options.Output = thriftpackv1.Output_OUTPUT_JSON
	}
	if d.stream {
		return d.runStream(ctx, client, request)
	}
	response, err := client.Decode(ctx, request)
	if err != nil {
		return newCallError(d.addr, err)
	}
	if err := checkRead(response.GetBytesRead(), int64(len(data)), d.allowTrailing); err != nil {
		return err
	}
	if d.output.value == formResponse {
		return d.io.writeJSON(response)
	}
	d.note(response.GetMessage(), response.GetBytesRead(), len(data))
	if !d.quiet {
		d.io.noteUnknown(response.GetUnknown())
	}
	if d.byName() {
		return d.io.writeText([]byte(response.GetJson()))
	}
	return d.write(response.GetValue())
}

// byName reports whether the result is JSON by the names of a type.
func (d *decode) byName() bool {
	return d.set() && (d.output.value == formJSON || d.output.value == formResponse)
}

// write writes a decoded value in the form of --output.
func (d *decode) write(value *thriftpackv1.Value) error {
	if d.output.value != formWire {
		return d.io.writeJSON(value)
	}
	wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(value)
	if err != nil {
		return err
	}
	_, err = d.io.Out.Write(wire)
	return err
}

// note says on stderr what is known of the bytes besides their value.
func (d *decode) note(header *thriftpackv1.MessageHeader, bytesRead int64, size int) {
	if d.quiet {
		return
	}
	if header != nil {
		d.io.note("%s", describeHeader(header))
	}
	if bytesRead < int64(size) {
		d.io.note("read %d of %d bytes", bytesRead, size)
	}
}

// runStream passes wire bytes on as they come, and collects them for JSON.
func (d *decode) runStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, request *thriftpackv1.DecodeRequest) error {
	stream, err := client.DecodeStream(ctx, &thriftpackv1.DecodeStreamRequest{Request: request, ChunkSize: d.chunkSize})
	if err != nil {
		return newCallError(d.addr, err)
	}
	var collected bytes.Buffer
	out := io.Writer(&collected)
	passedOn := d.output.value == formWire || d.byName() && !d.io.OutTerminal // a terminal takes text that is made printable, whole
	if passedOn {
		out = d.io.Out
	}
	var header *thriftpackv1.MessageHeader
	bytesRead := int64(0)
	r := receiver{io: d.io, addr: d.addr, quiet: d.quiet, out: out}
	if err := r.receive(stream, func() ([]byte, error) {
		response, err := stream.Recv()
		if response.GetMessage() != nil {
			header = response.GetMessage()
		}
		bytesRead = max(bytesRead, response.GetBytesRead())
		return response.GetData(), err
	}); err != nil {
		return err
	}
	if err := checkRead(bytesRead, int64(len(request.GetData())), d.allowTrailing); err != nil {
		return err
	}
	d.note(header, bytesRead, len(request.GetData()))
	if passedOn {
		if d.byName() {
			_, err = d.io.Out.Write([]byte("\n"))
		}
		return err
	}
	if d.byName() {
		return d.io.writeText(collected.Bytes())
	}
	value := &thriftpackv1.Value{}
	if err := proto.Unmarshal(collected.Bytes(), value); err != nil {
		return fmt.Errorf("the bytes received are no Value: %w", err)
	}
	return d.write(value)
}
