package server

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of what is served over HTTP.
const (
	webHeaderTimeout = 10 * time.Second
	webReadTimeout   = 30 * time.Second
	webWriteTimeout  = 30 * time.Second
	webIdleTimeout   = 2 * time.Minute
	webHeaderBytes   = 16 << 10
	// maxScrapes is how many scrapes are answered at a time.
	maxScrapes = 4
	// maxProfileSeconds is how long a profile may take, for which its reply is waited for beyond webWriteTimeout.
	maxProfileSeconds = 300
)

// newWeb returns the server of Handler. A peer that neither sends nor reads is dropped.
func (s *Server) newWeb() *http.Server {
	return &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: webHeaderTimeout, ReadTimeout: webReadTimeout, WriteTimeout: webWriteTimeout,
		IdleTimeout: webIdleTimeout, MaxHeaderBytes: webHeaderBytes,
		ErrorLog: slog.NewLogLogger(s.opts.logger.Handler(), slog.LevelDebug),
	}
}

// Handler serves /metrics, /healthz (alive), /readyz (ready for calls) and, where the settings say so, /debug/pprof.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   s.opts.tracing != nil, // the format that has exemplars
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { code, text := s.readyText(); say(w, code, text) })
	if s.cfg.Pprof {
		mux.HandleFunc("GET /debug/pprof/", bounded(pprof.Index))
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", bounded(pprof.Profile))
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", bounded(pprof.Trace))
	}
	return mux
}

// mostBroken is how many broken schemas /readyz names.
const mostBroken = 10

// readyText is the answer of /readyz. Trouble with schemas is told there, but does not make a server unready: it serves all others.
func (s *Server) readyText() (code int, text string) {
	ready, waits := s.readiness.isReady()
	status := s.service.schemas.Status()
	lines := []string{"ready"}
	code = http.StatusOK
	if !ready {
		lines[0], code = "not ready", http.StatusServiceUnavailable
	}
	if waits {
		lines[0] += ": schemas are being loaded"
	}
	if status.Store && !status.Reachable {
		lines = append(lines, "schema store: away")
	}
	for i, broken := range status.Broken {
		if i == mostBroken {
			lines = append(lines, fmt.Sprintf("and %d more", len(status.Broken)-i))
			break
		}
		lines = append(lines, "broken schema "+broken)
	}
	return code, strings.Join(lines, "\n") + "\n"
}

// bounded refuses profiles that take too long.
func bounded(profile http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if text := r.FormValue("seconds"); text != "" {
			if seconds, err := strconv.ParseFloat(text, 64); err != nil || !(seconds >= 0 && seconds <= maxProfileSeconds) {
				say(w, http.StatusBadRequest, fmt.Sprintf("seconds: want a number of at most %d\n", maxProfileSeconds))
				return
			}
		}
		profile(w, r)
	}
}

// say answers with a line of text.
func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // The client may be gone.
}
