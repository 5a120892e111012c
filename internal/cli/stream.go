package cli

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// shortestMeasured is how long a stream must take for its rate to mean anything.
const shortestMeasured = 100 * time.Millisecond

var errNoTrailers = errors.New("the stream ended without " + thriftpackv1.BytesTrailer + " and " + thriftpackv1.CRC32CTrailer + ": it may have been cut short")

// receiver takes the chunks of a stream and checks that none is missing.
type receiver struct {
	io    *IO
	addr  string
	quiet bool
	// out gets the bytes as they come.
	out io.Writer
	// announced is whether the server says in a header how many bytes are to come.
	announced bool
}

// receive reads chunks by next until the stream ends, writes them to r.out, and compares their number and CRC-32C with what
// header and trailers say.
func (r *receiver) receive(stream grpc.ClientStream, next func() ([]byte, error)) error {
	start := time.Now()
	header, err := stream.Header()
	if err != nil {
		return newCallError(r.addr, err)
	}
	bar := r.progress(header)
	total, sum := int64(0), uint32(0)
	for {
		data, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			bar.clear()
			return newCallError(r.addr, err)
		}
		if _, err := r.out.Write(data); err != nil {
			bar.clear()
			return fmt.Errorf("output: %w", err)
		}
		total += int64(len(data))
		sum = crc32.Update(sum, castagnoli, data)
		bar.add(len(data))
	}
	bar.clear()
	if err := checkTrailers(stream.Trailer(), total, sum); err != nil {
		return err
	}
	if want := strconv.FormatInt(total, 10); r.announced && !slices.Equal(header.Get(thriftpackv1.LengthHeader), []string{want}) {
		return fmt.Errorf("the server announced %q bytes, %s came", header.Get(thriftpackv1.LengthHeader), want)
	}
	if r.quiet {
		return nil
	}
	rate := ""
	if elapsed := time.Since(start); elapsed >= shortestMeasured {
		rate = fmt.Sprintf(" in %s, %.0f MB/s", elapsed.Round(time.Millisecond), float64(total)/1e6/elapsed.Seconds())
	}
	r.io.note("%d bytes%s, CRC-32C %08x checked", total, rate, sum)
	return nil
}

// checkTrailers compares what came with what was sent.
func checkTrailers(trailer metadata.MD, total int64, sum uint32) error {
	sent, check := trailer.Get(thriftpackv1.BytesTrailer), trailer.Get(thriftpackv1.CRC32CTrailer)
	if len(sent) != 1 || len(check) != 1 {
		return errNoTrailers
	}
	if want := strconv.FormatInt(total, 10); sent[0] != want {
		return fmt.Errorf("the server sent %s bytes, %s came", sent[0], want)
	}
	if want := fmt.Sprintf("%08x", sum); check[0] != want {
		return fmt.Errorf("CRC-32C is %s, the server computed %s: the bytes were changed on the way", want, check[0])
	}
	return nil
}

// checkRead compares how many bytes of size the server says it has read with what it was to read: all, or where the rest may be left
// alone, no more than there are.
func checkRead(read, size int64, allowTrailing bool) error {
	if read == size || allowTrailing && read < size {
		return nil
	}
	return fmt.Errorf("the server says that it has read %d of %d bytes", read, size)
}

// progress is a bar on a terminal, or nothing.
type progress struct{ bar *progressbar.ProgressBar }

// progress starts the bar where stderr is a terminal and the bytes go elsewhere.
func (r *receiver) progress(header metadata.MD) progress {
	if r.quiet || !r.io.ErrTerminal || r.io.OutTerminal {
		return progress{}
	}
	length := int64(-1) // not known: a spinner
	if text := header.Get(thriftpackv1.LengthHeader); len(text) == 1 {
		if n, err := strconv.ParseInt(text[0], 10, 64); err == nil {
			length = n
		}
	}
	return newProgress(r.io, length, "receiving")
}

func (p progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
	}
}

func (p progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear() // see add
	}
}
