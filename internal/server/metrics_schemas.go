package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/thriftpack/thriftpack/internal/schema/registry"
)

// schemaMetrics say how it is with the schemas. No name of a schema is a label: clients choose them.
type schemaMetrics struct {
	registry *registry.Registry
	store    *prometheus.Desc
	load     *prometheus.Desc
	known    *prometheus.Desc
	broken   *prometheus.Desc
	memory   *prometheus.Desc
}

// watchSchemas adds what is known of the schemas.
func (m *metrics) watchSchemas(r *registry.Registry) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("thriftpack_"+name, help, nil, nil)
	}
	m.registry.MustRegister(&schemaMetrics{
		registry: r,
		store:    desc("schema_store_up", "1 where the store of schemas answers; 0 where it is away. There is none without --schema-store."),
		load:     desc("schema_last_load_timestamp_seconds", "When schemas were last loaded or changed, in seconds since 1970; 0 before that."),
		known:    desc("schemas", "Schemas that are known."),
		broken:   desc("schemas_broken", "Schemas of --schema-dir that cannot be served as they are now; /readyz names them."),
		memory:   desc("schema_cache_bytes", "What compiled schemas take, in bytes (--schema-cache-bytes)."),
	})
}

// Describe names the metrics.
func (s *schemaMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{s.store, s.load, s.known, s.broken, s.memory} {
		to <- desc
	}
}

// Collect reads them.
func (s *schemaMetrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	status := s.registry.Status()
	if status.Store {
		up := 0.0
		if status.Reachable {
			up = 1
		}
		gauge(s.store, up)
	}
	load := 0.0
	if !status.LastLoad.IsZero() {
		load = float64(status.LastLoad.UnixMilli()) / 1e3
	}
	gauge(s.load, load)
	gauge(s.known, float64(status.Schemas))
	gauge(s.broken, float64(len(status.Broken)))
	gauge(s.memory, float64(status.CacheBytes))
}
