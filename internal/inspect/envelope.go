package inspect

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/fault"
)

const (
	compactID     = 0x82
	binaryVersion = 0x80010000
)

// frame reads the length that comes first.
func (r *reader) frame() bool {
	b, ok := r.take(4, "a frame's length")
	if !ok {
		return false
	}
	n := binary.BigEndian.Uint32(b)
	left := len(r.data) - r.pos
	r.tally.longFrame = n >= 1<<24 && int64(n) != int64(left)
	if n > math.MaxInt32 {
		return r.refuse(0, 4, fault.NegativeSize, "a frame of %d bytes, which is %d as an i32", n, int32(n)) //nolint:gosec // shows the wrap
	}
	if w := r.start(kindFrame, 0, 4); w != nil {
		w.count, w.note = int64(n), "i32, big-endian"
		r.put(w)
	}
	if int(n) > left {
		r.fault(0, 4, fault.Truncated, "a frame of %s, but %s", plural(int(n), "byte"), remain(left))
		return !r.dead
	}
	r.end = r.pos + int(n)
	r.tally.exactFrame = r.end == len(r.data)
	return true
}

// message reads the envelope of an RPC message.
func (r *reader) message() bool {
	if r.plan.protocol == Binary {
		return r.binaryMessage()
	}
	r.envelope.form = "compact"
	b, ok := r.take(1, "an envelope")
	if !ok {
		return false
	}
	if b[0] != compactID {
		return r.refuse(r.pos-1, 1, fault.BadVersion, "protocol id %02x, want 82: this is no compact message", b[0])
	}
	if w := r.start(kindProtocolID, r.pos-1, r.pos); w != nil {
		w.note = "protocol id 82"
		r.put(w)
	}
	if b, ok = r.take(1, "an envelope"); !ok {
		return false
	}
	// tttv vvvv: message type and version
	version := b[0] & 0x1f
	if version != 1 {
		return r.refuse(r.pos-1, 1, fault.BadVersion, "compact protocol version %d, want 1%s", version, versionNote(version))
	}
	r.version(r.pos-1, int32(b[0]>>5), "version in the low 5 bits, type in the high 3")
	if r.dead {
		return false
	}
	r.envelope.headed = true
	start := r.pos
	v, ok := r.varint(32, "a sequence id")
	if !ok {
		return false
	}
	r.seqID(start, int32(v.value), fmt.Sprintf("varint %d, not zigzag%s", v.value, paddedNote(v.padded))) //nolint:gosec // two's complement, as the specification has it
	return r.blob(kindNameLength, "name")
}

func versionNote(version byte) string {
	if version == 2 {
		return " (2 is fbthrift's, whose doubles are big-endian and whose type 13 is a float)"
	}
	return ""
}

// version shows and checks the message type in the bytes from start on.
func (r *reader) version(start int, typ int32, note string) {
	r.envelope.typ = typ
	good := typ > 0 && int(typ) < len(messageTypes)
	if w := r.start(kindVersion, start, r.pos); w != nil {
		w.note, w.value = note, fmt.Sprintf("type %d", typ)
		if good {
			w.value = messageTypes[typ]
		}
		if r.envelope.form == "unversioned" {
			w.kind = kindMessageType
		}
		r.put(w)
	}
	if !good {
		r.fault(r.pos-1, 1, fault.BadHeader, "message type %d, want 1..4", typ)
	}
}

func (r *reader) seqID(start int, id int32, note string) {
	r.envelope.seqID = id
	if w := r.start(kindSeqID, start, r.pos); w != nil {
		w.value, w.note = strconv.Itoa(int(id)), note
		r.put(w)
	}
}

// binaryMessage reads either form: 8001 00tt, name, seqid; or the older name, tt, seqid.
func (r *reader) binaryMessage() bool {
	start := r.pos
	b, ok := r.take(4, "an envelope")
	if !ok {
		return false
	}
	v := binary.BigEndian.Uint32(b)
	if r.envelope.form = "strict"; v <= math.MaxInt32 {
		r.pos = start
		r.envelope.form = "unversioned"
	} else {
		if v&0xffff0000 != binaryVersion {
			return r.refuse(start, 4, fault.BadVersion, "version %04x, want 8001: this is no binary message", v>>16)
		}
		r.envelope.headed = true
		r.version(start, int32(v&0xff), "version 8001, type in the last byte")
		if b[2] != 0 {
			r.fault(start+2, 1, fault.BadHeader, "byte %02x between version and message type, want 00", b[2])
		}
	}
	ok = !r.dead && r.blob(kindNameLength, "name")
	if !r.envelope.headed {
		r.body = r.pos
	}
	if !ok {
		return false
	}
	if r.envelope.form == "unversioned" {
		t, ok := r.take(1, "a message type")
		if !ok {
			return false
		}
		r.version(r.pos-1, int32(t[0]), "no version: the older form")
		if r.dead {
			return false
		}
	}
	start = r.pos
	if b, ok = r.take(4, "a sequence id"); !ok {
		return false
	}
	r.seqID(start, int32(binary.BigEndian.Uint32(b)), "i32, big-endian") //nolint:gosec // signed on the wire
	return true
}
