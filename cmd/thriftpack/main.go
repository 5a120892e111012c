// Command thriftpack encodes values as Thrift bytes, decodes them and lists what is in them. Its commands are in package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/thriftpack/thriftpack/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// A reader that went away is an error of the write, which is reported, rather than a silent end.
	signal.Ignore(syscall.SIGPIPE)

	os.Exit(cli.Run(ctx, os.Args[1:], cli.IO{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal: isTerminal(os.Stdin), OutTerminal: isTerminal(os.Stdout), ErrTerminal: isTerminal(os.Stderr),
	}))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
