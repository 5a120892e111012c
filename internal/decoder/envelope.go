package decoder

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/thriftpack/thriftpack/internal/fault"
)

const (
	compactID      = 0x82       // first byte of a compact message
	compactVersion = 1          // lower five bits of the second
	strictVersion  = 0x80010000 // upper half of a strict binary message's first four bytes
	frameSize      = 4
	keptName       = 64 // the longest envelope name that is remembered
)

// frame reads the frame's length and bounds the input by it. It returns where the frame's contents start.
//
//	4-byte big-endian length
func (d *Decoder) frame() (pos int) {
	if len(d.data) < frameSize {
		return d.short("the frame's length")
	}
	n := int(binary.BigEndian.Uint32(d.data))
	left := len(d.data) - frameSize
	if n > maxSize {
		return d.fail(fault.NegativeSize, 0, "length of the frame is negative: %d", n-1<<32)
	}
	if n > left {
		return d.claims(0, "frame of %d bytes", n, n, left)
	}
	d.data = d.data[:frameSize+n]
	return frameSize
}

// envelope reads the envelope of a message and returns where the struct starts.
func (d *Decoder) envelope(pos int, m *Message) (end int) {
	if d.binary {
		return d.binaryEnvelope(pos, m)
	}
	return d.compactEnvelope(pos, m)
}

// compactEnvelope reads thrift-compact-protocol.md, "Message".
//
//	82, ttt vvvvv: type and version 1, varint seqid (two's complement, not zigzag), varint length, name
func (d *Decoder) compactEnvelope(pos int, m *Message) (end int) {
	data := d.data
	if pos >= len(data) {
		return d.short("a message header")
	}
	if data[pos] != compactID {
		return d.fail(fault.BadVersion, pos, "protocol id 0x%02x, want 0x82 of a compact message", data[pos])
	}
	if pos++; pos >= len(data) {
		return d.short("a message header")
	}
	if version := data[pos] & 31; version != compactVersion {
		return d.fail(fault.BadVersion, pos, "version %d of the compact protocol, want 1", version)
	}
	if m.Type = int32(data[pos] >> 5); m.Type < 1 || m.Type > 4 {
		return d.fail(fault.BadHeader, pos, "message type %d, want 1..4", m.Type)
	}
	pos++
	seqID, end := consumeVarint(data, pos)
	if end < 0 {
		return d.badVarint(pos, end, "a sequence id")
	}
	if seqID > 1<<32-1 {
		return d.fail(fault.VarintOverflow, pos, "varint of a sequence id is wider than 32 bits")
	}
	m.SeqID = int32(seqID) // two's complement
	return d.messageName(end, m)
}

// binaryEnvelope reads thrift-binary-protocol.md, "Message".
//
//	strict: 80 01 00, type, name, 4-byte seqid       name: 4-byte length, bytes
//	old:    name, type, 4-byte seqid
func (d *Decoder) binaryEnvelope(pos int, m *Message) (end int) {
	data := d.data
	if len(data)-pos < 4 {
		return d.short("a message header")
	}
	word := binary.BigEndian.Uint32(data[pos:])
	strict := word >= 1<<31
	typeAt := pos + 3
	if strict {
		if word&0xffff0000 != strictVersion {
			return d.fail(fault.BadVersion, pos, "version 0x%04x of the binary protocol, want 0x8001", word>>16)
		}
		if data[pos+2] != 0 && !d.lenient {
			return d.fail(fault.BadHeader, pos+2, "byte 0x%02x between version and message type, want 0", data[pos+2])
		}
		pos += 4
	}
	if end = d.messageName(pos, m); end < 0 {
		return failed
	}
	if !strict {
		if typeAt = end; typeAt >= len(data) {
			return d.short("a message header")
		}
		end++
	}
	if m.Type = int32(data[typeAt]); m.Type < 1 || m.Type > 4 {
		return d.fail(fault.BadHeader, typeAt, "message type %d, want 1..4", m.Type)
	}
	if len(data)-end < 4 {
		return d.short("a sequence id")
	}
	m.SeqID = int32(binary.BigEndian.Uint32(data[end:])) // two's complement
	return end + 4
}

// messageName reads an envelope's name and returns where it ends.
func (d *Decoder) messageName(pos int, m *Message) (end int) {
	start, n := d.length(pos)
	if start < 0 {
		return failed
	}
	name := d.data[start : start+n]
	if !utf8.Valid(name) {
		return d.fail(fault.BadUTF8, start, "message name is not valid UTF-8")
	}
	if m.Name = d.name; m.Name != string(name) {
		m.Name = string(name)
		if n <= keptName {
			d.name = m.Name
		}
	}
	return start + n
}
