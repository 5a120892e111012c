package rules

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

func checkNamespace(b *manifests.Bundle, r *report) {
	if len(b.Namespaces) != 1 {
		r.add("%d namespaces, want one", len(b.Namespaces))
		return
	}
	want := b.Namespaces[0].Name
	for _, o := range b.All {
		if o.GetKind() != "Namespace" && o.GetNamespace() != want {
			r.add("%s %s is in namespace %q, want %q", o.GetKind(), o.GetName(), o.GetNamespace(), want)
		}
	}
}

func checkPodSecurityLabels(b *manifests.Bundle, r *report) {
	for _, n := range b.Namespaces {
		for _, mode := range []string{"enforce", "audit", "warn"} {
			if got := n.Labels["pod-security.kubernetes.io/"+mode]; got != "restricted" {
				r.add("namespace %s: %s is %q, want restricted", n.Name, mode, got)
			}
		}
	}
}

func checkLabels(b *manifests.Bundle, r *report) {
	for _, o := range b.All {
		if o.GetKind() == "Namespace" || !strings.HasPrefix(o.GetName(), "thriftpack") {
			continue // an example's application labels itself
		}
		for name, want := range map[string]string{"app.kubernetes.io/name": "thriftpack", "app.kubernetes.io/part-of": "thriftpack"} {
			if got := o.GetLabels()[name]; got != want {
				r.add("%s %s: label %s is %q, want %q", o.GetKind(), o.GetName(), name, got, want)
			}
		}
	}
}

func checkNoSecrets(b *manifests.Bundle, r *report) {
	for _, o := range b.All {
		if o.GetKind() == "Secret" {
			r.add("Secret %s", o.GetName())
		}
	}
}

func checkNoRights(b *manifests.Bundle, r *report) {
	for _, o := range b.All {
		if strings.HasPrefix(o.GetAPIVersion(), "rbac.authorization.k8s.io/") {
			r.add("%s %s: the server needs no rights", o.GetKind(), o.GetName())
		}
	}
	for _, a := range b.ServiceAccounts {
		if a.AutomountServiceAccountToken == nil || *a.AutomountServiceAccountToken {
			r.add("ServiceAccount %s mounts its token", a.Name)
		}
	}
	for _, d := range b.Deployments {
		spec := &d.Spec.Template.Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			r.add("Deployment %s mounts a token", d.Name)
		}
		if spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
			r.add("Deployment %s has enableServiceLinks", d.Name)
		}
	}
}

// containers returns pointers to all containers of a pod.
func containers(spec *corev1.PodSpec) []*corev1.Container {
	all := make([]*corev1.Container, 0, len(spec.InitContainers)+len(spec.Containers))
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	return all
}

func checkRestricted(b *manifests.Bundle, r *report) {
	for _, d := range b.Deployments {
		spec := &d.Spec.Template.Spec
		pod := spec.SecurityContext
		if pod == nil {
			pod = &corev1.PodSecurityContext{}
		}
		if spec.HostNetwork || spec.HostPID || spec.HostIPC {
			r.add("Deployment %s shares a namespace with its node", d.Name)
		}
		if pod.RunAsNonRoot == nil || !*pod.RunAsNonRoot {
			r.add("Deployment %s: runAsNonRoot is not true for the pod", d.Name)
		}
		if pod.RunAsUser == nil || *pod.RunAsUser == 0 {
			r.add("Deployment %s: runAsUser is not set, or root", d.Name)
		}
		if pod.SeccompProfile == nil || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			r.add("Deployment %s: seccomp is not RuntimeDefault", d.Name)
		}
		for _, v := range spec.Volumes {
			if v.HostPath != nil {
				r.add("Deployment %s: volume %s is of the node", d.Name, v.Name)
			}
		}
		for _, c := range containers(spec) {
			checkRestrictedContainer(d.Name+"/"+c.Name, c, r)
		}
	}
}

