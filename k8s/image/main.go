// Command image builds the container image of the server without a container engine: a static binary, the few files that it wants around
// it, and lists of what it is made of. The same source gives the same bytes on every machine, with the same version of Go. `make image`
// runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1) //nolint:forbidigo,gocritic // this is main, and nothing is left to clean up
	}
}

// options are what the image is to be.
type options struct {
	// source is the root of the repository.
	source string
	// output is the folder that becomes an OCI layout.
	output string
	// platforms are "os/arch".
	platforms []string
	// tag names the image in the layout.
	tag string
	// version and revision are told by the server and the labels.
	version, revision string
	// created is the time of every file, and of the image.
	created time.Time
	// push is where to push the image to, "" for nowhere: REGISTRY/NAME:TAG.
	push string
}

// run builds the image that the flags describe, and says what it is.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	var o options
	var platforms string
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.source, "source", ".", "root of the repository")
	flags.StringVar(&o.output, "output", "dist/image", "folder for the OCI layout")
	flags.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "platforms, with commas between them")
	flags.StringVar(&o.tag, "tag", "dev", "name of the image in the layout")
	flags.StringVar(&o.version, "version", "devel", "version of the server")
	flags.StringVar(&o.revision, "revision", "", "commit that it is built of")
	flags.StringVar(&o.push, "push", "", "REGISTRY/NAME:TAG to push the image to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.platforms = strings.Split(platforms, ",")
	var err error
	if o.created, err = createdAt(os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}

	built, err := build(ctx, o)
	if err != nil {
		return err
	}
	if err := built.write(o.output, o.tag); err != nil {
		return err
	}
	digest, err := built.index.Digest()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "%s (%s) in %s: %s\n", o.version, platforms, o.output, digest); err != nil {
		return err
	}
	if o.push == "" {
		return nil
	}
	if err := built.push(ctx, o.push); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "pushed to %s\n", o.push)
	return err
}

var errNoSeconds = errors.New("not a number of seconds")

// createdAt reads SOURCE_DATE_EPOCH, seconds since 1970. Without it files are of 1970: any other time would make each image another one.
func createdAt(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q: %w", text, errNoSeconds)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
