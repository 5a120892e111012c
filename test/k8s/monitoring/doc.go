// Package monitoring has tests of the alerts and the dashboard in k8s/components: that their expressions are PromQL, that they use the
// metrics and labels that the server has, that each alert fires when it should and is silent when not. It exports nothing.
package monitoring
