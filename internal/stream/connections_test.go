package stream

import (
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc/test/bufconn"
)

func TestConnectionsClose(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			address := "127.0.0.1:0"
			if network == "unix" {
				address = filepath.Join(t.TempDir(), "s")
			}
			inner, err := new(net.ListenConfig).Listen(t.Context(), network, address)
			if err != nil {
				t.Fatal(err)
			}
			connections := NewConnections()
			lis := connections.Listener(inner)
			defer lis.Close()
			first, firstClient := accept(t, lis)
			second, secondClient := accept(t, lis)
			if first.RemoteAddr() == second.RemoteAddr() {
				t.Fatal("two connections have one address")
			}
			if !connections.Close(first.RemoteAddr()) {
				t.Error("Close of an open connection = false")
			}
			if _, err := firstClient.Read(make([]byte, 1)); err == nil {
				t.Error("the connection is still open")
			}
			if connections.Close(first.RemoteAddr()) {
				t.Error("Close of a closed connection = true")
			}
			if _, err := second.Write([]byte("x")); err != nil {
				t.Errorf("the other connection: %v", err)
			}
			if _, err := secondClient.Read(make([]byte, 1)); err != nil {
				t.Errorf("the other connection: %v", err)
			}
			runtime.KeepAlive(first)
		})
	}
}

func accept(t *testing.T, lis net.Listener) (server, client net.Conn) {
	t.Helper()
	client, err := new(net.Dialer).DialContext(t.Context(), lis.Addr().Network(), lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	server, err = lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, client
}

func TestConnectionsUnknown(t *testing.T) {
	connections := NewConnections()
	for _, address := range []net.Addr{nil, (*net.TCPAddr)(nil), &net.TCPAddr{}, (*net.UnixAddr)(nil), &net.IPAddr{}} {
		if connections.Close(address) {
			t.Errorf("Close(%#v) = true", address)
		}
	}
	// Connections in memory have no identity and pass through.
	inner := bufconn.Listen(1024)
	lis := connections.Listener(inner)
	defer lis.Close()
	go func() {
		if conn, err := inner.DialContext(t.Context()); err == nil {
			conn.Close()
		}
	}()
	conn, err := lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if connections.Close(conn.RemoteAddr()) {
		t.Error("Close of a connection in memory = true")
	}
}

// A connection that gRPC has dropped is forgotten, also when no event ever told of it.
func TestConnectionsForget(t *testing.T) {
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections := NewConnections()
	lis := connections.Listener(inner)
	defer lis.Close()
	func() {
		client, err := new(net.Dialer).DialContext(t.Context(), "tcp", lis.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := lis.Accept()
		if err != nil {
			t.Fatal(err)
		}
		server.Close()
	}()
	eventually(t, "the connection is forgotten", func() bool {
		runtime.GC()
		connections.mu.Lock()
		defer connections.mu.Unlock()
		return len(connections.closer) == 0
	})
}

// eventually waits until done is true. It looks often and gives up late.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	late := time.After(time.Minute)
	for !done() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("not after a minute: %s", what)
		}
	}
}
