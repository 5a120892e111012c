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
	return 1 << bits.Len64(uint64(n-1))
}

// MostUnread is how many bytes one connection may owe for calls that have ended. Beyond them replies wait until it has read.
func (c *Config) MostUnread() int64 { return unreadReplies * capacity(int64(c.MaxUnaryReplyBytes)) }

// What a request of n bytes takes while it is worked on, besides the request itself, in bytes.
const (
	// slowMember is what normalising takes for each member: sizes and spans of them, and two bytes by which the normal form may be
	// longer than the value.
	slowMember = 74
	// decodeFactor is what a decoder's sizing pass leaves for its writing pass, for each byte of its input. For each value it is at most
	// decodeNode, and decodeExtra and a 64th of the input are for the rest.
	decodeFactor = 3
	decodeNode   = 8
	decodeExtra  = 64 << 10
)

// EncodeMost is how many bytes encoding a value of n bytes takes at most: its normal form, and what that is made with.
func (c *Config) EncodeMost(n int64) int64 { return n + slowMember*int64(c.MaxSlowNodes) }

// DecodeMost is how many bytes decoding n bytes takes at most.
func (c *Config) DecodeMost(n int64) int64 {
	return min(decodeFactor*n, decodeNode*int64(c.MaxDecodedNodes)+n/64) + decodeExtra
}

// CallMost is what a call with the largest request holds at most, in bytes: while the request comes, or later the request, the work on it
// and a unary reply.
func (c *Config) CallMost() int64 {
	n, reply := int64(c.MaxRequestBytes), capacity(int64(c.MaxUnaryReplyBytes))
	return max(n+BufferMost(n), BufferMost(n)+max(c.EncodeMost(n)+c.TypedMost(), c.DecodeMost(n)+BufferMost(n)+c.TypedMost()+2*reply)+reply)
}

// TypedMost is how many bytes a unary call takes at most to check a value against a type, or to encode JSON. The decoded value, of at most
// MaxRequestBytes, and a JSON text, which grows by doubling up to the largest reply, come on top.
func (c *Config) TypedMost() int64 { return c.EncodeMost(int64(c.MaxRequestBytes)) }

// StreamMost is what a stream with the largest request and chunks takes of the budget at most, without a type: the request, the work on
// it, and what is sent. With a type it may take all that is left of the budget.
func (c *Config) StreamMost() int64 {
	n := int64(c.MaxRequestBytes)
	return SmallestStreamBudget + BufferMost(n) + max(c.EncodeMost(n)+BufferMost(n), c.DecodeMost(n))
}

// BufferMost is what the buffer of a request of n bytes takes at most, or of a record that was made of one.
func BufferMost(n int64) int64 { return capacity(n) + bufferSlack }

// bufferSlack is what such buffers have beyond a power of two.
const bufferSlack = 4 << 10

// How many schemas are worked on at a time. Each has up to MaxSchemaPlanBytes beside the cache, and those that are being compiled what they are
// made of.
const (
	// SchemaCompilations is how many are compiled or compared at most: half as many as there are processors, so that calls have the other half.
	SchemaCompilations = 2
	// SchemaPushes and SchemaChecks are how many are pushed and checked. Others wait, in each case with up to schemasWaiting of the largest.
	SchemaPushes   = 3
	SchemaChecks   = 1
	schemasWaiting = 8
	// syntaxFactor is what is left of a schema's sources while it is compiled, for each byte of them.
	syntaxFactor = 64
)

// SchemasMost is how many bytes schemas take at most: those in memory, and the work on others.
func (c *Config) SchemasMost() int64 {
	work := (SchemaCompilations + SchemaPushes + SchemaChecks) * c.MaxSchemaPlanBytes
	return c.SchemaCacheBytes + work + SchemaCompilations*syntaxFactor*int64(c.MaxSchemaBytes)
}

// SchemasWaiting is how many bytes of sources may wait to be pushed, and as many to be checked. They are part of what a call takes: see CallMost.
func (c *Config) SchemasWaiting() int64 {
	return schemasWaiting * max(int64(c.MaxSchemaBytes), leastSchema)
}

// leastSchema is what the smallest schema that waits counts as.
const leastSchema = 256 << 10
