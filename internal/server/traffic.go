package server

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/mem"

	"github.com/thriftpack/thriftpack/internal/stream"
)

// traffic counts the bytes of a method's messages: protobuf, unpacked, without what gRPC and TLS add. A nil one counts nothing.
type traffic struct {
	in, out prometheus.Counter
}

// newTraffic returns the counters of every method of our services, by its own name.
func newTraffic(m *metrics) map[string]*traffic {
	all := make(map[string]*traffic)
	for _, fullMethod := range methodNames() {
		if !isOurs(fullMethod) {
			continue
		}
		service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
		all[method] = &traffic{in: m.requestBytes.WithLabelValues(service, method), out: m.replyBytes.WithLabelValues(service, method)}
	}
	return all
}

// received counts a request.
func (t *traffic) received(request *rawRequest) {
	if t != nil {
		t.in.Add(float64(len(request.bytes())))
	}
}

// sent counts a reply of n bytes.
func (t *traffic) sent(n int) {
	if t != nil {
		t.out.Add(float64(n))
	}
}

// replySize is the size of a finished reply, which is to be asked for before it is handed over.
func replySize(reply any) int {
	switch m := reply.(type) {
	case *stream.Message:
		return m.Len()
	case mem.Buffer:
		return m.Len()
	case mem.BufferSlice:
		return m.Len()
	}
	return 0
}
