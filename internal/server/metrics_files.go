package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/thriftpack/thriftpack/internal/guard"
)

// filesMetrics say of the files that are reloaded whether they are in use, and of certificates when they expire.
type filesMetrics struct {
	security *security
	current  *prometheus.Desc
	expiry   *prometheus.Desc
}

// watchFiles adds what is known of the files that the settings name. Those that are not named have no series.
func (m *metrics) watchFiles(s *security) {
	for name := range s.watcher.Current() {
		for _, result := range []string{reloadSucceeded, reloadFailed} {
			m.reloads.WithLabelValues(name, result)
		}
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "thriftpack_rate_callers", Help: "Callers whose requests are counted (--rate-limit). Beyond 16,384 the one that was silent for the longest is forgotten.",
	}, func() float64 {
		if s.rates == nil {
			return 0
		}
		return float64(s.rates.Callers())
	}))
	m.registry.MustRegister(&filesMetrics{
		security: s,
		current: prometheus.NewDesc("thriftpack_files_current",
			"1 where what is on disk is what is in use; 0 where it has changed and cannot be used.", []string{"files"}, nil),
		expiry: prometheus.NewDesc("thriftpack_tls_certificate_expiry_seconds",
			"When the certificate in use expires, and the first of the authorities of clients, in seconds since 1970.", []string{"files"}, nil),
	})
}

// Describe names the metrics.
func (f *filesMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- f.current
	to <- f.expiry
}

// Collect reads them.
func (f *filesMetrics) Collect(to chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, files string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, files)
	}
	for name, current := range f.security.watcher.Current() {
		value := 0.0
		if current {
			value = 1
		}
		gauge(f.current, value, name)
	}
	certificates := f.security.certificates
	if certificates == nil {
		return
	}
	gauge(f.expiry, float64(certificates.Expiry().Unix()), guard.CertificateFiles)
	if expiry, ok := certificates.ClientCAExpiry(); ok {
		gauge(f.expiry, float64(expiry.Unix()), guard.ClientCAFile)
	}
}
