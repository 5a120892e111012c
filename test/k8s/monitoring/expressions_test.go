package monitoring

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"

	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// expression is one PromQL expression, and where it stands.
type expression struct{ where, text string }

// alert is an alerting rule.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// rules is the spec of a PrometheusRule.
type rules struct {
	Groups []struct {
		Name  string  `json:"name"`
		Rules []alert `json:"rules"`
	} `json:"groups"`
}

// dashboard is what these tests look at in Grafana's model.
type dashboard struct {
	Title      string `json:"title"`
	UID        string `json:"uid"`
	Templating struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type panel struct {
	ID          int    `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Type        string `json:"type"`
	GridPos     struct {
		H, W, X, Y int
	} `json:"gridPos"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		Expr         string `json:"expr"`
		LegendFormat string `json:"legendFormat"`
	} `json:"targets"`
}

func production(t *testing.T) *manifests.Bundle {
	t.Helper()
	tree, err := manifests.Load()
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.Bundle("/k8s/overlays/production")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// alerts returns the alerting rules as they are applied.
func alerts(t *testing.T) []alert {
	t.Helper()
	var found []alert
	for _, o := range production(t).Custom {
		if o.GetKind() != "PrometheusRule" {
			continue
		}
		text, err := yaml.Marshal(o.Object["spec"])
		if err != nil {
			t.Fatal(err)
		}
		var spec rules
		if err := yaml.UnmarshalStrict(text, &spec); err != nil {
			t.Fatalf("PrometheusRule %s: %v", o.GetName(), err)
		}
		for _, group := range spec.Groups {
			found = append(found, group.Rules...)
		}
	}
	if len(found) == 0 {
		t.Fatal("production has no alert")
	}
	return found
}

// board returns the dashboard as it is applied.
func board(t *testing.T) dashboard {
	t.Helper()
	m := production(t).ConfigMap("thriftpack-dashboard")
	if m == nil || m.Labels["grafana_dashboard"] != "1" {
		t.Fatal("production has no ConfigMap thriftpack-dashboard with the label that Grafana looks for")
	}
	var d dashboard
	if err := json.Unmarshal([]byte(m.Data["thriftpack.json"]), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// labelValues matches Grafana's query for the values of a variable.
var labelValues = regexp.MustCompile(`label_values\((.*), (\w+)\)`)

// expressions returns every expression of the alerts and the dashboard, with Grafana's variables filled in.
func expressions(t *testing.T) []expression {
	t.Helper()
	var found []expression
	for _, a := range alerts(t) {
		found = append(found, expression{"alert " + a.Alert, a.Expr})
	}
	d := board(t)
	fill := strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$pod", ".*")
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			found = append(found, expression{"panel " + p.Title, fill.Replace(target.Expr)})
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			match := labelValues.FindStringSubmatch(strings.ReplaceAll(string(v.Query), `\"`, `"`))
			if match == nil {
				t.Errorf("variable %s: no label_values in %s", v.Name, v.Query)
				continue
			}
			found = append(found, expression{"variable " + v.Name, fill.Replace("count by (" + match[2] + ") (" + match[1] + ")")})
		}
	}
	return found
}

func TestAlertsSayWhatToDo(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range alerts(t) {
		if seen[a.Alert] || !strings.HasPrefix(a.Alert, "Thriftpack") {
			t.Errorf("alert %q: want a name of its own that begins with Thriftpack", a.Alert)
		}
		seen[a.Alert] = true
		if s := a.Labels["severity"]; s != "warning" && s != "critical" {
			t.Errorf("%s: severity %q, want warning or critical", a.Alert, s)
		}
		if d, err := model.ParseDuration(a.For); err != nil || time.Duration(d) < time.Minute {
			t.Errorf("%s: for %q (%v), want at least a minute: one scrape may fail", a.Alert, a.For, err)
		}
		for _, name := range []string{"summary", "description"} {
			if !strings.HasSuffix(a.Annotations[name], ".") {
				t.Errorf("%s: %s %q is not a sentence", a.Alert, name, a.Annotations[name])
			}
		}
	}
}

func TestPanelsDoNotOverlapAndSayWhatTheyShow(t *testing.T) {
	d := board(t)
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q: want an id of its own, and a title", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("panel %q lies over %q, or outside of the 24 columns", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Description == "" || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("panel %q has no target, no description or no unit", p.Title)
		}
	}
}

// parse reads PromQL as the pinned version of Prometheus does.
func parse(t *testing.T, e expression) parser.Expr {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(e.text)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", e.where, err, e.text)
	}
	return parsed
}
