package rules

import (
	"net"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/config"
	"github.com/thriftpack/thriftpack/test/k8s/manifests"
)

func checkSchemas(b *manifests.Bundle, r *report) {
	eachServer(b, func(s manifests.ServerContainer, c config.Config) {
		if c.SchemaDir != "" {
			checkSchemaDir(s, c.SchemaDir, r)
		}
		store, err := config.ParseSchemaStore(c.SchemaStore)
		if err != nil { // Load has parsed it before
			r.add("%s: %v", where(s), err)
			return
		}
		switch store.Kind {
		case config.NoStore:
		case config.FileStore:
			r.add("%s keeps schemas in a file, which is another one in each pod, and gone with it", where(s))
		case config.EtcdStore:
			if !store.TLS {
				r.add("%s speaks to etcd in plaintext", where(s))
			}
			reached := egress(b)
			for _, endpoint := range store.Endpoints {
				_, text, _ := net.SplitHostPort(endpoint)
				if n, err := strconv.Atoi(text); err != nil || !reached[n] {
					r.add("%s: no NetworkPolicy lets it out to %s", where(s), endpoint)
				}
			}
			if !reached[dnsPort] {
				r.add("%s: no NetworkPolicy lets it out to the DNS", where(s))
			}
		}
	})
}

const dnsPort = 53

// egress returns the ports that policies let pods connect to.
func egress(b *manifests.Bundle) map[int]bool {
	ports := map[int]bool{}
	for _, policy := range b.NetworkPolicies {
		for _, rule := range policy.Spec.Egress {
			for _, p := range rule.Ports {
				if p.Port != nil {
					ports[p.Port.IntValue()] = true
				}
			}
		}
	}
	return ports
}

// checkSchemaDir wants the folder to be a ConfigMap that changes under the server's eyes: mounted whole, and under a name that stays.
func checkSchemaDir(s manifests.ServerContainer, folder string, r *report) {
	for _, m := range s.Container.VolumeMounts {
		if m.MountPath != folder {
			continue
		}
		for _, v := range s.Deployment.Spec.Template.Spec.Volumes {
			if v.Name != m.Name || v.ConfigMap == nil {
				continue
			}
			if m.SubPath != "" || hashed.MatchString(v.ConfigMap.Name) {
				r.add("%s: schemas in ConfigMap %s never change", where(s), v.ConfigMap.Name)
			}
			return
		}
	}
	r.add("%s: schema-dir %s is no ConfigMap that is mounted", where(s), folder)
}
