package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves /metrics, /healthz (alive), /readyz (ready for calls) and, where the settings say so, /debug/pprof.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { code, text := s.readyText(); say(w, code, text) })
	if s.cfg.Pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
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

// say answers with a line of text.
func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // The client may be gone.
}
