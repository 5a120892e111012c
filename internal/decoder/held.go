package decoder

// Held returns how many bytes of scratch memory the decoder has: of the present input, and of what it keeps for the next one. An
// input of n bytes takes at most 3*n + 64 KiB.
func (d *Decoder) Held() int64 {
	const entry, pointer, spanSize = 4, 8, 12
	return int64(d.sizes.limit*entry + cap(d.sizes.chunks)*pointer + cap(d.spans)*spanSize + cap(d.buffer))
}
