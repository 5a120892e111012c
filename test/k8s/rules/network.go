package rules

import (
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// port returns the port of an address, 0 for a socket file or none.
func port(address string) int32 {
	_, text, err := net.SplitHostPort(address)
	if err != nil || strings.HasPrefix(address, "unix:") {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// Services that the server's health knows. A test asks a server.
const (
	readiness = "readiness"
	liveness  = "liveness"
)

func checkProbes(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		health := port(c.HealthAddr)
		if health == 0 || health == port(c.GRPCAddr) {
			r.add("%s: health-addr %q is no port of its own", where(s), c.HealthAddr)
		}
		type probe struct {
			name, service string
			probe         *corev1.Probe
		}
		probes := []probe{{"liveness", liveness, s.Container.LivenessProbe}}
		if s.Sidecar { // its pod's containers wait for its start; one that drains serves its pod to the end
			probes = append(probes, probe{"startup", readiness, s.Container.StartupProbe})
		} else { // readiness waits for the store of schemas, and a start that fails is a restart
			probes = append(probes, probe{"startup", liveness, s.Container.StartupProbe}, probe{"readiness", readiness, s.Container.ReadinessProbe})
		}
		for _, p := range probes {
			switch {
			case p.probe == nil || p.probe.GRPC == nil:
				r.add("%s has no %s probe by gRPC", where(s), p.name)
			case p.probe.GRPC.Port != health:
				r.add("%s: the %s probe asks port %d, health is on %d", where(s), p.name, p.probe.GRPC.Port, health)
			case p.probe.GRPC.Service == nil || *p.probe.GRPC.Service != p.service:
				r.add("%s: the %s probe asks for another service than %q", where(s), p.name, p.service)
			case p.probe.TimeoutSeconds < 2:
				r.add("%s: the %s probe has %d s, which a busy node exceeds", where(s), p.name, p.probe.TimeoutSeconds)
			}
		}
		if p := s.Container.StartupProbe; p != nil && p.PeriodSeconds*p.FailureThreshold < 30 {
			r.add("%s: %d s to start are too few on a busy node", where(s), p.PeriodSeconds*p.FailureThreshold)
		}
		if p := s.Container.LivenessProbe; p != nil && p.PeriodSeconds*p.FailureThreshold < 30 {
			r.add("%s is restarted after %d s: an overload would become an outage", where(s), p.PeriodSeconds*p.FailureThreshold)
		}
	})
}

// checkPorts wants that the container declares what the settings open.
func checkPorts(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		declared := map[int32]bool{}
		for _, p := range s.Container.Ports {
			declared[p.ContainerPort] = true
		}
		for _, address := range []string{c.GRPCAddr, c.HTTPAddr, c.HealthAddr} {
			if n := port(address); n != 0 && !declared[n] {
				r.add("%s serves port %d and does not declare it", where(s), n)
			}
			delete(declared, port(address))
		}
		for n := range declared {
			r.add("%s declares port %d and does not serve it", where(s), n)
		}
	})
	for _, o := range b.Custom {
		if o.GetKind() == "PodMonitor" {
			checkPodMonitor(b, o.Object, r)
		}
	}
}

// checkPodMonitor wants that the port it scrapes is the one of http-addr.
func checkPodMonitor(b *manifests.Bundle, o map[string]any, r *report) {
	spec, _ := o["spec"].(map[string]any)
	endpoints, _ := spec["podMetricsEndpoints"].([]any)
	if len(endpoints) == 0 {
		r.add("the PodMonitor scrapes nothing")
	}
	for _, e := range endpoints {
		endpoint, _ := e.(map[string]any)
		eachServer(b, func(s manifests.ServerContainer, c config.Config) {
			for _, p := range s.Container.Ports {
				if p.Name == endpoint["port"] && p.ContainerPort == port(c.HTTPAddr) {
					return
				}
			}
			r.add("the PodMonitor scrapes port %v, which is not http-addr of %s", endpoint["port"], where(s))
		})
	}
}

