package rules

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

// keyMode is who may read keys: their owner, root, and the group of the pod.
const keyMode = 0o440

func checkTLS(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if c.TLS() && c.Insecure {
			r.add("%s has TLS and insecure: an overlay that loses the one setting would serve plaintext", where(s))
		}
		for _, file := range []string{
			c.TLSCert, c.TLSKey, c.TLSClientCA, c.SchemaEtcdCA, c.SchemaEtcdCert, c.SchemaEtcdKey, c.SchemaEtcdPasswordFile, c.AuthTokensFile,
		} {
			if file == "" {
				continue
			}
			secret := secretOf(s, path.Dir(file))
			if secret == nil {
				r.add("%s: %s is in no Secret that is mounted", where(s), file)
				continue
			}
			if secret.DefaultMode == nil || *secret.DefaultMode != keyMode {
				r.add("%s: files of Secret %s do not have mode %04o", where(s), secret.SecretName, keyMode)
			}
			if file == c.TLSCert {
				checkNames(b, s, secret.SecretName, r)
			}
		}
	})
}

// secretOf returns the Secret that a container mounts at a folder, or nil. A file mounted by subPath is never renewed, so that does not count.
func secretOf(s manifests.ServerContainer, folder string) *corev1.SecretVolumeSource {
	for _, m := range s.Container.VolumeMounts {
		if m.MountPath != folder || m.SubPath != "" {
			continue
		}
		for _, v := range s.Deployment.Spec.Template.Spec.Volumes {
			if v.Name == m.Name {
				return v.Secret
			}
		}
	}
	return nil
}

// checkNames wants that the certificate in a Secret is one for every Service that leads to the server.
func checkNames(b *manifests.Bundle, s manifests.ServerContainer, secret string, r *report) {
	names := dnsNames(b, secret)
	for _, service := range b.Services {
		name := service.Name + "." + service.Namespace + ".svc"
		if contains(s.Deployment.Spec.Template.Labels, service.Spec.Selector) && !slices.Contains(names, name) {
			r.add("the certificate in Secret %s is for %q, and not for %s", secret, names, name)
		}
	}
}

// dnsNames returns the names in the certificate that is put into a Secret.
func dnsNames(b *manifests.Bundle, secret string) []string {
	for _, o := range b.Custom {
		if made, _, _ := unstructured.NestedString(o.Object, "spec", "secretName"); o.GetKind() == "Certificate" && made == secret {
			names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames")
			return names
		}
	}
	return nil
}

// checkRoutes compares what comes from outside with what the pods speak.
func checkRoutes(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		for _, o := range b.Custom {
			switch o.GetKind() {
			case "GRPCRoute":
				if c.TLS() {
					r.add("GRPCRoute %s ends TLS at the Gateway, and %s speaks TLS", o.GetName(), where(s))
				}
			case "TLSRoute":
				if !c.TLS() {
					r.add("TLSRoute %s passes TLS on, and %s speaks none", o.GetName(), where(s))
					continue
				}
				hosts, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "hostnames")
				for _, host := range hosts {
					if secret := secretOf(s, path.Dir(c.TLSCert)); secret != nil && !slices.Contains(dnsNames(b, secret.SecretName), host) {
						r.add("TLSRoute %s is for %s, and the certificate is not", o.GetName(), host)
					}
				}
			}
		}
	})
}
