// Package cluster has the tests that apply k8s/ to a real API server and etcd, which `make control-plane` builds: strict decoding,
// defaulting, validation, the rules in custom resources' definitions, and Pod Security. There are no nodes: nothing runs. It
// exports nothing.
package cluster
