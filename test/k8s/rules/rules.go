// Package rules states the house rules of k8s/: what every rendered kustomization must be like, beyond what an API server asks. A rule
// sees a whole bundle, so that it can compare objects with each other and with the server's own settings.
package rules

import (
	"fmt"

	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// Rule is one property of a bundle.
type Rule struct {
	// Name is short, for reports.
	Name string
	// Why says what goes wrong without it.
	Why string
	// check reports every violation to r.
	check func(b *manifests.Bundle, r *report)
}

// report collects violations.
type report struct{ found []string }

// add notes a violation: what, and where.
func (r *report) add(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

// Check returns the rule's violations in a bundle.
func (r *Rule) Check(b *manifests.Bundle) []string {
	var found report
	r.check(b, &found)
	return found.found
}

// All returns every rule.
func All() []Rule {
	return []Rule{
		{"namespace", "objects that a component adds without it land in the namespace default, silently", checkNamespace},
		{"pod security", "without the label a namespace takes any pod", checkPodSecurityLabels},
		{"labels", "dashboards, policies and people find things by them", checkLabels},
		{"no secrets", "a secret in the manifests is one for all who read them", checkNoSecrets},
		{"no rights", "a token that nobody uses is for whoever breaks in", checkNoRights},
		{"restricted", "it is what limits the harm of a fault in the server", checkRestricted},
		{"image", "a tag that moves makes two pods of one Deployment differ", checkImages},
		{"references", "a pod whose ConfigMap or volume is missing does not start", checkReferences},

		{"resources", "less memory than the limit is a pod that is killed first; a limit of CPU throttles the slowest calls", checkResources},
		{"memory limit", "the runtime's limit is 90 % of the container's by itself; 100 % would be killed by the kernel", checkMemoryLimit},
		{"stream budget", "what streams may hold must leave room for connections and unary calls", checkStreamBudget},
		{"settings", "a setting that the server does not know stops its start", checkSettings},
		{"hashed settings", "settings that change without a rollout are those of half of the pods", checkHashedSettings},
		{"schemas", "pods that have other schemas than the rest answer differently; what cannot reach its store has none", checkSchemas},
		{"tracing", "a collector that cannot be reached gets nothing, and says nothing", checkTracing},
		{"no profiles", "profiles can show payloads", checkNoProfiles},

		{"probes", "the kubelet speaks plaintext; liveness that follows readiness restarts pods that drain", checkProbes},
		{"ports", "a number that stands in two places can differ", checkPorts},
		{"services", "clients balance by the headless one, everything else by the other", checkServices},
		{"tls", "a certificate for another name is refused by every caller; a key that others can read is no secret", checkTLS},
		{"routes", "a Gateway that speaks plaintext to TLS, or for a name that no certificate has, connects to nothing", checkRoutes},
		{"network policy", "what is not named is denied", checkNetworkPolicies},

		{"grace", "the kubelet kills what has not ended by then, preStop included", checkGrace},
		{"rollout", "with fewer pods, or a faster update, clients are left with dead addresses", checkRollout},
		{"autoscaling", "replicas in the Deployment undo the autoscaler at each apply", checkAutoscaling},
		{"disruptions", "a drain of nodes must neither take all pods at once nor be blocked by one that is broken", checkDisruptions},
		{"spread", "pods on one node, or in one zone, fail together", checkSpread},
	}
}
