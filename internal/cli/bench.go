package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/load"
)

const benchLong = `bench puts a server under load and says how long its answers take.

The value comes from FILE as the JSON form of thriftpack.v1.Value, or with --type as JSON by its names, see encode; without a
FILE it is a struct with a field of each scalar type, 49 bytes in the compact protocol. Each of the callers begins the next
call when it has the last answer; the first answer is read, all others must be as long. What the callers do before --warmup
is over does not count.

The methods: encode and decode are a call for each value; encode-batch and decode-batch put --values of them into each message of a
stream that stays open, so a "call" is such a message; encode-stream receives the record --values times over in chunks.

On a terminal a line shows how it goes. Ctrl-C ends the load and shows what came so far. Failed calls are counted by their
code, and make the exit code 1. Load of this kind says what a server can do for so many callers; it is not what many
independent users do, who do not wait for each other.`

const benchExample = `  thriftpack bench --addr localhost:50051
  thriftpack bench --addr localhost:50051 --callers 64 --connections 4 --duration 30s
  thriftpack bench --addr localhost:50051 --method encode-batch --values 200 record.json
  thriftpack bench --addr localhost:50051 --schema shop --type Item --method decode item.json
  thriftpack bench --addr localhost:50051 --count 100000 --json | jq .latency.percentiles`

// benchValue is what is sent without a FILE.
const benchValue = `{"struct": {"fields": [
  {"id": 1, "bool": true}, {"id": 2, "bool": false}, {"id": 3, "i8": -42}, {"id": 4, "i16": 27000}, {"id": 5, "i32": 16777216},
  {"id": 6, "i64": "6000000000"}, {"id": 7, "double": 3.141592653589793}, {"id": 8, "string": "Debug THIS!"},
  {"id": 9, "string": "×\n\u0007\t"}]}}`

// The defaults of bench.
const (
	benchCallers  = 8
	benchDuration = 10 * time.Second
	benchWarmup   = time.Second
	benchTimeout  = 30 * time.Second
	benchValues   = 64
)

// What one process can be asked for: beyond these it would measure itself, or run out of memory before the first call.
const (
	mostCallers     = 100_000
	mostConnections = 1_000
	mostValues      = 1_000_000
)

// bench is the command of that name.
type bench struct {
	connection
	typed

	io          *IO
	method      choice
	callers     int
	connections int
	duration    time.Duration
	count       int64
	warmup      time.Duration
	values      int
	json        bool
	quiet       bool
}

func newBench(s *IO) *cobra.Command {
	words := make([]string, 0, len(load.Methods))
	for _, m := range load.Methods {
		words = append(words, string(m))
	}
	b := &bench{io: s, method: newChoice(words...)}
	cmd := &cobra.Command{
		Use:     "bench [FILE]",
		Short:   "Put a server under load and measure its answers",
		Long:    benchLong,
		Example: benchExample,
		Args:    cobra.MaximumNArgs(1),
		RunE:    b.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&b.addr, "addr", "", "load the server at `ADDRESS`, host:port or unix:PATH (default: one in this process)")
	b.security.addFlags(cmd)
	addChoice(cmd, &b.method, "method", "what to call")
	b.typed.addFlags(cmd)
	flags.IntVar(&b.callers, "callers", benchCallers, "how `MANY` call at once")
	flags.IntVar(&b.connections, "connections", 1, "how `MANY` connections they share")
	flags.DurationVar(&b.duration, "duration", benchDuration, "begin calls for this `DURATION`")
	flags.Int64Var(&b.count, "count", 0, "begin `N` calls in all (default: as many as --duration has room for)")
	flags.DurationVar(&b.warmup, "warmup", benchWarmup, "`DURATION` before that, of which nothing counts")
	flags.IntVar(&b.values, "values", benchValues, "`N` values in each message of a batch, or how often a stream has the record")
	flags.DurationVar(&b.timeout, "timeout", benchTimeout, "a call has failed after this `DURATION`; 0: never")
	flags.BoolVar(&b.json, "json", false, "write the result as JSON, times in nanoseconds")
	flags.BoolVarP(&b.quiet, "quiet", "q", false, "no line on stderr while it goes")
	return cmd
}

var (
	errBenchNumbers = errors.New("--count, --duration, --warmup and --timeout must not be negative")
	errBenchEnd     = errors.New("--duration 0 needs a --count")
)

