//go:build !unix

package main

import "time"

// processTime is not to be known here.
func processTime() (time.Duration, bool) { return 0, false }
