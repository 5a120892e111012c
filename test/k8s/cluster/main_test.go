package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Variables with the paths of the two programs, by the names that envtest has for them. The Makefile sets them.
const (
	apiServerVariable = "TEST_ASSET_KUBE_APISERVER"
	etcdVariable      = "TEST_ASSET_ETCD"
)

// api is the API server that all tests share; nil where it is not built.
var api *cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	for _, variable := range []string{apiServerVariable, etcdVariable} {
		if _, err := os.Stat(os.Getenv(variable)); err != nil {
			fmt.Fprintf(os.Stderr, "%s=%q: %v: run `make test-k8s`, which builds it first\n", variable, os.Getenv(variable), err)
			if os.Getenv("CI") == "true" {
				return 1
			}
			return m.Run()
		}
	}
	started, stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		return 1
	}
	defer stop()
	api = started
	return m.Run()
}

// running returns the API server, or skips the test.
func running(t *testing.T) *cluster {
	t.Helper()
	if api == nil {
		t.Skip("there is no API server: run `make test-k8s`")
	}
	return api
}

// cluster is a client of an API server that treats warnings as errors.
type cluster struct {
	dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
	mapper    meta.RESTMapper

	mu       sync.Mutex
	warnings []string
}

// start starts etcd and the API server with the definitions of all custom resources that k8s/ uses.
func start() (*cluster, func(), error) {
	definitions, err := definitionFiles()
	if err != nil {
		return nil, nil, err
	}
	environment := &envtest.Environment{
		CRDInstallOptions: envtest.CRDInstallOptions{Paths: definitions, ErrorIfPathMissing: true},
	}
	// The machine's other networks are none of its business, and there may be no default route to guess an address by.
	environment.ControlPlane.GetAPIServer().Configure().
		Set("advertise-address", "127.0.0.1").
		Set("endpoint-reconciler-type", "none")
	config, err := environment.Start()
	if err != nil {
		return nil, nil, errors.Join(err, environment.Stop())
	}
	stop := func() {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the control plane:", err)
		}
	}
	c := &cluster{}
	if err := c.connect(config); err != nil {
		stop()
		return nil, nil, err
	}
	return c, stop, nil
}

func (c *cluster) connect(config *rest.Config) error {
	config.WarningHandlerWithContext = c
	config.QPS = -1 // as fast as the server answers
	var err error
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	c.discovery = client
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return err
	}
	c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return nil
}

// definitionFiles returns where the modules of ../crds have the definitions.
func definitionFiles() ([]string, error) {
	var paths []string
	for module, folder := range map[string]string{
		"sigs.k8s.io/gateway-api":                            "config/crd/standard",
		"github.com/prometheus-operator/prometheus-operator": "example/prometheus-operator-crd",
		"github.com/cert-manager/cert-manager":               "deploy/crds",
	} {
		download := exec.Command("go", "mod", "download", "-json", module) //nolint:noctx // bounded by the test's own timeout
		download.Dir = filepath.Join("..", "crds")
		download.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		text, err := download.Output()
		if err != nil {
			return nil, fmt.Errorf("go mod download %s: %w: %s", module, err, text)
		}
		var downloaded struct{ Dir string }
		if err := json.Unmarshal(text, &downloaded); err != nil {
			return nil, err
		}
		files, err := filepath.Glob(filepath.Join(downloaded.Dir, filepath.FromSlash(folder), "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("no definitions in %s of %s: %w", folder, module, err)
		}
		paths = append(paths, files...)
	}
	return paths, nil
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (c *cluster) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, text)
}

// takeWarnings returns what the server has warned of since the last call.
func (c *cluster) takeWarnings() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.warnings, "\n")
	c.warnings = nil
	if text == "" {
		return nil
	}
	return errors.New("warning: " + text)
}

// resource returns the client of an object's kind.
func (c *cluster) resource(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.dynamic.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
	}
	return c.dynamic.Resource(mapping.Resource), nil
}

// apply is `kubectl apply --server-side --validate=strict --warnings-as-errors`.
func (c *cluster) apply(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	client, err := c.resource(o)
	if err != nil {
		return nil, err
	}
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, err
	}
	applied, err := client.Patch(ctx, o.GetName(), types.ApplyPatchType, text,
		metav1.PatchOptions{FieldManager: "test", FieldValidation: metav1.FieldValidationStrict})
	return applied, errors.Join(err, c.takeWarnings())
}

// create creates an object as a rehearsal: everything is checked, and nothing kept.
func (c *cluster) create(ctx context.Context, o *unstructured.Unstructured) error {
	client, err := c.resource(o)
	if err != nil {
		return err
	}
	_, err = client.Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
	return errors.Join(err, c.takeWarnings())
}
