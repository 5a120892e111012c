package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// situation is what Prometheus has scraped every 30 seconds, in promtool's notation, and which alerts follow.
type situation struct {
	name   string
	series string
	fires  []string
}

// Labels of one pod's series.
const pod = `job="thriftpack", namespace="n", pod="p"`

// calm is a pod that serves 100 calls in a second and has all it needs.
const calm = `
up{` + pod + `} 1x40
grpc_server_handled_total{` + pod + `, grpc_code="OK"} 0+3000x40
grpc_server_handled_total{` + pod + `, grpc_code="InvalidArgument"} 0+300x40
grpc_server_handled_total{` + pod + `, grpc_code="Internal"} 0x40
grpc_server_handled_total{` + pod + `, grpc_code="Unavailable"} 0x40
grpc_server_handled_total{` + pod + `, grpc_code="ResourceExhausted"} 0+3x40
grpc_server_handling_seconds_bucket{` + pod + `, grpc_type="unary", le="0.1"} 0+3300x40
grpc_server_handling_seconds_bucket{` + pod + `, grpc_type="unary", le="5"} 0+3303x40
grpc_server_handling_seconds_bucket{` + pod + `, grpc_type="unary", le="+Inf"} 0+3303x40
thriftpack_stream_budget_waiting{` + pod + `} 0x40
thriftpack_streams_refused_total{` + pod + `} 0x40
thriftpack_connections_refused_total{` + pod + `} 7x40
process_open_fds{` + pod + `} 100x40
process_max_fds{` + pod + `} 1024x40
process_resident_memory_bytes{` + pod + `} 200000000x40
go_gc_gomemlimit_bytes{` + pod + `} 480000000x40
thriftpack_tls_certificate_expiry_seconds{` + pod + `, files="certificate"} 5184000x40
thriftpack_files_current{` + pod + `, files="certificate"} 1x40
thriftpack_schemas_broken{` + pod + `} 0x40
thriftpack_schema_store_up{` + pod + `} 1x40
`

// with is calm with the values of one series replaced.
func with(t *testing.T, series, samples string) string {
	t.Helper()
	var lines []string
	replaced := 0
	for _, line := range strings.Split(calm, "\n") {
		if strings.HasPrefix(line, series) {
			name, _, _ := strings.Cut(line, "} ")
			line = name + "} " + samples
			replaced++
		}
		lines = append(lines, line)
	}
	if replaced != 1 {
		t.Fatalf("%d series begin with %q, want one", replaced, series)
	}
	return strings.Join(lines, "\n")
}

func situations(t *testing.T) []situation {
	t.Helper()
	handled := func(code string) string { return `grpc_server_handled_total{` + pod + `, grpc_code="` + code }
	return []situation{
		{"all is well", calm, nil},
		{"no pod answers", with(t, "up", "1x20 0x20"), []string{"ThriftpackDown"}},
		{"there is no pod", "unrelated 1x40", []string{"ThriftpackDown"}},
		{"a call in a minute is INTERNAL", with(t, handled("Internal"), "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9 10 10 11 11 12 12 13 13 14 14 15 15 16 16 17 17 18 18 19 19 20"), []string{"ThriftpackFaults"}},
		{"one call in ten is refused", with(t, handled("Unavailable"), "0+350x40"), []string{"ThriftpackOverload"}},
		{"one call in a hundred is refused", with(t, handled("Unavailable"), "0+30x40"), nil},
		{"two calls in a hundred take seconds", with(t, `grpc_server_handling_seconds_bucket{`+pod+`, grpc_type="unary", le="0.1"`, "0+3230x40"), []string{"ThriftpackSlow"}},
		{"streams wait", with(t, "thriftpack_stream_budget_waiting", "3x40"), []string{"ThriftpackStreamBudget"}},
		{"streams are refused", with(t, "thriftpack_streams_refused_total", "0+5x40"), []string{"ThriftpackStreamBudget"}},
		{"connections are refused", with(t, "thriftpack_connections_refused_total", "7+1x40"), []string{"ThriftpackConnections"}},
		{"file descriptors run out", with(t, "process_open_fds", "900x40"), []string{"ThriftpackConnections"}},
		{"a certificate expires within a day", with(t, "thriftpack_tls_certificate_expiry_seconds", "86400x40"), []string{"ThriftpackCertificate"}},
		{"a key was renewed without its certificate", with(t, "thriftpack_files_current", "1x10 0x30"), []string{"ThriftpackFiles"}},
		{"a schema does not compile", with(t, "thriftpack_schemas_broken", "1x40"), []string{"ThriftpackSchemas"}},
		{"etcd is away", with(t, "thriftpack_schema_store_up", "1x30 0x10"), []string{"ThriftpackSchemaStore"}},
		{"memory beyond the soft limit", with(t, "process_resident_memory_bytes", "490000000x40"), []string{"ThriftpackMemory"}},
	}
}

// label matches a label in a template of an annotation.
var label = regexp.MustCompile(`\$labels\.(\w+)`)

// TestAlertsFireWhenTheyShould evaluates every alert after 20 minutes of each situation.
func TestAlertsFireWhenTheyShould(t *testing.T) {
	engine := promqltest.NewTestEngine(t, false, 0, 100_000)
	fired := map[string]bool{}
	for _, s := range situations(t) {
		t.Run(s.name, func(t *testing.T) {
			storage := promqltest.LoadedStorage(t, "load 30s\n  "+strings.Join(strings.Split(strings.TrimSpace(s.series), "\n"), "\n  "))
			for _, a := range alerts(t) {
				query, err := engine.NewInstantQuery(t.Context(), storage, promql.NewPrometheusQueryOpts(false, 0), a.Expr, time.Unix(0, 0).Add(20*time.Minute))
				if err != nil {
					t.Fatalf("%s: %v", a.Alert, err)
				}
				result := query.Exec(t.Context())
				vector, err := result.Vector()
				if err != nil {
					t.Fatalf("%s: %v", a.Alert, err)
				}
				want := slices.Contains(s.fires, a.Alert)
				if got := len(vector) > 0; got != want {
					t.Errorf("%s fires: %v, want %v; result %v", a.Alert, got, want, vector)
				}
				for _, sample := range vector {
					fired[a.Alert] = true
					for _, text := range a.Annotations {
						for _, match := range label.FindAllStringSubmatch(text, -1) {
							if sample.Metric.Get(match[1]) == "" {
								t.Errorf("%s: %q names label %s, and the result %v has none", a.Alert, text, match[1], sample.Metric)
							}
						}
					}
				}
				query.Close()
			}
		})
	}
	for _, a := range alerts(t) {
		if !fired[a.Alert] {
			t.Errorf("%s fires in no situation", a.Alert)
		}
	}
}

// TestEveryAlertHasItsParagraph looks up the headings that runbook_url leads to.
func TestEveryAlertHasItsParagraph(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts(t) {
		const document = "/docs/kubernetes.md#"
		_, anchor, found := strings.Cut(a.Annotations["runbook_url"], document)
		if !found || anchor != strings.ToLower(a.Alert) || !strings.Contains(string(text), "\n### "+a.Alert+"\n") {
			t.Errorf("%s: runbook_url %q leads to no heading of docs/kubernetes.md", a.Alert, a.Annotations["runbook_url"])
		}
	}
}
