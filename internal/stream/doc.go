// Package stream lends the memory that encoded bytes are written in, hands it to gRPC without a copy, and takes it back
// cleared. It bounds what streams may hold and ends a stream whose peer does not move. It knows nothing of Thrift, of
// requests or of status codes: package server joins it to packages encoder and decoder.
//
//	Pool ──Get──▶ Chunk ──filled by an encoder──▶ Sender ──Message──▶ gRPC ──Free──▶ cleared ──▶ Pool
//	                                                │                   │
//	                                    Budget (per process)    Account (per connection)
//	                                    bounds what runs        knows what gRPC still holds
//
// docs/decisions/0003-chunk-ownership.md says who owns which bytes when, docs/decisions/0004-stall.md how a blocked
// stream is ended.
package stream
