package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/grpc/metadata"
)

// requestIDHeader names a call for those who look for it later: callers may send it, replies have it, and so have the lines of the log.
const requestIDHeader = "x-request-id"

// maxRequestID bounds the id that a caller sends, in bytes.
const maxRequestID = 128

// requestIDOf returns the id that a caller has given its call, or "" where it has given none that may be logged and sent back: one of
// letters, digits and a few signs.
func requestIDOf(ctx context.Context) string {
	values := metadata.ValueFromIncomingContext(ctx, requestIDHeader)
	if len(values) != 1 || len(values[0]) == 0 || len(values[0]) > maxRequestID {
		return ""
	}
	for _, b := range []byte(values[0]) {
		if !inRequestID[b] {
			return ""
		}
	}
	return values[0]
}

// inRequestID are the bytes that an id is made of.
var inRequestID = func() (allowed [256]bool) {
	for _, b := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=:@,") {
		allowed[b] = true
	}
	return allowed
}()

// newRequestID makes an id for a call that has none.
func newRequestID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it does not fail
	return hex.EncodeToString(id[:])
}
