// Package conform checks the wire bytes of a thriftpack.v1.Value against a type, in one walk and without a tree. On the way to
// Thrift it refuses what the type does not allow, and supplies what a Value may leave open. On the way from Thrift, where a
// Value is what package decoder made of the bytes, it makes text of binary, drops what the type does not have, and finds the
// offset of what is wrong. Package jsonvalue turns the result into JSON.
package conform

import (
	"hash/maphash"
	"math"

	"github.com/thriftpack/thriftpack/internal/decoder"
	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fault"
	"github.com/thriftpack/thriftpack/internal/schema"
	"github.com/thriftpack/thriftpack/internal/schema/valuewire"
)

// EncodeOptions say how a value that is to be encoded is checked.
type EncodeOptions struct {
	// IgnoreUnknown lets fields pass that the type does not have. They have an id and a kind, and so are written as they are.
	IgnoreUnknown bool
	// Limits bound the value as package encoder does. Depth and SlowNodes are looked at here, the others when it is encoded.
	Limits encoder.Limits
	// Stop, when set, is asked every few thousand values whether to go on. Its error ends the call, which returns it as it is.
	Stop func() error
	// Reserve, when set, is asked before memory is taken in proportion to the value, for all bytes that the call has to take for it
	// together. Its error ends the call, which returns it as it is. What was taken is given back by Release or the next call.
	Reserve func(bytes int64) error
}

// DecodeOptions say how a value that was decoded is checked.
type DecodeOptions struct {
	// Lenient takes what Apache's readers take: a field of another kind than its type's is an unknown field, of repeated fields,
	// keys and elements one counts, text that is not UTF-8 stays binary, an empty container may have any types, and a union no member.
	Lenient bool
	// KeepUnknown keeps the fields that the type does not have. Otherwise they are dropped and listed, see Checker.Unknown.
	KeepUnknown bool
	// JSON says that the value is for package jsonvalue: its fields come in ascending order of their ids, and empty
	// containers are left without types. Otherwise fields keep their order, and empty containers are given the types they have.
	JSON bool
	// MaxUnknown is how many dropped fields are listed at most.
	MaxUnknown int
	// Source, when set, is the decoder whose prepared input the value is. It finds where in the input a fault is, and has nothing left to
	// write afterwards.
	Source *decoder.Decoder
	// Stop and Reserve are as in EncodeOptions.
	Stop    func() error
	Reserve func(bytes int64) error
}

// MaxUnknown is how many dropped fields a reply lists.
const MaxUnknown = 100

// Unknown is a field that the type does not have, and that was dropped.
type Unknown struct {
	// Path is where it was, by names: "Batch.spans[3].99".
	Path string
	// ID is its field id.
	ID int16
	// Kind is its kind, as thriftpack.v1.Type.
	Kind uint8
}

// Checker checks one value at a time. The zero value is ready for use. It keeps its scratch memory from call to call, so a
// reused Checker allocates nothing but for errors, for what it lists, and for values larger than those before. It must not be
// used concurrently.
type Checker struct {
	in     []byte
	root   *schema.Type
	source *decoder.Decoder

	decoding, lenient, keepUnknown, ascending, complete bool

	maxDepth   int
	maxUnknown int
	ticks      int // how many more steps there are until stop is asked
	stop       func() error
	reserve    func(bytes int64) error
	reserved   int64

	steps   []step   // from the root to what is looked at
	patches []patch  // in ascending order of their positions
	entries []entry  // of a struct whose fields are out of order
	drops   []uint32 // a stack of the ordinals that are dropped, ascending for each container
	orders  []span   // the spans of reordered fields

	slots []slot // the hash table of duplicates
	seed  maphash.Seed

	unknown      []Unknown
	unknownCount int

	failure failure
	out     []byte
	normal  encoder.Encoder // normalises what protobuf would merge
}

// span is in[start:end], at most 2^31-1.
type span struct{ start, end uint32 }

// stopEvery is how many steps lie between two questions whether to go on.
const stopEvery = 4096

// deepest is the deepest nesting whatever the limits say, because the walk goes down by calls.
const deepest = encoder.MaxDepth

// Encode checks value, the wire bytes of a Value as a client sends them, against t. It returns the bytes to encode in its place:
// value itself where nothing is to change, otherwise bytes that are valid until the next call or Release. value is never
// written to. What t says nothing about, such as ranges and UTF-8, is left to package encoder, which has to encode the result.
// Errors are *fault.Error with a path such as value.struct.fields[3].i16, or those of Stop and Reserve.
func (c *Checker) Encode(value []byte, t *schema.Type, o *EncodeOptions) ([]byte, error) {
	c.start(value, t, o.Stop, o.Reserve)
	c.complete, c.keepUnknown = true, o.IgnoreUnknown
	c.maxDepth = min(o.Limits.Depth, deepest)
	if c.walk() {
		return c.finish()
	}
	if c.failure.cause != causeForm {
		return nil, c.err()
	}
	return c.encodeNormal(value, t, *o)
}

// encodeNormal is Encode for bytes in a form that the walk does not know: the encoder refuses them, or puts them into the one that it does.
func (c *Checker) encodeNormal(value []byte, t *schema.Type, o EncodeOptions) ([]byte, error) {
	taken := int64(0)
	normal, err := c.normal.Normalise(value, &encoder.Options{Limits: o.Limits, Stop: o.Stop, Reserve: func(bytes int64) error {
		taken = bytes
		if o.Reserve == nil {
			return nil
		}
		return o.Reserve(bytes)
	}})
	if err != nil {
		return nil, err
	}
	c.start(normal, t, o.Stop, o.Reserve)
	c.complete, c.keepUnknown, c.reserved = true, o.IgnoreUnknown, taken
	c.maxDepth = min(o.Limits.Depth, deepest)
	if c.walk() {
		return c.finish()
	}
	return nil, c.err()
}

