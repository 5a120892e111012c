package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/thriftpack/thriftpack/internal/config"
)

// serveWeb serves what a server has over HTTP until the end of the test.
func serveWeb(t *testing.T, change func(*http.Server), changes ...func(*config.Config)) string {
	t.Helper()
	cfg := config.Default()
	cfg.Pprof = true
	for _, c := range changes {
		c(&cfg)
	}
	return serveWebOf(t, newServer(t, cfg), change)
}

// serveWebOf is serveWeb of a server that there is.
func serveWebOf(t *testing.T, s *Server, change func(*http.Server)) string {
	t.Helper()
	web := s.newWeb()
	if change != nil {
		change(web)
	}
	var lc net.ListenConfig
	lis, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(lis) }()
	t.Cleanup(func() {
		_ = web.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
	return lis.Addr().String()
}

// TestWebDropsSlowReaders asks for more than a socket takes, and reads none of it.
func TestWebDropsSlowReaders(t *testing.T) {
	ended := make(chan error, 1)
	addr := serveWeb(t, func(web *http.Server) {
		if web.WriteTimeout <= 0 || web.ReadTimeout <= 0 || web.ReadHeaderTimeout <= 0 || web.IdleTimeout <= 0 {
			t.Errorf("a timeout is missing: %+v", web)
		}
		web.WriteTimeout = 100 * time.Millisecond
		web.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					ended <- err
					return
				}
			}
		})
	})
	conn := dialTCP(t, addr)
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !isTimeout(err) {
			t.Errorf("the handler ended with %v, want a timeout", err)
		}
	case <-time.After(patience):
		t.Errorf("not dropped within %s", patience)
	}
}

// TestProfilesAreBounded takes profiles that take longer than other replies may, and some that would take too long.
func TestProfilesAreBounded(t *testing.T) {
	addr := serveWeb(t, func(web *http.Server) { web.WriteTimeout = time.Second })
	for path, want := range map[string]int{
		"/debug/pprof/trace?seconds=1.2":                        http.StatusOK,
		"/debug/pprof/goroutine?debug=1":                        http.StatusOK,
		"/debug/pprof/trace?seconds=301":                        http.StatusBadRequest,
		"/debug/pprof/profile?seconds=1000000000":               http.StatusBadRequest,
		"/debug/pprof/profile?seconds=NaN":                      http.StatusBadRequest,
		"/debug/pprof/heap?seconds=-1":                          http.StatusBadRequest,
		"/debug/pprof/heap?seconds=x":                           http.StatusBadRequest,
		"/debug/pprof/" + strings.Repeat("x", webHeaderBytes*2): http.StatusRequestHeaderFieldsTooLarge,
		"/debug": http.StatusNotFound,
		"/":      http.StatusNotFound,
	} {
		if code, body := get(t, "http://"+addr+path); code != want {
			t.Errorf("GET %.60s: %d %.100s, want %d", path, code, body, want)
		}
	}
	off := serveWeb(t, nil, func(c *config.Config) { c.Pprof = false })
	if code, _ := get(t, "http://"+off+"/debug/pprof/cmdline"); code != http.StatusNotFound {
		t.Errorf("profiles that are off: %d", code)
	}
}