func (b *bench) run(cmd *cobra.Command, args []string) error {
	for _, number := range []struct {
		name        string
		value, most int
	}{{"callers", b.callers, mostCallers}, {"connections", b.connections, mostConnections}, {"values", b.values, mostValues}} {
		if number.value < 1 || number.value > number.most {
			return fmt.Errorf("--%s: out of range: %d, want 1 to %d", number.name, number.value, number.most)
		}
	}
	switch {
	case min(b.duration, b.warmup, b.timeout) < 0, b.count < 0:
		return errBenchNumbers
	case b.duration == 0 && b.count == 0:
		return errBenchEnd
	}
	if b.count > 0 && !cmd.Flags().Changed("duration") {
		b.duration = 0
	}
	if err := b.check(b.addr); err != nil {
		return err
	}
	request, err := b.request(args)
	if err != nil {
		return err
	}
	if b.local, err = b.serverOptions(); err != nil {
		return err
	}
	conns, closed, err := b.connect(b.connections)
	if err != nil {
		return err
	}
	defer closed()
	ctx, cancel := b.context(cmd.Context()) // for the calls of Prepare alone
	exchange, err := load.Prepare(ctx, conns[0], load.Method(b.method.value), request, b.values)
	cancel()
	if err != nil {
		return newCallError(b.addr, err)
	}
	plan := &load.Plan{
		Connections: conns, Callers: b.callers, Warmup: b.warmup, Duration: b.duration, Count: b.count, Timeout: b.timeout,
		Progress: b.progress(),
	}
	result := load.Run(cmd.Context(), plan, exchange)
	if plan.Progress != nil {
		_, _ = fmt.Fprint(b.io.Err, clearLine) // there is nobody to tell
	}
	if err := b.report(exchange, &result); err != nil {
		return err
	}
	if result.Failed > 0 {
		return fmt.Errorf("%d of %d calls failed, one of them: %w", result.Failed, result.Failed+result.Exchanges, newCallError(b.addr, result.Example))
	}
	return nil
}

var errTypedBench = errors.New("--type needs a FILE with a value of it, as JSON")

// request encodes the value of FILE, by the names of --type where that is given, or the built-in one.
func (b *bench) request(args []string) (*thriftpackv1.EncodeRequest, error) {
	if len(args) == 0 {
		if b.set() {
			return nil, errTypedBench
		}
		value, err := parseValue([]byte(benchValue), formJSON)
		return thriftpackv1.EncodeRequestOf(value), err
	}
	data, err := read(b.io, args)
	if err != nil {
		return nil, err
	}
	if b.set() {
		return &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: string(data)}, Type: b.ref()}, nil
	}
	value, err := parseValue(data, formJSON)
	return thriftpackv1.EncodeRequestOf(value), err
}

// clearLine goes back to the start of the terminal's line and clears it.
const clearLine = "\r\x1b[K"

// progress shows a line on a terminal, over and over.
func (b *bench) progress() func(load.Result) {
	if b.quiet || !b.io.ErrTerminal {
		return nil
	}
	return func(r load.Result) { _, _ = fmt.Fprint(b.io.Err, clearLine+r.Line()) } // there is nobody to tell
}

// benchReport is the result as JSON.
type benchReport struct {
	Method      string `json:"method"`
	Addr        string `json:"addr,omitempty"`
	Callers     int    `json:"callers"`
	Connections int    `json:"connections"`
	// RequestBytes and ReplyBytes are the messages of one call.
	RequestBytes int64 `json:"request_bytes"`
	ReplyBytes   int64 `json:"reply_bytes"`
	*load.Result
}

func (b *bench) report(exchange *load.Exchange, result *load.Result) error {
	if b.json {
		out := json.NewEncoder(b.io.Out)
		out.SetIndent("", "  ")
		return out.Encode(benchReport{b.method.value, b.addr, b.callers, b.connections, exchange.Sent, exchange.Received, result})
	}
	where := "in this process"
	if b.addr != "" {
		where = "on " + b.addr
	}
	if _, err := fmt.Fprintf(b.io.Out, "%s %s: %s over %s, requests of %d bytes, replies of %d\n\n", b.method.value, where,
		plural(b.callers, "caller"), plural(b.connections, "connection"), exchange.Sent, exchange.Received); err != nil {
		return err
	}
	return result.WriteText(b.io.Out)
}

// plural is "1 caller" or "2 callers".
func plural(n int, thing string) string {
	return strings.TrimSuffix(fmt.Sprintf("%d %ss", n, thing), map[bool]string{true: "s"}[n == 1])
}
