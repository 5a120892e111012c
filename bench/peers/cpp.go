// Package peers holds the sources of peers that are not written in Go.
package peers

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
)

// CPP is the C++ peer. Its generated code comes from idl/bench.thrift by `thrift --gen cpp:templates,no_skeleton`.
//
//go:embed cpp
var CPP embed.FS

// Read returns all files of a tree, and a digest of them and of how they are compiled.
func Read(tree embed.FS, flags []string) (files map[string][]byte, digest string, err error) {
	files = make(map[string][]byte)
	sum := sha256.New()
	sum.Write([]byte(strings.Join(flags, " ")))
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		files[name] = text
		fmt.Fprintf(sum, "%s %d\n", name, len(text))
		sum.Write(text)
		return nil
	})
	return files, hex.EncodeToString(sum.Sum(nil)[:8]), err
}
