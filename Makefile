# Everything that one does with this repository. `make` alone lists it.

# The versions of the tools that are not dependencies of the code, here and nowhere else.
GOLANGCI_LINT_VERSION := v2.15.0
BUF_VERSION := v1.75.0
PROTOC_GEN_GO_VERSION := v1.36.12
PROTOC_GEN_GO_GRPC_VERSION := v1.6.2

# What can be set from outside: make fuzz FUZZTIME=5m, make run ARGS='--log-level=debug'.
FUZZTIME ?= 30s
SOAKTIME ?= 20s
BENCH ?= .
STREAMS ?=
ARGS ?=
PLATFORMS ?= linux/amd64,linux/arm64
PUSH ?=

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables
.DEFAULT_GOAL := help

# Each tool is built once into the user's cache, in a folder that has its version: switching branches never
# runs the wrong one, and a new clone finds them there.
XDG_CACHE_HOME ?= $(HOME)/.cache
TOOLS := $(XDG_CACHE_HOME)/thriftpack/tools
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)/golangci-lint
BUF := $(TOOLS)/buf-$(BUF_VERSION)/buf
PROTOC_GEN_GO := $(TOOLS)/protoc-gen-go-$(PROTOC_GEN_GO_VERSION)/protoc-gen-go
PROTOC_GEN_GO_GRPC := $(TOOLS)/protoc-gen-go-grpc-$(PROTOC_GEN_GO_GRPC_VERSION)/protoc-gen-go-grpc

# git does not look at a clone of somebody else, and Go then builds nothing unless it does without the commit. Tests build, too.
ifeq ($(shell git rev-parse --git-dir 2>/dev/null),)
export GOFLAGS := $(strip $(shell go env GOFLAGS) -buildvcs=false)
endif

# What the tests of k8s/ run against has a module that pins everything below it, so the versions are read from there.
CONTROL_PLANE := test/k8s/controlplane
KUBERNETES_VERSION := $(shell sed -n 's|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' $(CONTROL_PLANE)/go.mod)
ETCD_VERSION := $(shell sed -n 's|^\tgo.etcd.io/etcd/server/v3 \(v[0-9.]*\).*|\1|p' $(CONTROL_PLANE)/go.mod)
KUBE_APISERVER := $(TOOLS)/kube-apiserver-$(KUBERNETES_VERSION)/kube-apiserver
ETCD := $(TOOLS)/etcd-$(ETCD_VERSION)/etcd

# The modules of this repository: the service, and those whose dependencies are kept out of it.
MODULES := . $(patsubst %/go.mod,%,$(wildcard bench/go.mod test/go.mod test/k8s/go.mod k8s/image/go.mod))
TEST_MODULES := $(filter-out bench,$(MODULES))
# The race detector needs a C compiler; Go turns cgo off by itself where there is none.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# The first Python that has gRPC, for the example client.
PYTHON = $(shell for p in python3 /usr/bin/python3; do if $$p -c 'import grpc, google.protobuf' 2>/dev/null; then echo $$p; break; fi; done)

.PHONY: help
help: ## List the targets.
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS=$$'\t' read -r name text; do \
		printf '  %-13s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: ## Start a server, encode, decode and stream over real gRPC, and say what happened. Needs Go only.
	go run ./examples/demo

.PHONY: build
build: ## Build the server and the command line client into bin/.
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

# The time of the commit is that of every file in the image, so that building it again gives the same digest.
.PHONY: image
image: ## Build the container image into dist/image, without Docker, for PLATFORMS; PUSH=REGISTRY/NAME:TAG pushes it.
	@export SOURCE_DATE_EPOCH="$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 0)}"; \
	go -C k8s/image run . --source ../.. --output ../../dist/image --platforms '$(PLATFORMS)' \
		--version "$$(git describe --tags --always --dirty 2>/dev/null || echo devel)" \
		--revision "$$(git rev-parse HEAD 2>/dev/null || true)" $(if $(PUSH),--push '$(PUSH)')

.PHONY: run
run: build ## Run the server on 127.0.0.1:50051; ARGS='--flag=value …' are passed on, ARGS=--help explains them.
	exec bin/server $(ARGS)

