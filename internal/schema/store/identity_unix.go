//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// identityOf returns a number that tells a file from another one that takes its place.
func identityOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
