package rules

import (
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
			for _, endpoint := range store.Endpoints {
				checkEgress(b, where(s), endpoint, r)
			}
		}
	})
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
