// Package idl has the IDL of the benchmarks' payloads.
package idl

import _ "embed"

// Name is the name of the file.
const Name = "bench.thrift"

// Source is its text.
//
//go:embed bench.thrift
var Source string
