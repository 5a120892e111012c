package decoder

import "encoding/binary"

// The integers of lists of the binary protocol, which are of fixed width there and varints in protobuf. Random magnitudes
// would make every varint's loop end at another place, which no branch predictor learns; so nothing here branches on the data.
// list<i64> became three times as fast by it.

// longestFixed is the longest varint of an integer.
const longestFixed = 10

// fixedAt returns the zigzag form of the integer at the beginning of b.
func fixedAt(kind uint8, b []byte) uint64 {
	switch kind {
	case kindI64:
		return zigzag(int64(binary.BigEndian.Uint64(b))) // two's complement
	case kindI32:
		return zigzag(int64(int32(binary.BigEndian.Uint32(b)))) // two's complement
	default:
		return zigzag(int64(int16(binary.BigEndian.Uint16(b)))) // two's complement
	}
}

// measureFixed returns the size of count integers as varints. There are enough bytes for all of them.
func (d *Decoder) measureFixed(kind uint8, pos, count int) (end, size int) {
	width := binaryLeast[kind]
	end = pos + count*width
	for b := d.data[pos:end]; len(b) >= width; b = b[width:] {
		size += varintSize(fixedAt(kind, b))
	}
	return end, size
}

// writeFixed writes count integers as varints, ten bytes at a time where there is room.
func (d *Decoder) writeFixed(kind uint8, pos, count int) (end int) {
	o := &d.out
	width := binaryLeast[kind]
	for count > 0 {
		if o.err != nil {
			return failed
		}
		most := min(count, (len(o.buf)-o.n)/longestFixed, 1<<10)
		if most == 0 {
			pos = d.writeScalar(kind, pos)
			count--
			continue
		}
		end = pos + most*width
		n, out := o.n, o.buf
		for b := d.data[pos:end]; len(b) >= width; b = b[width:] {
			u := fixedAt(kind, b)
			size := varintSize(u)
			to := out[n : n+longestFixed]
			binary.LittleEndian.PutUint64(to, spread(u)|highBits&(1<<(8*size-8)-1)) // size is 1..10; a shift by 64 or more leaves 0
			u >>= 56
			binary.LittleEndian.PutUint16(to[8:], uint16(u|u>>7<<8)) // the top bit is both the ninth byte's mark and the tenth byte
			n += size
		}
		o.n = n
		pos, count = end, count-most
	}
	return pos
}

// spread puts each seven bits of the lower 56 of u into a byte of their own.
func spread(u uint64) uint64 {
	u = u&0x0000_0000_0fff_ffff | u&0x00ff_ffff_f000_0000<<4
	u = u&0x0000_3fff_0000_3fff | u&0x0fff_c000_0fff_c000<<2
	return u&0x007f_007f_007f_007f | u&0x3f80_3f80_3f80_3f80<<1
}
