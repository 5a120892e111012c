package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

const encodeLong = `encode reads a value from FILE, or from the standard input, and writes its Thrift bytes.

The value is the JSON form of thriftpack.v1.Value: one member, named after its type. Types are bool, i8, i16, i32, i64,
double, string, binary (base64), uuid (base64), list, set, map and struct. The elements of a list stand in a column
named after their type: {"list": {"i32s": [1, 2]}}. docs/cli.md has one of each.

With --type the value is JSON by the names of a type, declared in the file of --idl or in a --schema of the server; docs/json.md says
what each type looks like. --input value takes the self-describing form there, too, and checks it against the type.

With --stream the bytes come in chunks (EncodeStream), for results larger than one message; their number and
CRC-32C are checked against what the server says it sent.`

const encodeExample = `  echo '{"struct":{"fields":[{"id":1,"i32":42}]}}' | thriftpack encode --output hex
  echo '{"name":"tea","price":"250"}' | thriftpack encode --idl shop.thrift --type Item
  thriftpack encode --protocol binary --framing framed --message getUser --seqid 7 args.json >call.bin
  thriftpack encode --addr localhost:50051 --stream --count 1000000 record.json >records.bin`

// encode is the command of that name.
type encode struct {
	connection
	wireFormat
	envelope
	typed

	io            *IO
	input, output choice

	ignoreUnknown, omitDefaults bool

	stream    bool
	chunkSize int32
	count     int64
	quiet     bool
}

func newEncode(s *IO) *cobra.Command {
	e := &encode{io: s, input: newChoice(formJSON, formValue, formWire), output: newChoice(formAuto, formRaw, formHex, formBase64)}
	cmd := &cobra.Command{
		Use:     "encode [FILE]",
		Short:   "Turn a value into Thrift bytes",
		Long:    encodeLong,
		Example: encodeExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    e.run,
	}
	cmd.Flags().SortFlags = false
	e.connection.addFlags(cmd)
	addChoice(cmd, &e.input, "input", "form of the value, JSON (with --type by its names), JSON of thriftpack.v1.Value or its wire bytes")
	addChoice(cmd, &e.output, "output", "form of the Thrift bytes, by itself hex on a terminal and else raw")
	e.wireFormat.addFlags(cmd)
	e.envelope.addFlags(cmd)
	e.typed.addFlags(cmd)
	cmd.Flags().BoolVar(&e.ignoreUnknown, "ignore-unknown", false, "with --type: leave out what the type does not have")
	cmd.Flags().BoolVar(&e.omitDefaults, "omit-defaults", false, "with --type: do not write the default values of absent fields")
	cmd.Flags().BoolVar(&e.stream, "stream", false, "receive the bytes in chunks and check their CRC-32C")
	cmd.Flags().Int32Var(&e.chunkSize, "chunk-size", 0, "with --stream: `BYTES` of each message, 4096 to 1048576 (default: the server's, 32763)")
	cmd.Flags().Int64Var(&e.count, "count", 1, "with --stream: send the record `N` times")
	cmd.Flags().BoolVarP(&e.quiet, "quiet", "q", false, "with --stream: no progress and no summary on stderr")
	return cmd
}

var (
	errStreamOnly  = errors.New("--chunk-size and --count need --stream")
	errTypedEncode = errors.New("--ignore-unknown and --omit-defaults need --type")
)

// request has the value in data: with a type its JSON goes to the server as it is.
func (e *encode) request(data []byte) (*thriftpackv1.EncodeRequest, error) {
	if e.set() && e.input.value == formJSON {
		return &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: string(data)}}, nil
	}
	value, err := parseValue(data, e.input.value)
	if err != nil {
		return nil, err
	}
	return thriftpackv1.EncodeRequestOf(value), nil
}

func (e *encode) run(cmd *cobra.Command, args []string) error {
	if !e.stream && (cmd.Flags().Changed("chunk-size") || cmd.Flags().Changed("count")) {
		return errStreamOnly
	}
	if err := e.check(e.addr); err != nil {
		return err
	}
	if !e.set() && (e.ignoreUnknown || e.omitDefaults) {
		return errTypedEncode
	}
	header, err := e.header(cmd)
	if err != nil {
		return err
	}
	data, err := read(e.io, args)
	if err != nil {
		return err
	}
	request, err := e.request(data)
	if err != nil {
		return err
	}
	request.Type = e.ref()
	request.Options = &thriftpackv1.EncodeOptions{
		Protocol: e.protocolValue(), Framing: e.framingValue(), Message: header,
		IgnoreUnknown: e.ignoreUnknown, OmitDefaults: e.omitDefaults,
	}
	if e.local, err = e.serverOptions(); err != nil {
		return err
	}
	client, closed, err := e.dial()
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := e.context(cmd.Context())
	defer cancel()
	if e.stream {
		return e.runStream(ctx, client, request)
	}
	response, err := client.Encode(ctx, request)
	if err != nil {
		return newCallError(e.addr, err)
	}
	return writeBytes(e.io.Out, response.GetData(), e.io.bytesForm(e.output.value))
}

func (e *encode) runStream(ctx context.Context, client thriftpackv1.SerializerServiceClient, request *thriftpackv1.EncodeRequest) error {
	stream, err := client.EncodeStream(ctx, &thriftpackv1.EncodeStreamRequest{Request: request, ChunkSize: e.chunkSize, Count: e.count})
	if err != nil {
		return newCallError(e.addr, err)
	}
	out := newBytesWriter(e.io.Out, e.io.bytesForm(e.output.value))
	r := receiver{io: e.io, addr: e.addr, quiet: e.quiet, out: out, announced: true}
	if err := r.receive(stream, func() ([]byte, error) {
		response, err := stream.Recv()
		return response.GetData(), err
	}); err != nil {
		return err
	}
	return out.Close()
}
