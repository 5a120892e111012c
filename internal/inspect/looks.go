package inspect

import (
	"bytes"
)

// formats are other things that people hold for Thrift compact or binary, by what stands at an offset.
var formats = []struct {
	offset int
	magic  string
	name   string
}{
	{4, "\x0f\xff", "a THeader frame (magic 0fff): cut its header off first, and undo its transforms"},
	{0, "\x82\x22", "a compact message of version 2, fbthrift's dialect"},
	{0, "\x1f\x8b", "gzip: decompress it first"},
	{0, "\x28\xb5\x2f\xfd", "zstd: decompress it first"},
	{0, "\x04\x22\x4d\x18", "lz4: decompress it first"},
	{0, "\xff\x06\x00\x00sNaPpY", "snappy: decompress it first"},
	{0, "PAR1", "a Parquet file: its footer is Thrift compact, and its length is in the 4 bytes before the last PAR1"},
	{0, "Obj\x01", "an Avro file"},
	{0, "[1,\"", "a message of Thrift's JSON protocol"},
	{0, "{\"", "JSON"},
	{0, "POST ", "an HTTP request: the Thrift bytes are its body"},
	{0, "HTTP/", "an HTTP response: the Thrift bytes are its body"},
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\r\n"

// looksLike names what bytes that are not what they were read as look like, or "".
func looksLike(data []byte) string {
	for _, f := range formats {
		if len(data) >= f.offset && bytes.HasPrefix(data[f.offset:], []byte(f.magic)) {
			return f.name
		}
	}
	const most = 4096
	head := data[:min(len(data), most)]
	if len(head) >= 4 && len(bytes.TrimLeft(head, "0123456789abcdefABCDEF \r\n")) == 0 {
		return "hexadecimal text rather than bytes"
	}
	if len(data) >= 8 && len(bytes.TrimLeft(head, base64Alphabet)) == 0 {
		return "base64 text rather than bytes"
	}
	return ""
}
