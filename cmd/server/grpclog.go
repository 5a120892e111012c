package main

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/grpclog"
)

// grpcVariable turns gRPC's own log on, for those who look into gRPC.
const grpcVariable = "GRPC_GO_LOG_SEVERITY_LEVEL"

// maxGRPCLine bounds a line of gRPC's log, in bytes.
const maxGRPCLine = 512

// takeGRPCLog puts the errors that gRPC itself logs among our lines. By itself it writes them to stderr as plain text, among lines that
// are JSON.
func takeGRPCLog(logger *slog.Logger) {
	if os.Getenv(grpcVariable) != "" {
		return
	}
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, &grpcLines{logger, rate.NewLimiter(1, 10)}))
}

// grpcLines writes each line as one of ours, and not too many of them.
type grpcLines struct {
	logger *slog.Logger
	bucket *rate.Limiter
}

// Write takes one line.
func (w *grpcLines) Write(line []byte) (int, error) {
	if w.bucket.Allow() {
		text := strings.TrimSpace(string(line[:min(len(line), maxGRPCLine)]))
		w.logger.Error("grpc", slog.String("text", strings.ToValidUTF8(text, "")))
	}
	return len(line), nil
}
