package thriftpackv1

// The metadata of streaming RPCs, see SerializerService. The values are decimal numbers, but for the CRC, which is eight
// hexadecimal digits. A stream that failed has its trailers, too: they are about what was sent until then.
const (
	// LengthHeader is the header with the number of bytes that EncodeStream is going to send.
	LengthHeader = "thriftpack-length"
	// BytesTrailer is the trailer with the number of bytes of data that were sent.
	BytesTrailer = "thriftpack-bytes"
	// CRC32CTrailer is the trailer with the CRC-32C (Castagnoli) of the data that was sent.
	CRC32CTrailer = "thriftpack-crc32c"
	// BytesReadTrailer is the trailer of DecodeParts with the number of bytes of input that are in what was sent.
	BytesReadTrailer = "thriftpack-bytes-read"
)
