//go:build !amd64 || purego

package varint

func look(blocks []Block, data []byte, follows uint64) { lookWords(blocks, data, follows) }
