//go:build !unix

package store

import "io/fs"

// identityOf returns a number that tells a file from another one that takes its place; here size and time have to do.
func identityOf(fs.FileInfo) uint64 { return 0 }
