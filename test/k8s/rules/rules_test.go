package rules

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/internal/server"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

func loadTree(t *testing.T) *manifests.Tree {
	t.Helper()
	tree, err := manifests.Load()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestEverythingThatIsShippedKeepsTheRules(t *testing.T) {
	bundles, err := loadTree(t).Bundles()
	if err != nil {
		t.Fatal(err)
	}
	if len(bundles) < 5 {
		t.Fatalf("%d kustomizations, want the overlays, the examples and each component", len(bundles))
	}
	for _, b := range bundles {
		t.Run(strings.TrimPrefix(b.Name, "/k8s/"), func(t *testing.T) {
			for _, rule := range All() {
				for _, violation := range rule.Check(b) {
					t.Errorf("%s: %s (%s)", rule.Name, violation, rule.Why)
				}
			}
		})
	}
}

// TestEveryRuleCanFail breaks what is shipped in one place at a time: a rule that takes everything protects nobody.
func TestEveryRuleCanFail(t *testing.T) {
	broken := map[string]int{}
	for _, test := range breakages() {
		t.Run(test.name, func(t *testing.T) {
			tree := loadTree(t)
			folder := "/k8s/overlays/production"
			if component, ok := strings.CutPrefix(test.in, "components/"); ok {
				var err error
				if folder, err = tree.Example(component); err != nil {
					t.Fatal(err)
				}
			} else if test.in != "" {
				folder = "/k8s/" + test.in
			}
			for _, e := range test.edits {
				if err := tree.Replace("/k8s/"+e.file, e.before, e.after); err != nil {
					t.Fatal(err)
				}
			}
			b, err := tree.Bundle(folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, rule := range All() {
				if rule.Name != test.rule {
					continue
				}
				broken[rule.Name]++
				found := strings.Join(rule.Check(b), "\n")
				if !strings.Contains(found, test.want) {
					t.Errorf("rule %q says %q, want %q", rule.Name, found, test.want)
				}
				return
			}
			t.Errorf("there is no rule %q", test.rule)
		})
	}
	for _, rule := range All() {
		if broken[rule.Name] == 0 {
			t.Errorf("no row breaks rule %q", rule.Name)
		}
	}
}

// TestWhatKustomizeOrTheAPIRefuse has breakages that do not come as far as the rules.
func TestWhatKustomizeOrTheAPIRefuse(t *testing.T) {
	tests := []struct {
		name string
		edit edit
		want string
	}{
		{"a member that is spelled wrong", edit{deployment, "  minReadySeconds:", "  minReadySecond:"}, `unknown field "spec.minReadySecond"`},
		{"text for a number", edit{deployment, "minReadySeconds: 12", `minReadySeconds: "12"`}, "cannot unmarshal string"},
		{"a member given twice", edit{deployment, "minReadySeconds: 12", "minReadySeconds: 12\n  minReadySeconds: 1"}, "already defined"},
		{"a file that is not there", edit{base, "  - service.yaml\n", "  - services.yaml\n"}, "services.yaml"},
		{"a kind that nobody has rules for", edit{"base/serviceaccount.yaml", "Token: false\n", "Token: false\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"}, "not a kind that belongs"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := loadTree(t)
			if err := tree.Replace("/k8s/"+test.edit.file, test.edit.before, test.edit.after); err != nil {
				t.Fatal(err)
			}
			_, err := tree.Bundle("/k8s/overlays/production")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestTheServerKnowsWhatProbesAskFor asks a server which services its health has.
func TestTheServerKnowsWhatProbesAskFor(t *testing.T) {
	s, err := server.New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var listening net.ListenConfig
	lis, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	conn, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := healthv1.NewHealthClient(conn).List(t.Context(), &healthv1.HealthListRequest{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{readiness, liveness} {
		if _, ok := list.GetStatuses()[name]; !ok {
			t.Errorf("the server's health does not know %q, but %q", name, slices.Sorted(maps.Keys(list.GetStatuses())))
		}
	}
}

// remote matches what the document takes from the repository by its address.
var remote = regexp.MustCompile(`https://github\.com/thriftpack/thriftpack//k8s/([a-z/-]+)\?ref=main`)

// TestTheOverlayInTheDocumentKeepsTheRules renders it as it stands there, with what it refers to from here.
func TestTheOverlayInTheDocumentKeepsTheRules(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "kubernetes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(document), "\n```yaml\n")
	overlay, _, found := strings.Cut(rest, "\n```\n")
	if !found || !remote.MatchString(overlay) {
		t.Fatalf("the document has no overlay; its first YAML is %q", overlay)
	}
	tree := loadTree(t)
	folder, err := tree.Example("monitoring") // for its namespace
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Write(folder+"/kustomization.yaml", remote.ReplaceAllString(overlay, "../../$1")+"\n"); err != nil {
		t.Fatal(err)
	}
	b, err := tree.Bundle(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range All() {
		for _, violation := range rule.Check(b) {
			t.Errorf("%s: %s", rule.Name, violation)
		}
	}
	if m := b.ConfigMap("thriftpack-schemas"); m == nil || len(m.Data) != 1 {
		t.Errorf("its schemas are %v, want the one that it adds", m)
	}
}