func checkRestrictedContainer(name string, c *corev1.Container, r *report) {
	s := c.SecurityContext
	if s == nil {
		r.add("%s has no securityContext", name)
		return
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		r.add("%s: allowPrivilegeEscalation is not false", name)
	}
	if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
		r.add("%s: readOnlyRootFilesystem is not true", name)
	}
	if s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
		r.add("%s: capabilities are not dropped, all of them", name)
	}
	if s.Privileged != nil && *s.Privileged {
		r.add("%s is privileged", name)
	}
	if s.RunAsNonRoot != nil && !*s.RunAsNonRoot || s.RunAsUser != nil && *s.RunAsUser == 0 {
		r.add("%s runs as root", name)
	}
	if s.SeccompProfile != nil && s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		r.add("%s: seccomp is not RuntimeDefault", name)
	}
	for _, p := range c.Ports {
		if p.HostPort != 0 {
			r.add("%s: port %s is one of the node", name, p.Name)
		}
	}
}

// pinned matches an image with a tag or a digest.
var pinned = regexp.MustCompile(`(:[\w][\w.-]{0,127}|@sha256:[0-9a-f]{64})$`)

func checkImages(b *manifests.Bundle, r *report) {
	for _, d := range b.Deployments {
		for _, c := range containers(&d.Spec.Template.Spec) {
			if !pinned.MatchString(c.Image) || strings.HasSuffix(c.Image, ":latest") {
				r.add("%s/%s: image %q has no tag or digest that says which", d.Name, c.Name, c.Image)
			}
		}
	}
}

// neededSecrets is the annotation that names Secrets which whoever applies the manifests makes.
const neededSecrets = "thriftpack.dev/secrets-needed" //nolint:gosec // names of Secrets, which are none

// checkReferences wants that everything a pod mounts or reads is in the bundle, or made by something in it.
func checkReferences(b *manifests.Bundle, r *report) {
	secrets := map[string]bool{}
	for _, o := range b.Custom {
		if o.GetKind() == "Certificate" {
			spec, _ := o.Object["spec"].(map[string]any)
			name, _ := spec["secretName"].(string)
			secrets[name] = true
		}
	}
	for _, d := range b.Deployments {
		spec := &d.Spec.Template.Spec
		if name := spec.ServiceAccountName; name != "" && !slices.ContainsFunc(b.ServiceAccounts, func(a *corev1.ServiceAccount) bool { return a.Name == name }) {
			r.add("%s: ServiceAccount %s does not exist", d.Name, name)
		}
		for _, name := range strings.Fields(d.Annotations[neededSecrets]) {
			secrets[name] = true
		}
		volumes := map[string]bool{}
		for _, v := range spec.Volumes {
			volumes[v.Name] = true
			if v.ConfigMap != nil && b.ConfigMap(v.ConfigMap.Name) == nil {
				r.add("%s: ConfigMap %s of volume %s does not exist", d.Name, v.ConfigMap.Name, v.Name)
			}
			if v.Secret != nil && !secrets[v.Secret.SecretName] && (v.Secret.Optional == nil || !*v.Secret.Optional) {
				r.add("%s: nothing makes Secret %s of volume %s", d.Name, v.Secret.SecretName, v.Name)
			}
		}
		for _, c := range containers(spec) {
			for _, m := range c.VolumeMounts {
				if !volumes[m.Name] {
					r.add("%s/%s: volume %s does not exist", d.Name, c.Name, m.Name)
				}
			}
			if _, err := b.Environment(c); err != nil {
				r.add("%s/%s: %v", d.Name, c.Name, err)
			}
		}
	}
}

// matches reports whether a selector takes an object with the given labels; an empty one takes none here.
func matches(selector *metav1.LabelSelector, of map[string]string) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && !s.Empty() && s.Matches(labels.Set(of))
}

// contains reports whether all of some labels are among others.
func contains(all, some map[string]string) bool {
	for name, value := range some {
		if all[name] != value {
			return false
		}
	}
	return len(some) > 0
}
