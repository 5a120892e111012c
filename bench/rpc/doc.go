// Package rpc measures calls through gRPC: thriftpack's server, and peers that answer the same requests, each in a
// process of its own, called in interleaved pairs. It counts CPU time of the server rather than wall-clock time, which says
// little on a shared machine. For encoders and decoders without gRPC see package suite, for large streams package streaming.
package rpc
