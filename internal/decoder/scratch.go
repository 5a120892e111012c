package decoder

// sizes is what the sizing pass leaves for the writing pass: the body size of each struct, list and set, and both column
// sizes of each map, in the order in which the containers begin. Three things have no entry, because the bytes would not
// pay for it: empty containers (their size shows in their header), the only element of a list and the only key or value
// that is not itself a map (their size follows from the one around them). So there are at most two entries for each three
// bytes of compact input, 2.67 bytes of scratch for each of them; growing adds chunks and never copies.
type sizes struct {
	chunks []*sizeChunk
	used   int // the next entry to reserve, or in the writing pass to take
	limit  int // the entries that chunks hold
}

const (
	chunkEntries = 4096
	keptChunks   = 16 // 256 KiB; what Release lets a pooled decoder keep
)

// sizeChunk holds entries: a size, at most maxSize, and in bit 0 a flag whose meaning is the container's.
type sizeChunk [chunkEntries]uint32

// reserve takes the next entry, to be set when its container was measured.
func (s *sizes) reserve() int {
	if s.used >= s.limit {
		s.chunks = append(s.chunks, new(sizeChunk))
		s.limit += chunkEntries
	}
	s.used++
	return s.used - 1
}

// set fills an entry. Sizes above maxSize do not fit, and need not: Prepare refuses a total that large.
func (s *sizes) set(i, size int, flag uint32) {
	s.chunks[i/chunkEntries][i%chunkEntries] = uint32(size)<<1 | flag // see above
}

// next returns the entries in the order of their reservation.
func (s *sizes) next() (size int, flag uint32) {
	e := s.chunks[s.used/chunkEntries][s.used%chunkEntries]
	s.used++
	return int(e >> 1), e & 1
}

// release bounds what is kept.
func (s *sizes) release() {
	if len(s.chunks) > keptChunks {
		clear(s.chunks[keptChunks:])
		s.chunks = s.chunks[:keptChunks]
		s.limit = keptChunks * chunkEntries
	}
	s.used = 0
}

// span is a large key or value of a map that the writing pass may have to step over: maps hold their keys and values in two
// columns, while Thrift has them in turn.
type span struct {
	start, end uint32 // offsets in the input
	used       uint32 // the entry of sizes that follows
}

const (
	spanLeast = 4096     // smaller ones are measured again instead
	mapBuffer = 32 << 10 // a map whose Value bytes fit is written in one walk over its entries
	keptSpans = 16 << 10 // as keptChunks
	stackMost = 10_000   // the depth limit's own limit, about 3 MB of stack
	noField   = 1 << 20  // in the place of a field id: the value is not a field
	unknown   = -1       // in the place of a size: take the next entry
)
