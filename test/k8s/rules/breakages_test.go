package rules

// edit replaces a text that stands in a file of k8s/ once.
type edit struct{ file, before, after string }

// Files that most edits are of.
const (
	base       = "base/kustomization.yaml"
	deployment = "base/deployment.yaml"
	settings   = "base/settings.env"
	service    = "base/service.yaml"
	headless   = "base/service-headless.yaml"
	policy     = "base/networkpolicy.yaml"
	scaler     = "base/horizontalpodautoscaler.yaml"
	budget     = "base/poddisruptionbudget.yaml"
	production = "overlays/production/kustomization.yaml"
	mtls       = "components/mtls/kustomization.yaml"
	mounts     = "components/mtls/deployment.yaml"
	namespace  = "overlays/production/namespace.yaml"
)

// breakage is a change of what is shipped, and the rule that must notice.
type breakage struct {
	name  string
	rule  string
	want  string // in what the rule says
	in    string // what is rendered: a component on the base, an overlay, production where nothing is said
	edits []edit
}

// broken is a breakage of production by one edit.
func broken(name, rule, want, file, before, after string) breakage {
	return breakage{name: name, rule: rule, want: want, edits: []edit{{file, before, after}}}
}

// inDev is a breakage of the overlay dev, which has no components.
func inDev(name, rule, want, file, before, after string) breakage {
	b := broken(name, rule, want, file, before, after)
	b.in = "overlays/dev"
	return b
}

// inEtcd is a breakage of the component that keeps schemas in etcd.
func inEtcd(name, want, file, before, after string) breakage {
	b := broken(name, "schemas", want, "components/schema-store-"+file, before, after)
	b.in = "components/schema-store-etcd"
	return b
}

func breakages() []breakage {
	return append(append(objects(), runs()...), rollouts()...)
}