.PHONY: test
test: ## Run all tests that need Go only; those of the service under the race detector, too, where there is a C compiler.
	@status=0; \
	for module in $(TEST_MODULES); do \
		echo "== module $$module"; \
		(cd "$$module" && go test -shuffle=on -timeout=20m $$(go list ./... | grep -v '/k8s/cluster$$')) || status=1; \
	done; \
	for race in $(RACE); do \
		echo "== module . $$race"; \
		go test $$race -shuffle=on -timeout=20m ./... || status=1; \
	done; \
	exit $$status
ifeq ($(RACE),)
	@echo "== no C compiler: the race detector was left out"
endif

# Vetting would compile the clients of Kubernetes once more, for minutes; make lint vets them.
.PHONY: test-k8s
test-k8s: control-plane ## Apply k8s/ to a real API server, which control-plane builds once.
	cd test/k8s && TEST_ASSET_KUBE_APISERVER='$(KUBE_APISERVER)' TEST_ASSET_ETCD='$(ETCD)' \
		go test -vet=off -count=1 -timeout=10m ./cluster

.PHONY: test-clients
test-clients: build ## Run the Node and Python example clients against the server (make deps installs what they need).
	@PYTHON='$(PYTHON)' examples/test-clients.sh

.PHONY: deps
deps: ## Install the Debian and npm packages of test-clients (as root, or with sudo).
	@examples/install-deps.sh

.PHONY: lint
lint: lint-go lint-api lint-generated ## Check the code, the API and that generated code is as committed.

.PHONY: lint-go
lint-go: $(GOLANGCI_LINT)
	@status=0; \
	for module in $(MODULES); do \
		echo "== golangci-lint, module $$module"; \
		(cd "$$module" && $(GOLANGCI_LINT) run --config '$(CURDIR)/.golangci.yml' ./...) || status=1; \
	done; \
	exit $$status

# The API is compared with api/baseline.yaml, the API as last generated, rather than with a git revision: that works in a
# clone of any depth, and on the branch that is itself the main one.
.PHONY: lint-api
lint-api: $(BUF)
	@echo "== buf"
	@$(BUF) lint
	@$(BUF) format --diff --exit-code
	@$(BUF) breaking --against api/baseline.yaml

.PHONY: lint-generated
lint-generated: $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC)
	@echo "== generated code"
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT; \
	$(call generate-into,$$dir); \
	for file in $$(cd "$$dir" && find . -type f); do \
		diff -u "$$file" "$$dir/$$file" || { echo "$$file: not as generated; run make generate" >&2; exit 1; }; \
	done

# Writes all generated files below the directory $(1), as they lie below the root.
generate-into = PATH="$(dir $(PROTOC_GEN_GO)):$(dir $(PROTOC_GEN_GO_GRPC)):$$PATH" $(BUF) generate -o "$(1)"; \
	mkdir -p "$(1)/api"; $(BUF) build --exclude-source-info -o "$(1)/api/baseline.yaml"

.PHONY: generate
generate: $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC) ## Write the generated code anew; refuses a change of the API that breaks clients.
	@$(BUF) breaking --against api/baseline.yaml || { \
		echo "The API would break its clients. Where that is meant: make generate-breaking" >&2; exit 1; }
	@$(call generate-into,.)

.PHONY: generate-breaking
generate-breaking: $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC)
	@$(call generate-into,.)

