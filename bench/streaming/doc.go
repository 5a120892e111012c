// Package streaming measures large streams: a server and a client in processes of their own, what CPU time and anonymous
// memory (RssAnon) each needs, and how fast the bytes go beside a server that only moves them. The programs are made of
// the same binary: a child process answers questions on its standard input (Child), so the measuring process stays out of
// what it measures. Unary calls are measured by package rpc, the codecs alone by package suite.
package streaming

import (
	"fmt"

	"google.golang.org/grpc"
)

// The kinds of servers.
const (
	// Thriftpack is our server with its default settings.
	Thriftpack = "thriftpack"
	// Fresh is our server with new memory for every chunk instead of reused ones: the control.
	Fresh = "fresh"
	// Raw moves bytes and looks at none of them, behind the same transport settings and interceptors: EncodeStream sends a
	// static buffer in chunks of the size asked for; EncodeParts and DecodeParts send back the messages that come in,
	// without a copy.
	Raw = "raw"
	// Bare is Raw with grpc-go's defaults, windows that grow by what is measured among them, and no interceptors.
	Bare = "bare"
)

// The kinds of clients.
const (
	// Stock uses grpc-go's own codec and the generated messages.
	Stock = "stock"
	// Lean sends finished bytes and counts what it gets: the least that a client can do.
	Lean = "lean"
)

// The methods that are measured.
const (
	EncodeStream = "EncodeStream"
	EncodeParts  = "EncodeParts"
	DecodeParts  = "DecodeParts"
)

// The payloads.
const (
	// Binary is one binary for each GiB, or a record of a binary of 1 MiB for EncodeStream.
	Binary = "binary"
	// I64 is one list<i64> for each GiB, or a record of one of 1 MiB, with varints of all lengths.
	I64 = "i64"
)

// Transport is settings of gRPC in bytes; 0 leaves one as it is.
type Transport struct {
	StreamWindow     int32 `json:"stream_window,omitempty"`
	ConnectionWindow int32 `json:"connection_window,omitempty"`
	ReadBuffer       int   `json:"read_buffer,omitempty"`
	WriteBuffer      int   `json:"write_buffer,omitempty"`
}

// String names the settings that are not as they are by default.
func (t Transport) String() string {
	if t == (Transport{}) {
		return "as it is"
	}
	return fmt.Sprintf("windows %d/%d KiB, buffers %d/%d KiB",
		t.StreamWindow>>10, t.ConnectionWindow>>10, t.ReadBuffer>>10, t.WriteBuffer>>10)
}

func (t Transport) serverOptions() []grpc.ServerOption {
	var opts []grpc.ServerOption
	if t.StreamWindow > 0 {
		opts = append(opts, grpc.StaticStreamWindowSize(t.StreamWindow), grpc.StaticConnWindowSize(t.ConnectionWindow))
	}
	if t.ReadBuffer > 0 {
		opts = append(opts, grpc.ReadBufferSize(t.ReadBuffer))
	}
	if t.WriteBuffer > 0 {
		opts = append(opts, grpc.WriteBufferSize(t.WriteBuffer))
	}
	return opts
}

func (t Transport) dialOptions() []grpc.DialOption {
	var opts []grpc.DialOption
	if t.StreamWindow > 0 {
		opts = append(opts, grpc.WithStaticStreamWindowSize(t.StreamWindow), grpc.WithStaticConnWindowSize(t.ConnectionWindow))
	}
	if t.ReadBuffer > 0 {
		opts = append(opts, grpc.WithReadBufferSize(t.ReadBuffer))
	}
	if t.WriteBuffer > 0 {
		opts = append(opts, grpc.WithWriteBufferSize(t.WriteBuffer))
	}
	return opts
}
