package server

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/thriftpack/thriftpack/internal/config"
)

// listeners are the open listeners of a process; those that are not wanted are nil.
type listeners struct {
	grpc, http, health net.Listener
}

// listenAll opens every listener that the settings name, or none.
func listenAll(ctx context.Context, cfg config.Config) (*listeners, error) {
	var all listeners
	for _, want := range []struct {
		name, setting, address string
		listener               *net.Listener
	}{
		{"grpc", "--grpc-addr", cfg.GRPCAddr, &all.grpc},
		{"http", "--http-addr", cfg.HTTPAddr, &all.http},
		{"health", "--health-addr", cfg.HealthAddr, &all.health},
	} {
		if want.address == "" {
			if want.listener == &all.grpc {
				return nil, fmt.Errorf("listen for %s: no address (%s)", want.name, want.setting)
			}
			continue
		}
		lis, err := listen(ctx, want.address, cfg.UnixSocketMode)
		if err != nil {
			all.close()
			return nil, fmt.Errorf("listen for %s (%s): %w", want.name, want.setting, err)
		}
		*want.listener = lis
	}
	return &all, nil
}

// listen opens "host:port" or "unix:PATH" with a socket file of that mode.
func listen(ctx context.Context, address string, mode fs.FileMode) (net.Listener, error) {
	if path, isSocket := strings.CutPrefix(address, "unix:"); isSocket {
		return listenSocket(ctx, path, mode)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}

// addresses are where the listeners are.
func (l *listeners) addresses() Addresses {
	var a Addresses
	for _, pair := range []struct {
		lis  net.Listener
		addr *net.Addr
	}{{l.grpc, &a.GRPC}, {l.http, &a.HTTP}, {l.health, &a.Health}} {
		if pair.lis != nil {
			*pair.addr = pair.lis.Addr()
		}
	}
	return a
}

// close closes those that are open. Servers that served them have done so already.
func (l *listeners) close() {
	for _, lis := range []net.Listener{l.grpc, l.http, l.health} {
		if lis != nil {
			_ = lis.Close()
		}
	}
}