.PHONY: fmt
fmt: $(GOLANGCI_LINT) $(BUF) ## Format the Go and protobuf sources.
	@for module in $(MODULES); do (cd "$$module" && $(GOLANGCI_LINT) fmt --config '$(CURDIR)/.golangci.yml' ./...); done
	@$(BUF) format -w

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (30s) each.
	@for module in $(MODULES); do \
		(cd "$$module" && (grep -rlE '^func Fuzz' --include='*_test.go' . || true) | sort | while read -r file; do \
			case "$$module:$$file" in .:./bench/*|.:./test/*) continue;; esac; \
			sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\(.*/\1/p' "$$file" | while read -r name; do \
				echo "== $$module $${file%/*} $$name"; \
				go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$${file%/*}" </dev/null; \
			done; \
		done); \
	done

.PHONY: soak
soak: ## Run a mix of clients, good and bad, against the server for SOAKTIME (20s): right bytes, flat memory, orderly end.
	cd test && SOAKTIME=$(SOAKTIME) go test -count=1 -timeout=12h -v ./soak

.PHONY: bench
bench: ## Run the benchmarks with peers (module bench) that match BENCH (all).
	cd bench && go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

# Nothing of the document is touched before all is measured. MEASURED=FOLDER keeps the figures there, or takes those that are there with
# PIECES= for the ones to measure anew (bench/measure.sh), QUICK=1 tries it out.
MEASURED ?=
PIECES ?= codecs growth json calls streams profiles
.PHONY: bench-report
bench-report: ## Measure everything beside its peers (less than half an hour) and renew the tables and pictures of docs/performance.md.
	@cd bench; measured="$(abspath $(MEASURED))"; \
	if [ -z "$$measured" ]; then measured=$$(mktemp -d -t thriftpack-bench-XXXXXX); fi; \
	if [ -n "$(strip $(PIECES))" ]; then ./measure.sh "$$measured" $(PIECES); fi; \
	go run ./cmd/perfreport --measured "$$measured" --document ../docs/performance.md; \
	echo "the figures are in $$measured"

.PHONY: clean
clean: ## Remove what was built here. The tools in the user's cache stay.
	rm -rf bin dist

.PHONY: control-plane
control-plane: $(KUBE_APISERVER) $(ETCD) ## Build the API server and etcd that test-k8s runs into the user's cache (once; it takes a quarter of an hour).

.PHONY: tools
tools: $(GOLANGCI_LINT) $(BUF) $(PROTOC_GEN_GO) $(PROTOC_GEN_GO_GRPC) ## Build the pinned tools into the user's cache (once; the linter takes minutes).

# Built beside its place and moved there, so that an interrupted build leaves nothing that looks finished.
define go-tool
$(1):
	@echo "building $$(notdir $$@) $(3) (once)"
	@dir=$$$$(mktemp -d) && trap 'rm -rf "$$$$dir"' EXIT; \
	GOBIN="$$$$dir" GOFLAGS= GOWORK=off go install $(2)@$(3); \
	mkdir -p $$(dir $$@); mv "$$$$dir/$$(notdir $$@)" $$@
endef

# The same for the tools of the control plane. They are built at the lowest priority, since an API server takes a quarter of an hour
# of processor time. $(3) are flags for the linker.
define control-plane-tool
$(1):
	@echo "building $$(notdir $$@) $$(patsubst $$(notdir $$@)-%,%,$$(notdir $$(patsubst %/,%,$$(dir $$@)))) (once)"
	@mkdir -p $$(dir $$@); dir=$$$$(mktemp -d -p $$(dir $$@)) && trap 'rm -rf "$$$$dir"' EXIT; \
	cd $(CONTROL_PLANE) && CGO_ENABLED=0 GOWORK=off nice -n 19 \
		go build -mod=readonly -buildvcs=false -trimpath -ldflags '-s -w $(3)' -o "$$$$dir/" $(2); \
	mv "$$$$dir"/* $$@
endef
kubernetes-version := -X k8s.io/component-base/version.gitVersion=$(KUBERNETES_VERSION) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(KUBERNETES_VERSION:v%=%))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(KUBERNETES_VERSION:v%=%)))
$(eval $(call control-plane-tool,$(KUBE_APISERVER),k8s.io/kubernetes/cmd/kube-apiserver,$(kubernetes-version)))
$(eval $(call control-plane-tool,$(ETCD),go.etcd.io/etcd/server/v3,))
$(eval $(call go-tool,$(GOLANGCI_LINT),github.com/golangci/golangci-lint/v2/cmd/golangci-lint,$(GOLANGCI_LINT_VERSION)))
$(eval $(call go-tool,$(BUF),github.com/bufbuild/buf/cmd/buf,$(BUF_VERSION)))
$(eval $(call go-tool,$(PROTOC_GEN_GO),google.golang.org/protobuf/cmd/protoc-gen-go,$(PROTOC_GEN_GO_VERSION)))
$(eval $(call go-tool,$(PROTOC_GEN_GO_GRPC),google.golang.org/grpc/cmd/protoc-gen-go-grpc,$(PROTOC_GEN_GO_GRPC_VERSION)))
