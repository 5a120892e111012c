// The modules that hold the definitions of the custom resources that k8s/ uses. The tests read files of theirs and import nothing, so
// this is a module of its own, and not one for `go mod tidy`: `go get` moves a version.
module github.com/thriftpack/thriftpack/test/k8s/crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/gateway-api v1.6.3
)