func objects() []breakage {
	return []breakage{
		broken("an overlay without its namespace", "namespace", `is in namespace "", want "thriftpack"`, production, "namespace: thriftpack\n", ""),
		inDev("no Namespace", "namespace", "0 namespaces", "overlays/dev/kustomization.yaml", "  - namespace.yaml\n", ""),
		broken("a weaker level", "pod security", "enforce", namespace, "enforce: restricted", "enforce: baseline"),
		broken("no warnings", "pod security", "warn", namespace, "    pod-security.kubernetes.io/warn: restricted\n", ""),
		broken("an object without a name for dashboards", "labels", "PodDisruptionBudget thriftpack", budget, "    app.kubernetes.io/part-of: thriftpack\n", ""),
		{
			name: "a Secret of a custom kind's group", rule: "no secrets", want: "Secret thriftpack",
			edits: []edit{{"base/serviceaccount.yaml", "apiVersion: v1\nkind: ServiceAccount", "apiVersion: v2\nkind: Secret"}},
		},
		broken("a token for the account", "no rights", "ServiceAccount thriftpack mounts", "base/serviceaccount.yaml", "Token: false", "Token: true"),
		broken("a token for the pod", "no rights", "Deployment thriftpack mounts", deployment, "      automountServiceAccountToken: false\n", ""),
		broken("service links", "no rights", "enableServiceLinks", deployment, "      enableServiceLinks: false\n", ""),
		{
			name: "a role", rule: "no rights", want: "Role thriftpack",
			edits: []edit{{
				"base/serviceaccount.yaml", "apiVersion: v1\nkind: ServiceAccount",
				"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role",
			}},
		},
		broken("a pod that may be root", "restricted", "runAsNonRoot", deployment, "runAsNonRoot: true", "runAsNonRoot: false"),
		broken("root", "restricted", "runAsUser", deployment, "runAsUser: 65532", "runAsUser: 0"),
		broken("no seccomp", "restricted", "seccomp", deployment, "type: RuntimeDefault", "type: Unconfined"),
		broken("the node's network", "restricted", "shares a namespace", deployment, "      enableServiceLinks: false\n", "      enableServiceLinks: false\n      hostNetwork: true\n"),
		broken("a folder of the node", "restricted", "is of the node", deployment, "      volumes:\n", "      volumes:\n        - name: v\n          hostPath:\n            path: /\n"),
		broken("more rights later", "restricted", "allowPrivilegeEscalation", deployment, "allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"),
		broken("a root file system to write to", "restricted", "readOnlyRootFilesystem", deployment, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"),
		broken("a capability", "restricted", "capabilities", deployment, "                - ALL\n", "                - ALL\n              add:\n                - NET_BIND_SERVICE\n"),
		broken("privileged", "restricted", "is privileged", deployment, "            readOnlyRootFilesystem: true\n", "            readOnlyRootFilesystem: true\n            privileged: true\n"),
		broken("root by the container", "restricted", "runs as root", deployment, "            readOnlyRootFilesystem: true\n", "            readOnlyRootFilesystem: true\n            runAsUser: 0\n"),
		broken("seccomp by the container", "restricted", "thriftpack/thriftpack: seccomp", deployment, "            readOnlyRootFilesystem: true\n", "            readOnlyRootFilesystem: true\n            seccompProfile:\n              type: Unconfined\n"),
		broken("a port of the node", "restricted", "one of the node", deployment, "              containerPort: 8080\n", "              containerPort: 8080\n              hostPort: 8080\n"),
		broken("an image that moves", "image", "latest", production, "newTag: dev", "newTag: latest"),
		broken("no such account", "references", "ServiceAccount other", deployment, "serviceAccountName: thriftpack", "serviceAccountName: other"),
		broken("no such settings", "references", "does not exist", deployment, "                name: thriftpack-settings", "                name: thriftpack-setting"),
		broken("no such volume", "references", "volume v does not exist", deployment, "            - name: schemas\n", "            - name: v\n"),
		broken("no such ConfigMap", "references", "ConfigMap c of volume schemas", deployment, "            name: thriftpack-schemas\n", "            name: c\n"),
		{
			name: "a Secret that nobody is told of", rule: "references", want: "nothing makes Secret thriftpack-etcd", in: "components/schema-store-etcd",
			edits: []edit{{"components/schema-store-etcd/deployment.yaml", "secrets-needed: thriftpack-etcd", "secrets-needed: another"}},
		},
		broken("a Secret that nothing makes", "references", "nothing makes Secret s", deployment, "      volumes:\n", "      volumes:\n        - name: v\n          secret:\n            secretName: s\n"),
	}
}

func runs() []breakage {
	return []breakage{
		broken("less memory than the limit", "resources", "are not one number", deployment, "              cpu: 500m\n              memory: 512Mi", "              cpu: 500m\n              memory: 256Mi"),
		broken("no CPU", "resources", "requests no CPU", deployment, "              cpu: 500m\n", ""),
		broken("a limit of CPU", "resources", "has a limit of CPU", deployment, "            limits:\n", "            limits:\n              cpu: \"2\"\n"),
		broken("all of the memory for the runtime", "memory limit", "sets memory-limit", settings, "THRIFTPACK_INSECURE=true", "THRIFTPACK_MEMORY_LIMIT=512MiB\nTHRIFTPACK_INSECURE=true"),
		broken("the runtime's own variable", "memory limit", "GOMEMLIMIT", deployment, "          ports:\n", "          env:\n            - name: GOMEMLIMIT\n              value: 512MiB\n          ports:\n"),
		broken("streams that may hold all memory", "stream budget", "more than half", settings, "STREAM_BUDGET=256MiB", "STREAM_BUDGET=512MiB"),
		broken("schemas that fill the memory", "stream budget", "streams and schemas", settings, "PLAN_BYTES=8MiB", "PLAN_BYTES=32MiB"),
		broken("schemas that nobody mounts", "schemas", "no ConfigMap that is mounted", settings, "SCHEMA_DIR=/etc/thriftpack/schemas", "SCHEMA_DIR=/schemas"),
		broken("schemas that never change", "schemas", "never change", base, "      disableNameSuffixHash: true\n", ""),
		broken("schemas of one pod", "schemas", "another one in each pod", settings, "SCHEMA_STORE=none", "SCHEMA_STORE=file:/tmp/schemas.db"),
		inEtcd("a password for all who listen", "etcd in plaintext", "etcd/kustomization.yaml", "      - THRIFTPACK_SCHEMA_STORE=etcds://etcd.etcd.svc:2379/thriftpack\n      - THRIFTPACK_SCHEMA_ETCD_CA=/etc/thriftpack/etcd/ca.crt\n      - THRIFTPACK_SCHEMA_ETCD_CERT=/etc/thriftpack/etcd/tls.crt\n      - THRIFTPACK_SCHEMA_ETCD_KEY=/etc/thriftpack/etcd/tls.key\n", "      - THRIFTPACK_SCHEMA_STORE=etcd://etcd.etcd.svc:2379\n"),
		inEtcd("etcd on a port that is denied", "lets it out to etcd.etcd.svc:2380", "etcd/kustomization.yaml", "svc:2379", "svc:2380"),
		inEtcd("no DNS", "out to the DNS", "etcd/networkpolicy.yaml", "        - port: 53\n          protocol: UDP\n        - port: 53\n          protocol: TCP\n", "        - port: 54\n"),
		{
			name: "a collector on a port that is denied", rule: "tracing", want: "lets it out to collector.observability.svc:4318", in: "components/tracing",
			edits: []edit{{"components/tracing/kustomization.yaml", "svc:4317", "svc:4318"}},
		},
		{
			name: "a collector without a port", rule: "tracing", want: "is not a URL with a port", in: "components/tracing",
			edits: []edit{{"components/tracing/kustomization.yaml", "svc:4317", "svc"}},
		},
		{
			name: "credentials among the settings", rule: "tracing", want: "take it from a Secret", in: "components/tracing",
			edits: []edit{{"components/tracing/kustomization.yaml", "OTEL_TRACES_SAMPLER_ARG=0.01", "OTEL_EXPORTER_OTLP_HEADERS=authorization=x"}},
		},
		broken("requests that fill the memory", "stream budget", "largest calls", settings, "REQUEST_BYTES=4MiB", "REQUEST_BYTES=64MiB"),
		broken("a setting that does not exist", "settings", "THRIFTPACK_STREAM_BUDGETS: no such setting", settings, "STREAM_BUDGET", "STREAM_BUDGETS"),
		broken("a value that cannot be read", "settings", "STREAM_BUDGET", settings, "256MiB", "256M"),
		broken("a flag that does not exist", "settings", "unknown flag: --max-dept", deployment, "          ports:\n", "          args: [--max-dept=5]\n          ports:\n"),
		{
			name: "a public address in plaintext", rule: "settings", want: "can be reached by others and has no TLS", in: "components/gateway",
			edits: []edit{{settings, "THRIFTPACK_INSECURE=true\n", ""}},
		},
		broken("TLS without a key", "settings", "TLS_CERT: needs a tls-key", mtls, "      - THRIFTPACK_TLS_KEY=/etc/thriftpack/tls/tls.key\n", ""),
		inDev("no server at all", "settings", "no container runs the server", deployment, "        - name: thriftpack\n          image", "        - name: other\n          image"),
		broken("settings without a hash", "hashed settings", "has no hash", base, "      - settings.env\n    options:\n", "      - settings.env\n    options:\n      disableNameSuffixHash: true\n"),
		inDev("profiles", "no profiles", "serves profiles", settings, "THRIFTPACK_INSECURE=true", "THRIFTPACK_PPROF=true\nTHRIFTPACK_INSECURE=true"),
		broken("health on the gRPC port", "probes", "no port of its own", settings, "THRIFTPACK_HEALTH_ADDR=:50052\n", ""),
		broken("no startup probe", "probes", "has no startup probe", deployment, "          startupProbe:\n            grpc:\n              port: 50052\n              service: liveness\n            periodSeconds: 1\n            timeoutSeconds: 2\n            failureThreshold: 60\n", ""),
		broken("a start that waits for etcd", "probes", `the startup probe asks for another service than "liveness"`, deployment, "service: liveness\n            periodSeconds: 1\n", "service: readiness\n            periodSeconds: 1\n"),
		broken("liveness that follows readiness", "probes", `another service than "liveness"`, deployment, "service: liveness\n            periodSeconds: 10\n", "service: readiness\n            periodSeconds: 10\n"),
		broken("a probe of another port", "probes", "asks port 50051", deployment, "              port: 50052\n              service: readiness", "              port: 50051\n              service: readiness"),
		broken("an impatient probe", "probes", "which a busy node exceeds", deployment, "timeoutSeconds: 5", "timeoutSeconds: 1"),
		broken("an impatient start", "probes", "too few", deployment, "failureThreshold: 60", "failureThreshold: 5"),
		broken("an impatient restart", "probes", "an overload would become an outage", deployment, "failureThreshold: 6\n", "failureThreshold: 2\n"),
		broken("a port that moved", "ports", "serves port 50061", settings, "GRPC_ADDR=:50051", "GRPC_ADDR=:50061"),
		broken("a port that nobody serves", "ports", "declares port 8080", settings, "HTTP_ADDR=:8080", "HTTP_ADDR="),
		broken("a PodMonitor of another port", "ports", "scrapes port grpc", "components/monitoring/podmonitor.yaml", "port: http", "port: grpc"),
		broken("a Service for everyone", "services", "is a LoadBalancer", service, "type: ClusterIP", "type: LoadBalancer"),
		broken("no headless Service", "services", "0 headless", headless, "  clusterIP: None\n", ""),
		broken("a headless Service with another port", "services", "not to 50051", headless, "      port: 50051", "      port: 80"),
		broken("pods that are not ready", "services", "not ready", headless, "  clusterIP: None\n", "  clusterIP: None\n  publishNotReadyAddresses: true\n"),
		broken("a Service of the metrics' port", "services", "which is not grpc-addr", service, "targetPort: grpc", "targetPort: http"),
		{
			name: "a Service that does not say what it carries", rule: "services", want: "is not kubernetes.io/h2c", in: "components/gateway",
			edits: []edit{{service, "      appProtocol: kubernetes.io/h2c\n", ""}},
		},
		broken("a Service that calls TLS plaintext", "services", "is not https", mtls, "value: https", "value: kubernetes.io/h2c"),
		broken("TLS, and plaintext without it", "tls", "has TLS and insecure", mtls, "INSECURE=false", "INSECURE=true"),
		broken("a certificate in no volume", "tls", "is in no Secret", mtls, "CERT=/etc/thriftpack/tls/", "CERT=/etc/thriftpack/"),
		broken("a certificate that is never renewed", "tls", "is in no Secret", mounts, "              mountPath: /etc/thriftpack/tls\n", "              mountPath: /etc/thriftpack/tls\n              subPath: tls\n"),
		broken("a key for all users", "tls", "mode 0440", mounts, "defaultMode: 0440", "defaultMode: 0444"),
		broken("a certificate of another namespace", "tls", "and not for thriftpack.thriftpack.svc", production, "          index: 1\n", "          index: 0\n"),
		broken("a certificate without a name for balancing clients", "tls", "and not for thriftpack-headless.thriftpack.svc", "components/mtls/certificate.yaml", "    - thriftpack-headless.NAMESPACE.svc\n", "    - thriftpack-other.NAMESPACE.svc\n"),
		broken("plaintext to pods with TLS", "routes", "ends TLS at the Gateway", production, "  - ../../components/monitoring\n", "  - ../../components/monitoring\n  - ../../components/gateway\n"),
		inDev("TLS to pods in plaintext", "routes", "speaks none", "overlays/dev/kustomization.yaml", "configMapGenerator:\n", "components: [../../components/gateway-passthrough]\nconfigMapGenerator:\n"),
		{
			name: "a name from outside that no certificate has", rule: "routes", want: "is for thrift.example.com", in: "components/gateway-passthrough",
			edits: []edit{{"components/gateway-passthrough/tlsroute.yaml", "    - thriftpack.example.com", "    - thrift.example.com"}},
		},
		broken("a policy of other pods", "network policy", "does not select", policy, "  podSelector:\n    matchLabels:\n      app.kubernetes.io/name: thriftpack\n", "  podSelector:\n    matchLabels:\n      app.kubernetes.io/name: other\n"),
		broken("egress that is not denied", "network policy", "no policy denies Egress", policy, "    - Egress\n", ""),
		broken("everyone may call", "network policy", "a rule for everyone", policy, "    - from:\n        - podSelector: {}\n        - namespaceSelector:\n            matchLabels:\n              thriftpack.dev/clients: allowed\n      ports:", "    - ports:"),
		broken("every namespace may call", "network policy", "all namespaces", policy, "        - namespaceSelector:\n            matchLabels:\n              thriftpack.dev/clients: allowed\n", "        - namespaceSelector: {}\n"),
		broken("a port by name", "network policy", "which no container has as a number", policy, "port: 50051", "port: grpc"),
	}
}

func rollouts() []breakage {
	return []breakage{
		broken("too little time to end", "grace", "in hand are 35s", deployment, "terminationGracePeriodSeconds: 45", "terminationGracePeriodSeconds: 30"),
		broken("a longer drain", "grace", "drain-timeout 1m0s", settings, "DRAIN_TIMEOUT=20s", "DRAIN_TIMEOUT=60s"),
		broken("no sleep before the end", "grace", "no preStop sleep", deployment, "          lifecycle:\n            preStop:\n              sleep:\n                seconds: 5\n", ""),
		broken("the API's own grace period", "grace", "no terminationGracePeriodSeconds", deployment, "      terminationGracePeriodSeconds: 45\n", ""),
		broken("all at once", "rollout", "is not updated by rolling", deployment, "    type: RollingUpdate\n    rollingUpdate:\n      maxSurge: 1\n      maxUnavailable: 0\n", "    type: Recreate\n"),
		broken("a pod less", "rollout", "maxUnavailable is not 0", deployment, "maxUnavailable: 0", "maxUnavailable: 1"),
		broken("two pods more", "rollout", "maxSurge is not 1", deployment, "maxSurge: 1", "maxSurge: 2"),
		broken("a fast update", "rollout", "minReadySeconds is 0", deployment, "  minReadySeconds: 12\n", ""),
		broken("two pods", "rollout", "2 pods 12 s apart", scaler, "minReplicas: 3", "minReplicas: 2"),
		broken("an update that cannot be in time", "rollout", "progressDeadlineSeconds", deployment, "progressDeadlineSeconds: 300", "progressDeadlineSeconds: 10"),
		broken("replicas beside an autoscaler", "autoscaling", "has replicas: 3", deployment, "  minReadySeconds: 12\n", "  minReadySeconds: 12\n  replicas: 3\n"),
		broken("an autoscaler of something else", "autoscaling", "has 0 autoscalers", scaler, "    kind: Deployment\n    name: thriftpack", "    kind: Deployment\n    name: other"),
		broken("fewer at most than at least", "autoscaling", "exceeds maxReplicas", scaler, "maxReplicas: 12", "maxReplicas: 2"),
		broken("another container's load", "autoscaling", "counts container other", scaler, "container: thriftpack", "container: other"),
		broken("memory", "autoscaling", "does not scale on the container's CPU", scaler, "name: cpu", "name: memory"),
		broken("the API's own behavior", "autoscaling", "no behavior", scaler, "    scaleDown:\n      stabilizationWindowSeconds: 300\n      selectPolicy: Max\n      policies:\n        - type: Pods\n          value: 1\n          periodSeconds: 60\n", ""),
		{
			name: "pods that are added when streams are refused already", rule: "autoscaling", want: "before there are more pods", in: "components/scale-on-streams",
			edits: []edit{{"components/scale-on-streams/kustomization.yaml", "averageValue: 128Mi", "averageValue: 256Mi"}},
		},
		broken("a drain of all", "disruptions", "maxUnavailable is not 1", budget, "maxUnavailable: 1", "maxUnavailable: 100%"),
		broken("a broken pod that blocks", "disruptions", "blocks drains", budget, "  unhealthyPodEvictionPolicy: AlwaysAllow\n", ""),
		broken("a budget of other pods", "disruptions", "has 0 budgets", budget, "  selector:\n    matchLabels:\n      app.kubernetes.io/name: thriftpack", "  selector:\n    matchLabels:\n      app.kubernetes.io/name: other"),
		broken("one zone", "spread", "not spread over topology.kubernetes.io/zone", deployment, "topologyKey: topology.kubernetes.io/zone", "topologyKey: other"),
		broken("rather none than two", "spread", "would rather not start", deployment, "        - topologyKey: kubernetes.io/hostname\n          maxSkew: 1\n          whenUnsatisfiable: ScheduleAnyway", "        - topologyKey: kubernetes.io/hostname\n          maxSkew: 1\n          whenUnsatisfiable: DoNotSchedule"),
		broken("old pods count", "spread", "the pods of the last revision", deployment, "          matchLabelKeys:\n            - pod-template-hash\n      containers:", "      containers:"),
		broken("other pods", "spread", "are others", deployment, "        - topologyKey: kubernetes.io/hostname\n          maxSkew: 1\n          whenUnsatisfiable: ScheduleAnyway\n          labelSelector:\n            matchLabels:\n              app.kubernetes.io/name: thriftpack", "        - topologyKey: kubernetes.io/hostname\n          maxSkew: 1\n          whenUnsatisfiable: ScheduleAnyway\n          labelSelector:\n            matchLabels:\n              app.kubernetes.io/name: other"),
	}
}
