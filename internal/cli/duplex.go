package cli

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// duplex sends requests and receives responses at the same time, as streams in both directions must be used: the server waits for
// its replies to be read before it takes more.
type duplex struct {
	io      *IO
	addr    string
	quiet   bool
	verb    string // of the progress bar
	in      *source
	started time.Time
	// locate, where set, returns the error of a call with the lines that it is of, nil where it is of none.
	locate func(error) error

	bytes int64 // of data that came
	crc   uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// count counts data that the trailers tell of.
func (d *duplex) count(data []byte) {
	d.bytes += int64(len(data))
	d.crc = crc32.Update(d.crc, castagnoli, data)
}

// run calls send, which sends everything on a goroutine of its own, and receive until it returns io.EOF. An error of the input, which send
// returns after it has sent all that stands before, is returned when all of that was answered; of other errors, of the output
// or of the server, the first. cancel ends the stream.
func (d *duplex) run(cancel context.CancelFunc, stream grpc.ClientStream, send, receive func() error) error {
	d.started = time.Now()
	closed := make(chan error, 1)
	var ended atomic.Pointer[inputEnd]
	go func() {
		err := send()
		if errors.Is(err, io.EOF) {
			return // the server has ended the stream; receive says why
		}
		ended.Store(&inputEnd{err})
		closed <- stream.CloseSend()
	}()
	bar := d.progress()
	var err error
	for err == nil {
		err = receive()
		bar.set(d.in.read.Load())
	}
	bar.clear()
	input := ended.Load()
	if !errors.Is(err, io.EOF) {
		cancel()
		return d.broken(input, err)
	}
	if input == nil {
		cancel() // send may be waiting for input that nobody needs any more
		return errEndedEarly
	}
	if err := <-closed; err != nil {
		return input.and(newCallError(d.addr, err))
	}
	return input.and(checkTrailers(stream.Trailer(), d.bytes, d.crc))
}

// broken is the error of a stream that ended with err when the input had ended as it says, or not yet, which is nil.
func (d *duplex) broken(input *inputEnd, err error) error {
	var local *localError
	if errors.As(err, &local) {
		return err
	}
	err = newCallError(d.addr, err)
	if d.locate != nil {
		if located := d.locate(err); located != nil {
			return located // a line before the one that the input ended at
		}
	}
	if input != nil && status.Code(err) == codes.InvalidArgument {
		return input.or(err) // since it ended too early
	}
	return input.and(err)
}

// inputEnd is how the input ended: with an error of one of its lines, or with nil.
type inputEnd struct{ err error }

// or is the error of the input, or else err.
func (e *inputEnd) or(err error) error {
	if e == nil || e.err == nil {
		return err
	}
	return e.err
}

// and is the error of the input, of what came before it, or of both.
func (e *inputEnd) and(err error) error {
	if e == nil || e.err == nil || err == nil {
		return e.or(err)
	}
	return fmt.Errorf("%w; and what was before that did not come: %w", e.err, err)
}

var errEndedEarly = errors.New("the server ended the stream before the input did")

// localError is an error of receive that is not the call's: of the output, or of one value.
type localError struct{ err error }

// Error is the text of the error.
func (e *localError) Error() string { return e.err.Error() }

// Unwrap returns the error.
func (e *localError) Unwrap() error { return e.err }

// outputError is the error of an output that cannot be written.
func outputError(err error) error { return &localError{fmt.Errorf("output: %w", err)} }

// write writes to the output.
func write(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return outputError(err)
	}
	return nil
}

// summary says on stderr what was done.
func (d *duplex) summary(format string, args ...any) {
	if d.quiet {
		return
	}
	rate := ""
	if elapsed := time.Since(d.started); elapsed >= shortestMeasured {
		rate = fmt.Sprintf(" in %s, %.0f MB/s", elapsed.Round(time.Millisecond), float64(d.in.read.Load())/1e6/elapsed.Seconds())
	}
	d.io.note("%s%s, CRC-32C %08x checked", fmt.Sprintf(format, args...), rate, d.crc)
}

// progress starts a bar that shows how much of the input was read, with rate and, where its size is known, the time that is left.
func (d *duplex) progress() progress {
	if d.quiet || !d.io.ErrTerminal || d.io.OutTerminal {
		return progress{}
	}
	return newProgress(d.io, d.in.size, d.verb)
}

// newProgress starts a bar of a number of bytes, -1 where it is not known.
func newProgress(s *IO, length int64, verb string) progress {
	return progress{progressbar.NewOptions64(length, progressbar.OptionSetWriter(s.Err), progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(true),
		progressbar.OptionSetDescription(verb))}
}

func (p progress) set(n int64) {
	if p.bar != nil {
		_ = p.bar.Set64(n) // a bar that cannot be drawn is no reason to stop
	}
}