// Decoded checks value, the wire bytes of a Value that package decoder made, against t. It returns the value to give out in its
// place: value itself, whose tags it changes where binary is text, or bytes that are valid until the next call or Release.
// Errors are *fault.Error with a path by names such as Batch.spans[3].startTime, and with o.Source the offset in its input, or
// those of Stop and Reserve.
func (c *Checker) Decoded(value []byte, t *schema.Type, o *DecodeOptions) ([]byte, error) {
	c.start(value, t, o.Stop, o.Reserve)
	c.decoding, c.lenient, c.keepUnknown = true, o.Lenient, o.KeepUnknown
	c.ascending, c.complete = o.JSON, !o.JSON
	c.maxDepth, c.maxUnknown, c.source = deepest, o.MaxUnknown, o.Source
	if c.walk() {
		return c.finish()
	}
	return nil, c.err()
}

// RootKind returns the kind of the root to decode for a value of type t: text is checked here, after decoding.
func RootKind(t *schema.Type) uint8 {
	if kind := kindOf(t); kind != valuewire.String {
		return kind
	}
	return valuewire.Binary
}

// Unknown returns the fields that the last call of Decoded dropped, at most DecodeOptions.MaxUnknown of them, in the order of
// the input, and how many there were. The slice is valid until the next call or Release.
func (c *Checker) Unknown() (listed []Unknown, count int) { return c.unknown, c.unknownCount }

// Held returns how many bytes of scratch memory the Checker has.
func (c *Checker) Held() int64 {
	return int64(cap(c.out) + cap(c.steps)*stepSize + cap(c.patches)*patchSize + cap(c.entries)*entrySize + cap(c.drops)*dropSize +
		cap(c.orders)*spanSize + cap(c.slots)*slotSize)
}

// The sizes in memory of what a Checker keeps.
const (
	stepSize  = 8
	patchSize = 16
	entrySize = 16
	dropSize  = 4
	spanSize  = 8
	slotSize  = 8

	// keepBytes is how much of each kind of scratch memory Release keeps.
	keepBytes = 64 << 10
)

// Release drops every reference to the last value, and scratch memory beyond what is worth keeping.
func (c *Checker) Release() {
	c.normal.Release()
	clear(c.out)
	clear(c.unknown)
	*c = Checker{
		steps: keep(c.steps, stepSize), patches: keep(c.patches, patchSize), entries: keep(c.entries, entrySize),
		drops: keep(c.drops, dropSize), orders: keep(c.orders, spanSize), slots: keep(c.slots, slotSize),
		out: keep(c.out, 1), unknown: c.unknown[:0], seed: c.seed, normal: c.normal,
	}
}

// keep returns the memory of s for the next value, or nil where that is too much to keep.
func keep[T any](s []T, size int) []T {
	if cap(s)*size > keepBytes {
		return nil
	}
	return s[:0]
}

// start resets all state for a new value.
func (c *Checker) start(value []byte, t *schema.Type, stop func() error, reserve func(int64) error) {
	c.in, c.root, c.source = value, t, nil
	c.decoding, c.lenient, c.keepUnknown, c.ascending, c.complete = false, false, false, false, false
	c.ticks, c.stop, c.reserve, c.reserved = stopEvery, stop, reserve, 0
	c.steps, c.patches, c.entries = c.steps[:0], c.patches[:0], c.entries[:0]
	c.drops, c.orders = c.drops[:0], c.orders[:0]
	c.unknown, c.unknownCount = c.unknown[:0], 0
	c.failure.cause = causeNone
}

// walk checks the whole value.
func (c *Checker) walk() bool {
	if len(c.in) > math.MaxInt32 {
		return c.form()
	}
	m, ok := valuewire.Root(c.in)
	if !ok {
		return c.form()
	}
	_, seen := c.member(c.root, &m, span{}, 0)
	return seen == fits
}

// finish returns the value, rewritten where that is needed.
func (c *Checker) finish() ([]byte, error) {
	if len(c.patches) == 0 {
		return c.in, nil
	}
	if !c.rewrite() {
		return nil, c.err()
	}
	return c.out, nil
}

// tick counts a step of the walk and returns false when Stop says so.
func (c *Checker) tick() bool {
	c.ticks--
	return c.ticks >= 0 || c.goOn()
}

// goOn asks Stop.
//
//go:noinline
func (c *Checker) goOn() bool {
	c.ticks = stopEvery
	if c.stop == nil {
		return true
	}
	if err := c.stop(); err != nil {
		c.failure = failure{cause: causeStopped, err: err}
		return false
	}
	return true
}

// take asks for so many bytes more.
func (c *Checker) take(bytes int) bool {
	if c.reserved += int64(bytes); c.reserve == nil {
		return true
	}
	if err := c.reserve(c.reserved); err != nil {
		c.failure = failure{cause: causeStopped, err: err}
		return false
	}
	return true
}

// kindOf returns the kind of values of the type.
func kindOf(t *schema.Type) uint8 { return uint8(t.Kind) }

// errNoForm is for bytes of ours that the walk does not know.
func errNoForm() *fault.Error {
	return fault.New(fault.Internal, "a value is not in the form that its check knows")
}