func checkServices(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if s.Sidecar {
			return
		}
		headless, balanced := 0, 0
		for _, service := range b.Services {
			if !contains(s.Deployment.Spec.Template.Labels, service.Spec.Selector) {
				continue
			}
			if service.Spec.Type != corev1.ServiceTypeClusterIP {
				r.add("Service %s is a %s: calls from outside come by a Gateway", service.Name, service.Spec.Type)
			}
			if service.Spec.PublishNotReadyAddresses {
				r.add("Service %s publishes pods that are not ready", service.Name)
			}
			if service.Spec.ClusterIP == corev1.ClusterIPNone {
				headless++
			} else {
				balanced++
			}
			checkServicePorts(service, s, c, r)
		}
		if headless != 1 || balanced != 1 {
			r.add("%s has %d headless services and %d others, want one of each", where(s), headless, balanced)
		}
	})
}

func checkServicePorts(service *corev1.Service, s manifests.ServerContainer, c config.Config, r *report) {
	protocol := "kubernetes.io/h2c"
	if c.TLS() {
		protocol = "https" // it ends in the pod
	}
	for _, p := range service.Spec.Ports {
		target := p.TargetPort.IntVal
		for _, declared := range s.Container.Ports {
			if p.TargetPort.Type == intstr.String && declared.Name == p.TargetPort.StrVal {
				target = declared.ContainerPort
			}
		}
		if target != port(c.GRPCAddr) {
			r.add("Service %s: port %s leads to %s, which is not grpc-addr", service.Name, p.Name, &p.TargetPort)
		}
		if service.Spec.ClusterIP == corev1.ClusterIPNone && p.Port != target {
			r.add("Service %s is headless: clients connect to port %d of the pod, not to %d", service.Name, p.Port, target)
		}
		if p.AppProtocol == nil || *p.AppProtocol != protocol {
			r.add("Service %s: appProtocol of port %s is not %s", service.Name, p.Name, protocol)
		}
	}
}

func checkNetworkPolicies(b *manifests.Bundle, r *report) {
	for _, s := range b.Servers() {
		if s.Sidecar {
			continue
		}
		denied := map[networkingv1.PolicyType]bool{}
		declared := map[int32]bool{}
		for _, p := range s.Container.Ports {
			declared[p.ContainerPort] = true
		}
		for _, policy := range b.NetworkPolicies {
			if !matches(&policy.Spec.PodSelector, s.Deployment.Spec.Template.Labels) {
				r.add("NetworkPolicy %s does not select the pods of %s", policy.Name, s.Deployment.Name)
				continue
			}
			for _, t := range policy.Spec.PolicyTypes {
				denied[t] = true
			}
			for _, rule := range policy.Spec.Ingress {
				checkPeers(policy.Name, rule.From, rule.Ports, r)
				for _, p := range rule.Ports {
					if p.Port == nil || p.Port.Type != intstr.Int || !declared[p.Port.IntVal] {
						r.add("NetworkPolicy %s lets port %s in, which no container has as a number", policy.Name, p.Port)
					}
				}
			}
			for _, rule := range policy.Spec.Egress {
				checkPeers(policy.Name, rule.To, rule.Ports, r)
			}
		}
		for _, t := range []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress} {
			if !denied[t] {
				r.add("%s: no policy denies %s", s.Deployment.Name, t)
			}
		}
	}
}

// checkPeers wants that a rule names whom, and which ports.
func checkPeers(name string, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, r *report) {
	if len(peers) == 0 || len(ports) == 0 {
		r.add("NetworkPolicy %s has a rule for everyone, or for every port", name)
	}
	for _, p := range peers {
		if p.IPBlock != nil || p.NamespaceSelector != nil && len(p.NamespaceSelector.MatchLabels)+len(p.NamespaceSelector.MatchExpressions) == 0 {
			r.add("NetworkPolicy %s names addresses or all namespaces", name)
		}
	}
}
