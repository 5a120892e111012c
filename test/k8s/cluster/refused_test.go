package cluster

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Files that the rows edit.
const (
	deployment = "/k8s/base/deployment.yaml"
	podMonitor = "/k8s/components/monitoring/podmonitor.yaml"
	alerts     = "/k8s/components/monitoring/prometheusrule.yaml"
	route      = "/k8s/components/gateway/grpcroute.yaml"
)

// TestBrokenManifestsAreRefused breaks what is shipped in one place each and wants the server's refusal: what it takes without a word
// only the house rules can notice.
func TestBrokenManifestsAreRefused(t *testing.T) {
	c := running(t)
	tests := []struct {
		name, component, file, before, after, want string
	}{
		{"a selector of other pods", "", deployment, "  selector:\n    matchLabels:\n      app.kubernetes.io/name: thriftpack", "  selector:\n    matchLabels:\n      app.kubernetes.io/name: other", "`selector` does not match template `labels`"},
		{"a probe without a port", "", deployment, "              port: 50052\n              service: readiness", "              port: 0\n              service: readiness", "readinessProbe"},
		{"a sleep beyond the grace period", "", deployment, "seconds: 5\n", "seconds: 50\n", "less than terminationGracePeriodSeconds (45)"},
		{"a request above the limit", "", deployment, "              cpu: 500m\n              memory: 512Mi", "              cpu: 500m\n              memory: 1Gi", "must be less than or equal to memory limit"},
		{"neither surge nor unavailable", "", deployment, "maxSurge: 1", "maxSurge: 0", "may not be 0 when `maxSurge` is 0"},
		{"an unknown policy", "", "/k8s/base/poddisruptionbudget.yaml", "AlwaysAllow", "Always", "Unsupported value"},
		{"a budget of two kinds", "", "/k8s/base/poddisruptionbudget.yaml", "  maxUnavailable: 1\n", "  maxUnavailable: 1\n  minAvailable: 1\n", "cannot be both set"},
		{"fewer pods at most than at least", "", "/k8s/base/horizontalpodautoscaler.yaml", "maxReplicas: 12", "maxReplicas: 2", "greater than or equal to `minReplicas`"},
		{"a port that is none", "", "/k8s/base/networkpolicy.yaml", "port: 50051", "port: 500510", "must be between 1 and 65535"},
		{"a traffic distribution that is none", "", "/k8s/overlays/production/kustomization.yaml", "PreferSameZone", "PreferMyZone", "trafficDistribution"},
		{"a PodMonitor with an unknown member", "monitoring", podMonitor, "interval: 15s", "every: 15s", "field not declared in schema"},
		{"a PodMonitor with a wrong interval", "monitoring", podMonitor, "interval: 15s", "interval: soon", "should match"},
		{"an alert with a wrong duration", "monitoring", alerts, "expr: absent(up{job=\"thriftpack\"} == 1)\n          for: 2m", "expr: absent(up{job=\"thriftpack\"} == 1)\n          for: two", "should match"},
		{"a certificate that goes nowhere", "mtls", "/k8s/components/mtls/certificate.yaml", "  secretName: thriftpack-tls\n", "", "spec.secretName: Required value"},
		{"a route with a wrong host", "gateway", route, "thriftpack.example.com", "thriftpack example", "should match"},
		{"a route to no port", "gateway", route, "          port: 50051\n", "", "Must have port for Service reference"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := load(t)
			folder := "/k8s/overlays/production"
			if test.component != "" {
				var err error
				if folder, err = tree.Example(test.component); err != nil {
					t.Fatal(err)
				}
			}
			if err := tree.Replace(test.file, test.before, test.after); err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, o := range bundle(t, tree, folder).All {
				if _, err := c.apply(t.Context(), o); err != nil {
					found = append(found, err.Error())
				}
			}
			if len(found) != 1 || !strings.Contains(found[0], test.want) {
				t.Errorf("the server says %q, want one refusal with %q", found, test.want)
			}
		})
	}
}

// TestPodSecurityRefusesWeakerPods takes each protection away from the pods: the server warns of the Deployment, which apply treats
// as an error, and refuses the pod.
func TestPodSecurityRefusesWeakerPods(t *testing.T) {
	c := running(t)
	tests := []struct{ name, before, after, want string }{
		{"a pod that may be root", "        runAsNonRoot: true\n", "", "runAsNonRoot"},
		{"root", "runAsUser: 65532", "runAsUser: 0", "runAsUser=0"},
		{"no seccomp", "        seccompProfile:\n          type: RuntimeDefault\n", "", "seccompProfile"},
		{"more rights later", "            allowPrivilegeEscalation: false\n", "", "allowPrivilegeEscalation"},
		{"capabilities", "            capabilities:\n              drop:\n                - ALL\n", "", "unrestricted capabilities"},
		{"the node's network", "      enableServiceLinks: false\n", "      enableServiceLinks: false\n      hostNetwork: true\n", "host namespaces"},
		{"a folder of the node", "      volumes:\n", "      volumes:\n        - name: v\n          hostPath:\n            path: /\n", "hostPath"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := load(t)
			if err := tree.Replace(deployment, test.before, test.after); err != nil {
				t.Fatal(err)
			}
			b := bundle(t, tree, "/k8s/overlays/dev")
			at := slices.IndexFunc(b.All, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Deployment" })
			if at < 0 {
				t.Fatal("there is no Deployment")
			}
			if _, err := c.apply(t.Context(), b.All[0]); err != nil { // the namespace
				t.Fatal(err)
			}
			_, err := c.apply(t.Context(), b.All[at])
			if err == nil || !strings.Contains(err.Error(), "warning: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("of the Deployment the server says %v, want a warning with %q", err, test.want)
			}
			err = c.create(t.Context(), podOf(t, b.All[at]))
			if err == nil || !strings.Contains(err.Error(), "violates PodSecurity") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("of its pod the server says %v, want a refusal with %q", err, test.want)
			}
		})
	}
}
