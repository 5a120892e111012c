package monitoring

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"google.golang.org/grpc/codes"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
)

// family is what a server says of one metric.
type family struct {
	kind   dto.MetricType
	labels map[string]map[string]bool // name -> values
}

// registered asks a server that has everything switched on for its metrics. Histograms and summaries stand under the names of their series.
func registered(t *testing.T) map[string]family {
	t.Helper()
	cfg := config.Default()
	cfg.TLSCert, cfg.TLSKey = certificate(t)
	cfg.TLSClientCA = cfg.TLSCert
	cfg.RateLimit = 1
	cfg.SchemaStore = "file:" + filepath.Join(t.TempDir(), "schemas.db")
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	gathered, err := prometheus.Gatherer(s.Registry()).Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]family{}
	for _, g := range gathered {
		f := family{kind: g.GetType(), labels: map[string]map[string]bool{}}
		for _, m := range g.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.labels[l.GetName()] == nil {
					f.labels[l.GetName()] = map[string]bool{}
				}
				f.labels[l.GetName()][l.GetValue()] = true
			}
		}
		switch g.GetType() {
		case dto.MetricType_HISTOGRAM, dto.MetricType_SUMMARY:
			for _, suffix := range []string{"_sum", "_count"} {
				all[g.GetName()+suffix] = f
			}
			withBounds := family{kind: f.kind, labels: maps.Clone(f.labels)}
			name, bound := g.GetName()+"_bucket", "le"
			if g.GetType() == dto.MetricType_SUMMARY {
				name, bound = g.GetName(), "quantile"
			}
			withBounds.labels[bound] = nil
			all[name] = withBounds
		default:
			all[g.GetName()] = f
		}
	}
	all["up"] = family{kind: dto.MetricType_GAUGE} // Prometheus' own, of every target
	return all
}

// targetLabels are what Prometheus Operator adds to the series of a pod.
var targetLabels = []string{"job", "namespace", "pod", "container", "instance", "endpoint"}

// TestExpressionsUseWhatTheServerHas compares every metric, label and value of a label with a server's own registry.
func TestExpressionsUseWhatTheServerHas(t *testing.T) {
	metrics := registered(t)
	used := map[string]bool{}
	for _, e := range expressions(t) {
		known := map[string]bool{}
		for _, name := range targetLabels {
			known[name] = true
		}
		parsed := parse(t, e)
		parser.Inspect(parsed, func(node parser.Node, path []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if !ok {
				return nil
			}
			f, ok := metrics[selector.Name]
			if !ok {
				t.Errorf("%s: the server has no metric %q", e.where, selector.Name)
				return nil
			}
			used[selector.Name] = true
			for name := range f.labels {
				known[name] = true
			}
			checkSelector(t, e.where, selector, f)
			checkRate(t, e.where, selector, f, path)
			return nil
		})
		parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
			if a, ok := node.(*parser.AggregateExpr); ok {
				for _, name := range a.Grouping {
					if !known[name] {
						t.Errorf("%s: sums by %q, which none of its metrics has", e.where, name)
					}
				}
			}
			return nil
		})
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if strings.HasPrefix(name, "thriftpack_") && !used[name] {
			t.Errorf("neither a panel nor an alert shows %s", name)
		}
	}
}

func checkSelector(t *testing.T, where string, selector *parser.VectorSelector, f family) {
	t.Helper()
	job := ""
	for _, m := range selector.LabelMatchers {
		switch {
		case m.Name == model.MetricNameLabel:
		case m.Name == "job":
			job = m.Value
		case slices.Contains(targetLabels, m.Name):
		case f.labels[m.Name] == nil:
			if _, known := f.labels[m.Name]; !known {
				t.Errorf("%s: %s has no label %q", where, selector.Name, m.Name)
			}
		default:
			for _, value := range values(m) {
				// Prometheus has no series of a value that never came up; of codes the server makes all.
				if !f.labels[m.Name][value] {
					t.Errorf("%s: %s has no %s=%q", where, selector.Name, m.Name, value)
				}
			}
		}
	}
	if job != "thriftpack" {
		t.Errorf(`%s: %s is of job %q, want thriftpack: other services have such metrics, too`, where, selector.Name, job)
	}
}

// values are what a matcher names: one, or the alternatives of a simple expression.
func values(m *labels.Matcher) []string { return strings.Split(m.Value, "|") }

// checkRate wants counters, and only those, to be looked at by their rate or against each other.
func checkRate(t *testing.T, where string, selector *parser.VectorSelector, f family, path []parser.Node) {
	t.Helper()
	rated := slices.ContainsFunc(path, func(n parser.Node) bool {
		call, ok := n.(*parser.Call)
		return ok && (call.Func.Name == "rate" || call.Func.Name == "increase")
	})
	difference := slices.ContainsFunc(path, func(n parser.Node) bool {
		b, ok := n.(*parser.BinaryExpr)
		return ok && b.Op == parser.SUB
	})
	counts := f.kind == dto.MetricType_COUNTER || f.kind == dto.MetricType_HISTOGRAM
	if counts && !rated && !difference {
		t.Errorf("%s: %s only ever rises; take its rate", where, selector.Name)
	}
	if !counts && rated {
		t.Errorf("%s: %s is no counter, its rate means nothing", where, selector.Name)
	}
}

// TestAlertsNameCodesOfGRPC keeps a misspelled code from being one that never comes up.
func TestAlertsNameCodesOfGRPC(t *testing.T) {
	known := map[string]bool{}
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		known[code.String()] = true
	}
	named := 0
	for _, e := range expressions(t) {
		for _, match := range regexp.MustCompile(`grpc_code[!=~]+"([^"]*)"`).FindAllStringSubmatch(e.text, -1) {
			for _, code := range strings.Split(match[1], "|") {
				if named++; !known[code] {
					t.Errorf("%s: %q is no code of gRPC", e.where, code)
				}
			}
		}
	}
	if named == 0 {
		t.Error("no expression names a code: is the pattern right?")
	}
}
