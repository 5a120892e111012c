package config

import "math/bits"

// What calls may cost. The server takes these from its budget, and --check-config adds them up: one formula for both.

const (
	// unreadReplies is how many of the largest unary replies one connection may leave unread: gRPC queues each without waiting and
	// counts its RPC as ended.
	unreadReplies = 8
	// largestPooled is the largest buffer that is reused, in bytes; up to there capacities are powers of two.
	largestPooled = 32 << 20
)

// capacity returns what a buffer of n bytes takes.
func capacity(n int64) int64 {
	if n <= 1 || n > largestPooled {
		return n
	}
	return 1 << bits.Len64(uint64(n-1)) //nolint:gosec // n is positive
}

// MostUnread is how many bytes one connection may owe for calls that have ended. Beyond them replies wait until it has read.
func (c *Config) MostUnread() int64 { return unreadReplies * capacity(int64(c.MaxUnaryReplyBytes)) }
