package rules

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// where names a server's container for a report.
func where(s manifests.ServerContainer) string { return s.Deployment.Name + "/" + s.Container.Name }

// load reads the settings of a container as its server will.
func load(b *manifests.Bundle, c *corev1.Container) (config.Loaded, error) {
	environ, err := b.Environment(c)
	if err != nil {
		return config.Loaded{}, err
	}
	return config.Load(c.Args, environ)
}

// eachServer calls f for every container that runs the server and whose settings can be read; checkSettings reports the others.
func eachServer(b *manifests.Bundle, f func(s manifests.ServerContainer, c config.Config)) {
	for _, s := range b.Servers() {
		if loaded, err := load(b, s.Container); err == nil {
			f(s, loaded.Config)
		}
	}
}

func checkSettings(b *manifests.Bundle, r *report) {
	if len(b.Servers()) == 0 {
		r.add("no container runs the server")
	}
	for _, s := range b.Servers() {
		if _, err := load(b, s.Container); err != nil {
			r.add("%s: %v", where(s), err)
		}
	}
}

// hashed matches a name that kustomize made of the contents.
var hashed = regexp.MustCompile(`-[bcdfghkmt2456789]{10}$`)

func checkHashedSettings(b *manifests.Bundle, r *report) {
	for _, s := range b.Servers() {
		for _, from := range s.Container.EnvFrom {
			if from.ConfigMapRef != nil && !hashed.MatchString(from.ConfigMapRef.Name) {
				r.add("%s: the name of ConfigMap %s has no hash", where(s), from.ConfigMapRef.Name)
			}
		}
	}
}

func checkNoProfiles(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if c.Pprof {
			r.add("%s serves profiles", where(s))
		}
	})
}

func checkResources(b *manifests.Bundle, r *report) {
	for _, d := range b.Deployments {
		for _, c := range containers(&d.Spec.Template.Spec) {
			name := d.Name + "/" + c.Name
			requests, limits := c.Resources.Requests, c.Resources.Limits
			if limits.Memory().IsZero() || limits.Memory().Cmp(*requests.Memory()) != 0 {
				r.add("%s: memory request %s and limit %s are not one number", name, requests.Memory(), limits.Memory())
			}
			if requests.Cpu().IsZero() {
				r.add("%s requests no CPU", name)
			}
			if !limits.Cpu().IsZero() {
				r.add("%s has a limit of CPU, %s", name, limits.Cpu())
			}
		}
	}
}

func checkMemoryLimit(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if c.MemoryLimit != 0 {
			r.add("%s sets memory-limit %d: it is 90 %% of the container's without", where(s), c.MemoryLimit)
		}
		for _, e := range s.Container.Env {
			if strings.HasPrefix(e.Name, "GO") {
				r.add("%s sets %s, which wins over the server's own", where(s), e.Name)
			}
		}
	})
}

// checkStreamBudget wants that half of the memory is left for what is no stream, and a quarter for what is no schema either, and that two of
// the largest calls fit into that even if they do their worst.
func checkStreamBudget(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		limit := s.Container.Resources.Limits.Memory().Value()
		if c.StreamBudget > limit/2 {
			r.add("%s: stream-budget %s is more than half of the memory, %s", where(s), size(c.StreamBudget), size(limit))
		}
		if both := c.StreamBudget + c.SchemasMost(); both > limit/4*3 {
			r.add("%s: streams and schemas, those being compiled included, may take %s, more than three quarters of the memory, %s", where(s), size(both), size(limit))
		}
		if need := 2 * c.CallMost(); need > limit/4 {
			r.add("%s: two of the largest calls take %s, more than a quarter of the memory, %s", where(s), size(need), size(limit))
		}
	})
}

func size(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }
