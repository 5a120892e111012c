// Package schema holds what package internal/schema makes of Thrift IDL against what Apache's compiler makes of it: generated code
// has default values of its own, and shows what a change of a type does to those who have not noticed it. The folder gen is
// from Apache's compiler 0.17.
package schema

//go:generate thrift --gen go:skip_remote -out gen idl/before.thrift
//go:generate thrift --gen go:skip_remote -out gen idl/after.thrift
//go:generate thrift -r --gen go:skip_remote,package_prefix=github.com/thriftpack/thriftpack/test/schema/gen/ -out gen ../testdata/vectors/idl/defaults.thrift
