package encoder

import "unicode/utf8"

const (
	compactProtocol = 0x82
	compactVersion  = 1
	strictVersion   = 0x80010000 // of the binary protocol
)

// envelope writes the header of a message around a value of the kind, which must be a struct.
//
//	compact  82, ttt00001 (type, version), varint seqid, varint length, name      seqid: as unsigned, not zigzag
//	binary   80 01 00 type, 4 bytes length, name, 4 bytes seqid
func (e *Encoder) envelope(m *Message, root uint8) bool {
	switch {
	case root != kindStruct:
		return e.fail(causeRoot, 0, e.end, int64(root), 0)
	case m.Type < 1 || m.Type > 4:
		return e.fail(causeMessageType, 0, 0, int64(m.Type), 0)
	case len(m.Name) > e.maxString:
		return e.fail(causeMessageBytes, 0, 0, int64(len(m.Name)), 0)
	case !utf8.ValidString(m.Name):
		return e.fail(causeMessageName, 0, 0, 0, 0)
	case !e.room():
		return false
	}
	sequence := uint32(m.SeqID) // two's complement
	if e.binary {
		e.putUint32(strictVersion | uint32(m.Type)) // 1..4
		e.putUint32(uint32(len(m.Name)))            // maxString is at most 2^31-1
		if !e.copyText(m.Name) || !e.room() {
			return false
		}
		e.putUint32(sequence)
		return true
	}
	e.putByte(compactProtocol)
	e.putByte(byte(m.Type)<<5 | compactVersion) // 1..4
	e.putVarint(uint64(sequence))
	e.putVarint(uint64(len(m.Name)))
	return e.copyText(m.Name)
}

// copyText writes text that is not part of the value.
func (e *Encoder) copyText(text string) bool {
	for {
		n := copy(e.out[e.written:], text)
		e.written += n
		if text = text[n:]; text == "" {
			return true
		}
		if !e.more(len(text)) {
			return false
		}
	}
}
