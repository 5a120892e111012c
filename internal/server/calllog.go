package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
	"google.golang.org/grpc/codes"

	"github.com/thriftpack/thriftpack/internal/guard"
)

// burstSeconds is for how many seconds' worth of lines a level has room after a pause.
const burstSeconds = 10

// callLog writes a line for each finished call, and for each connection that fails: what clients make happen. How many lines there are
// in a second is bounded for each level by itself, so that a client can neither fill a disk nor hide the errors of others.
type callLog struct {
	logger *slog.Logger
	levels map[slog.Level]*lineRate
}

// lineRate bounds the lines of a level.
type lineRate struct {
	bucket     *rate.Limiter
	suppressed atomic.Int64 // since the last line
	total      prometheus.Counter
}

// newCallLog returns a log of at most perSecond lines of each level in a second; 0 bounds nothing.
func newCallLog(logger *slog.Logger, perSecond int, m *metrics) *callLog {
	limit := rate.Limit(perSecond)
	if perSecond == 0 {
		limit = rate.Inf
	}
	l := &callLog{logger: logger, levels: make(map[slog.Level]*lineRate)}
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		l.levels[level] = &lineRate{bucket: rate.NewLimiter(limit, perSecond*burstSeconds), total: m.suppressed.WithLabelValues(level.String())}
	}
	return l
}

// write writes a line of one of the four levels, unless the level has had too many. The next one that is written says how many
// were not. attrs are made only where there is a line.
func (l *callLog) write(ctx context.Context, level slog.Level, message string, attrs func() []slog.Attr) {
	if !l.logger.Enabled(ctx, level) {
		return
	}
	lines := l.levels[level]
	if !lines.bucket.Allow() {
		lines.suppressed.Add(1)
		lines.total.Inc()
		return
	}
	all := attrs()
	if n := lines.suppressed.Swap(0); n > 0 {
		all = append(all, slog.Int64("suppressed", n))
	}
	l.logger.LogAttrs(ctx, level, message, all...) //nolint:sloglint // callers give literals
}

// finishedCall is what is logged of a call that has ended.
type finishedCall struct {
	level     slog.Level
	method    string
	took      time.Duration
	requestID string
	admitted  *admitted  // nil where callers are asked nothing
	failed    *callError // nil for a success
}

// finished writes the one line of a finished call. It holds no payload and no text of an error: reason and offset only,
// and of a bug of ours the types and the stack.
func (l *callLog) finished(ctx context.Context, call finishedCall) {
	l.write(ctx, call.level, "finished call", func() []slog.Attr { return call.attrs(ctx) })
}

func (c *finishedCall) attrs(ctx context.Context) []slog.Attr {
	attrs := make([]slog.Attr, 0, 16)
	code := codes.OK
	if c.failed != nil {
		code = c.failed.status.Code()
	}
	attrs = append(attrs, slog.String("method", c.method), slog.String("code", code.String()),
		slog.Float64("duration_ms", float64(c.took.Microseconds())/1e3))
	attrs = append(attrs, c.caller(ctx)...)
	if c.requestID != "" {
		attrs = append(attrs, slog.String("request_id", c.requestID))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		attrs = append(attrs, slog.String("trace_id", span.TraceID().String()), slog.String("span_id", span.SpanID().String()))
	}
	if c.failed == nil {
		return attrs
	}
	if f := c.failed.fault; f != nil {
		attrs = append(attrs, slog.String("reason", string(f.Reason)))
		if f.Offset >= 0 {
			attrs = append(attrs, slog.Int64("offset", f.Offset))
		}
	}
	if c.failed.cause != "" {
		attrs = append(attrs, slog.String("cause", c.failed.cause))
	}
	if c.failed.stack != "" {
		attrs = append(attrs, slog.String("stack", c.failed.stack))
	}
	return attrs
}

// caller says who made the call: its address, and where it has one, the name that it was let in by.
func (c *finishedCall) caller(ctx context.Context) []slog.Attr {
	attrs := []slog.Attr{slog.String("peer", peerHost(ctx))}
	caller := callerOf(ctx)
	if c.admitted != nil && c.admitted.caller != nil {
		caller = *c.admitted.caller
	}
	if caller.Kind != guard.AddressCaller {
		attrs = append(attrs, slog.String("client", shorten(caller.Name, maxLoggedName)))
	}
	return attrs
}

// maxLoggedName bounds the name of a certificate's subject in the log, in bytes.
const maxLoggedName = 128
