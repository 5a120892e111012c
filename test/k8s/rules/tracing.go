package rules

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// endpointVariable is where OpenTelemetry's exporters send to.
const endpointVariable = "OTEL_EXPORTER_OTLP_ENDPOINT"

func checkTracing(b *manifests.Bundle, r *report) {
	for _, s := range b.Servers() {
		environ, err := b.Environment(s.Container)
		if err != nil {
			continue // checkReferences reports it
		}
		for _, entry := range environ {
			name, value, _ := strings.Cut(entry, "=")
			if !strings.HasPrefix(name, "OTEL_") {
				continue
			}
			if strings.Contains(name, "HEADERS") {
				r.add("%s: %s is where credentials are; take it from a Secret", where(s), name)
			}
			if name != endpointVariable {
				continue
			}
			endpoint, err := url.Parse(value)
			if err != nil || endpoint.Port() == "" {
				r.add("%s: %s %q is not a URL with a port", where(s), name, value)
				continue
			}
			checkEgress(b, where(s), endpoint.Host, r)
		}
	}
}

const dnsPort = 53

// checkEgress wants policies that let the server find and reach a host:port.
func checkEgress(b *manifests.Bundle, who, to string, r *report) {
	reached := map[int]bool{}
	for _, policy := range b.NetworkPolicies {
		for _, rule := range policy.Spec.Egress {
			for _, p := range rule.Ports {
				if p.Port != nil {
					reached[p.Port.IntValue()] = true
				}
			}
		}
	}
	_, text, _ := net.SplitHostPort(to)
	if n, err := strconv.Atoi(text); err != nil || !reached[n] {
		r.add("%s: no NetworkPolicy lets it out to %s", who, to)
	}
	if !reached[dnsPort] {
		r.add("%s: no NetworkPolicy lets it out to the DNS", who)
	}
}
