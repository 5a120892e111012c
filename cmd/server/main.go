// Command server serves thriftpack over gRPC until SIGTERM or SIGINT, then drains. --help explains its settings; for what it
// serves see package server.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/thriftpack/thriftpack/internal/buildinfo"
	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/pace"
	"github.com/thriftpack/thriftpack/internal/server"
	"github.com/thriftpack/thriftpack/internal/telemetry"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once: whoever sends it does not want to wait for the drain.
	context.AfterFunc(ctx, stop)

	if err := run(ctx, os.Args, os.Environ(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// run does what the command line asks for. Serving ends when ctx is done, and is nil after an orderly drain.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) error {
	loaded, err := config.Load(args[1:], environ)
	if err != nil {
		return err
	}
	switch loaded.Action {
	case config.ShowHelp:
		return config.Help(stdout, filepath.Base(args[0]))
	case config.ShowVersion:
		_, err := fmt.Fprintf(stdout, "thriftpack server %s\n", buildinfo.Read())
		return err
	case config.CheckConfig:
		return check(&loaded, stdout)
	case config.Serve:
	}
	return serve(ctx, loaded.Config, stderr)
}

// check answers --check-config: what the settings are and allow, and what is in the files that they name.
func check(loaded *config.Loaded, stdout io.Writer) error {
	notes, err := server.Check(loaded.Config)
	if err != nil {
		return err
	}
	if err := loaded.Report(stdout, chooseMemoryLimit(loaded.Config.MemoryLimit, os.DirFS("/")).bytes); err != nil {
		return err
	}
	for i, note := range notes {
		if i == 0 {
			note = "\n# Files:\n# " + note
		} else {
			note = "# " + note
		}
		if _, err := fmt.Fprintln(stdout, note); err != nil {
			return err
		}
	}
	return nil
}

// serve runs the server until ctx is done and it is drained.
func serve(ctx context.Context, cfg config.Config, stderr io.Writer) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return err
	}
	logger := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: level}))

	takeGRPCLog(logger)

	limit := chooseMemoryLimit(cfg.MemoryLimit, os.DirFS("/"))
	if limit.set {
		debug.SetMemoryLimit(limit.bytes)
	}
	pace.Start()

	opts := []server.Option{server.WithLogger(logger)}
	tracing, err := telemetry.Start(ctx, buildinfo.Read().Version, logger)
	if err != nil {
		return err
	}
	if tracing != nil {
		defer tracing.Stop(context.WithoutCancel(ctx)) // when the last call has ended
		opts = append(opts, server.WithTracing(tracing.Provider()))
	}

	s, err := server.New(cfg, append(opts, server.WithListening(func(a server.Addresses) {
		attrs := []slog.Attr{slog.String("version", buildinfo.Read().String()), slog.String("grpc", target(a.GRPC))}
		if a.HTTP != nil {
			attrs = append(attrs, slog.String("http", target(a.HTTP)))
		}
		if a.Health != nil {
			attrs = append(attrs, slog.String("health", target(a.Health)))
		}
		attrs = append(attrs, slog.String("tls", tlsOf(&cfg)), slog.Bool("tracing", tracing != nil))
		attrs = append(attrs, slog.Int64("memory_limit", limit.bytes), slog.String("memory_limit_from", limit.from))
		logger.LogAttrs(ctx, slog.LevelInfo, "serving", attrs...)
	}))...)
	if err != nil {
		return err
	}
	watched, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { newIdleMemory().run(watched) })
	defer watching.Wait()
	defer stop()
	return s.Run(ctx)
}

// tlsOf says how gRPC is served.
func tlsOf(cfg *config.Config) string {
	switch {
	case cfg.TLSClientCA != "":
		return "mutual"
	case cfg.TLS():
		return "on"
	}
	return "off"
}

// target is an address as clients of gRPC take it.
func target(a net.Addr) string {
	if a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return a.String()
}
