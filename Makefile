# What a contributor runs. Needs Go and, for the tests against other programs, those:
# "make deps" says which are not there.

SHELL := /bin/bash

# With SPOOL_TEST_REQUIRE=1, as in CI, what cannot be tested fails instead of being skipped.
SPOOL_TEST_REQUIRE ?=
export SPOOL_TEST_REQUIRE

# make lint GOLANGCI=golangci-lint takes one that is installed already.
GOLANGCI ?= $(shell GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod -n golangci-lint)

# What is built is static, in tests as in a release. test/go.sh turns cgo on for the race detector, which needs it.
export CGO_ENABLED ?= 0

# Without the names of folders in them, packages are compiled once for lint, smoke, tests, the pages and a release, in
# every clone.
export GOFLAGS := -trimpath -buildvcs=false $(shell go env GOFLAGS)

# Compilers, linters and tests collect their garbage less often, which takes a tenth of their time, until they have 3 GiB.
export GOGC ?= 400
export GOMEMLIMIT ?= 3GiB

FUZZTIME ?= 10s
FUZZ ?= Fuzz
TESTFLAGS ?=

# The modules beside the root: rest, the leaves (backend/..., model/..., rest/...), and the unpublished ones that are there.
# go.work is for the root, which requires a rest that is not published yet. The others replace it, and go without go.work.
MODULES = $(patsubst %/go.mod,%,$(wildcard rest/go.mod backend/*/go.mod model/*/*/go.mod rest/*/go.mod rest/*/*/go.mod bench/go.mod bench/*/go.mod examples/*/go.mod test/*/go.mod))

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z\/]+:.*## / { printf "  make %-15s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: deps lint smoke test/node clients clients/browser console/check test/go ## everything that a change must pass, each behaviour once

.PHONY: test/long
test/long: deps ## every combination of backends, crash points and the race detector, for hours: CONTRIBUTING.md says when
	@SPOOL_TEST_LONG=1 $(MAKE) clients/browser
	@$(MAKE) fuzz FUZZ=FuzzStream FUZZTIME=1m
	@TESTFLAGS="$(TESTFLAGS)" exec test/services/run.sh -- test/go.sh long $(MODULES)

.PHONY: build
build: ## build the binary, ./spool
	go build -trimpath -o spool ./cmd/spool

.PHONY: deps
deps: deps/npm deps/python deps/services ## install what tests talk to

CLIENTS = clients/typescript

.PHONY: deps/npm
deps/npm: ## the packages of npm that tests and the TypeScript packages need, pinned by one lock file
	@ln -sfn ../$(CLIENTS)/node_modules test/node_modules # where node looks for what the programs in test import
	@if [ $(CLIENTS)/node_modules/.package-lock.json -nt $(CLIENTS)/package-lock.json ]; then \
		echo "$(CLIENTS) is installed"; \
	elif command -v npm >/dev/null; then \
		echo "npm ci --prefix $(CLIENTS)"; npm ci --prefix $(CLIENTS) --no-audit --no-fund --prefer-offline; \
	elif [ -n "$$SPOOL_TEST_REQUIRE" ]; then \
		echo "npm is not there, and nothing may be skipped" >&2; exit 1; \
	else \
		echo "skipped: tests that need packages of npm (it is not there)"; \
	fi

# A registry that does not answer is no fault of a change: it is said, and those tests are skipped.
.PHONY: deps/python
deps/python: ## what generates clients in Python, FastMCP and what verifies webhooks, in test/clients/.venv
	@cd test/clients; rm -f .venv-skipped; \
	if [ .venv/installed -nt requirements.txt ]; then echo "test/clients/.venv is installed"; exit 0; fi; \
	echo "pip install -r test/clients/requirements.txt"; \
	if python3 -m venv .venv && .venv/bin/pip install -q --disable-pip-version-check --retries 2 --timeout 15 -r requirements.txt; then touch .venv/installed; exit 0; fi; \
	pip=$$(command -v .venv/bin/pip || echo python3 -m pip); \
	if [ -n "$$SPOOL_TEST_REQUIRE" ] && $$pip index versions -q --retries 0 --timeout 15 openapi-python-client >/dev/null 2>&1; then \
		rm -rf .venv; echo "the registry of pip answers, and nothing may be skipped" >&2; exit 1; \
	fi; \
	rm -rf .venv; \
	echo "skipped: clients in Python, FastMCP and webhooks (python3 or the registry of pip is not there)" | tee .venv-skipped

.PHONY: deps/services
deps/services: ## PostgreSQL, PgBouncer, Redis, nginx, Chromium, zsh and fish (installed as root on Debian, named elsewhere)
	@test/services/install.sh

.PHONY: vet
vet: ## go vet, in every module: faster than lint, which does all of it too
	go vet ./...
	@set -e; export GOWORK=off; for dir in $(MODULES); do echo "go -C $$dir vet ./..."; go -C $$dir vet ./...; done

# The modules beside the root are one workspace here, so that what they share is read once. Each of them is built and tested
# with its own versions.
.PHONY: lint
lint: ## golangci-lint, in every module (the first run builds the linter: two to four minutes)
	@echo "golangci-lint run, in ."; $(GOLANGCI) run ./...
	@set -e; GOWORK=$$(mktemp -d)/go.work; export GOWORK; trap 'rm -r $${GOWORK%/*}' EXIT; \
		go work init $(CURDIR) $(addprefix $(CURDIR)/,$(MODULES)); \
		echo "golangci-lint run, in $(MODULES)"; $(GOLANGCI) run $(patsubst %,./%/...,$(MODULES))

.PHONY: smoke
smoke: ## start the server as the README says, ask for its health, stop it
	test/smoke.sh

# The servers are in place of the recipe's shell, so that they are told of an interrupt.
.PHONY: test/go
test/go: ## the Go tests of every module, with a PostgreSQL and a Redis
	@TESTFLAGS="$(TESTFLAGS)" exec test/services/run.sh -- test/go.sh quick $(MODULES)

.PHONY: test/node
test/node: ## the tests of what checks OpenAPI documents and pages
	@if [ -d test/node_modules ]; then \
		test/kept.sh node test/openapi $(CLIENTS)/package-lock.json -- node --test --test-concurrency=2 test/openapi/check/*.test.mjs; \
		elif [ -n "$$SPOOL_TEST_REQUIRE" ]; then echo "the packages of npm are not installed, and nothing may be skipped" >&2; exit 1; \
		else echo "skipped: tests of test/openapi (make deps/npm installs it)"; fi

.PHONY: clients
clients: ## lint, types, tests, sizes and tarballs of the TypeScript packages
	@if [ -d $(CLIENTS)/node_modules ]; then \
		test/kept.sh clients $(CLIENTS) spec examples/vite-chat bench/RESULTS.md LICENSE -- node $(CLIENTS)/scripts/check.mjs; \
		elif [ -n "$$SPOOL_TEST_REQUIRE" ]; then echo "$(CLIENTS) is not installed, and nothing may be skipped" >&2; exit 1; \
		else echo "skipped: the TypeScript packages (make deps/npm installs what checks them)"; fi

.PHONY: clients/browser
clients/browser: ## the hooks in Chromium, against a real server and a scripted model
	@chromium=$${CHROMIUM:-/usr/bin/chromium}; \
		if [ -d $(CLIENTS)/node_modules ] && [ -x $$chromium ]; then npm run --silent --prefix $(CLIENTS) test:browser; \
		elif [ -n "$$SPOOL_TEST_REQUIRE" ]; then echo "$(CLIENTS) is not installed or $$chromium is not there, and nothing may be skipped" >&2; exit 1; \
		else echo "skipped: the hooks in a browser ($(CLIENTS)/node_modules or $$chromium is not there)"; fi

# Who does not change the console needs no Node: console/dist is committed.
.PHONY: console
console: deps/npm ## build the web console into console/dist
	npm run build --prefix clients/typescript/apps/console

.PHONY: console/check
console/check: ## console/dist is what its source makes, small enough, and works in Chromium against the server
	@if [ ! -d $(CLIENTS)/node_modules ]; then \
		if [ -n "$$SPOOL_TEST_REQUIRE" ]; then echo "$(CLIENTS) is not installed, and nothing may be skipped" >&2; exit 1; fi; \
		echo "skipped: the console (make deps/npm installs what it needs)"; exit 0; fi; \
	cd $(CLIENTS)/apps/console; \
	browser=$${SPOOL_TEST_CHROMIUM:-$$(command -v chromium || true)}; \
	if [ -z "$$browser" ]; then \
		if [ -n "$$SPOOL_TEST_REQUIRE" ]; then echo "there is no Chromium, and nothing may be skipped" >&2; exit 1; fi; \
		echo "skipped: the console in Chromium (it is not there)"; node scripts/check.mjs; exit; fi; \
	export SPOOL_TEST_CHROMIUM=$$browser; failed=0; \
	node scripts/check.mjs & build=$$!; node scripts/static.mjs & static=$$!; \
	bin=$(CURDIR)/$(CLIENTS)/node_modules/.spool/; go build -C $(CURDIR) -o $$bin ./cmd/spool ./examples/mcpserver && \
		node scripts/smoke.mjs $$bin/spool || failed=1; \
	wait $$build || failed=1; wait $$static || failed=1; exit $$failed

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (10s); those whose names begin with FUZZ, such as FuzzStream, the readers of models
	@set -e; grep -roE --include='*_test.go' --exclude-dir=node_modules '^func $(FUZZ)[A-Za-z0-9_]*' . | sort | \
	while IFS=: read -r file func; do \
		name=$${func#func }; dir=$$(dirname "$$file"); \
		work=off; if [ "$$(go -C "$$dir" env GOMOD)" = $(CURDIR)/go.mod ]; then work=; fi; \
		echo "go -C $$dir test -fuzz=$$name"; \
		GOWORK=$$work go -C "$$dir" test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x .; \
	done

.PHONY: bench
bench: ## measure; writes bench/RESULTS.md
	GOWORK=off go -C bench run .

.PHONY: bench/quick
bench/quick: ## ten figures beside the commit before, or beside BENCH_COMMIT, in less than five minutes; writes nothing
	@GOWORK=off go -C bench run . -quick -rounds 3 -commit "$(BENCH_COMMIT)"

.PHONY: bench/rest
bench/rest: ## measure rest beside its peers; writes bench/rest/RESULTS.md
	GOWORK=off go -C bench/rest run .

.PHONY: bench/peers
bench/peers: ## measure a whole run beside another runtime's; writes bench/peers/RESULTS.md
	GOWORK=off go -C bench/peers run .

.PHONY: bench/adapters
bench/adapters: ## measure the model adapters beside bare loops over the providers' SDKs, and print the table
	GOWORK=off go -C bench/adapters run .

VERSION = $(shell sed -n 's/^const release = "\(.*\)"$$/\1/p' cmd/spool/internal/command/version.go)
TARGETS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
DIST ?= dist

# The same bytes wherever they are built: no paths, no commit, no build id.
STATIC = CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags='-s -w -buildid='

.PHONY: release
release: release/binaries release/sbom release/sums ## binaries for TARGETS with SBOMs and checksums, in dist/

.PHONY: release/binaries
release/binaries: ## the static binaries of a release alone
	@mkdir -p $(DIST); rm -f $(DIST)/spool_* $(DIST)/SHA256SUMS
	@set -e; for target in $(TARGETS); do \
		file=$(DIST)/spool_$(VERSION)_$${target%/*}_$${target#*/}; echo "$$file"; \
		GOOS=$${target%/*} GOARCH=$${target#*/} $(STATIC) -o $$file ./cmd/spool; done

.PHONY: release/sbom
release/sbom: ## what each binary in dist/ is made of, in CycloneDX
	@set -eo pipefail; for file in $(DIST)/spool_$(VERSION)_*; do echo "$$file.cdx.json"; \
		GOWORK=off go tool -modfile=$(CURDIR)/tools/sbom/go.mod cyclonedx-gomod bin -json -noserial -notimestamp -version $(VERSION) $$file | \
		sed 's/(devel)/$(VERSION)/' >$$file.cdx.json; done # rest, which go.work has from here

.PHONY: release/sums
release/sums: ## SHA256SUMS of what is in dist/
	@cd $(DIST) && { if command -v sha256sum >/dev/null; then sha256sum spool_*; else shasum -a 256 spool_*; fi; } >SHA256SUMS && cat SHA256SUMS

# The root has no replacement of rest, as "go install" refuses one. Tidying needs it, so a copy has it.
.PHONY: tidy
tidy: ## tidy each go.mod, and go.work.sum
	@set -e; copy=$$(mktemp -d); trap 'rm -r $$copy' EXIT; cp go.mod go.sum go.work.sum $$copy; \
		$(if $(TIDY),,rm go.work.sum;) go list -m all >/dev/null; $(if $(TIDY),diff $$copy/go.work.sum go.work.sum;) \
		export GOWORK=off; rest=github.com/spoolhq/spool/rest; go mod edit -replace=$$rest=./rest $$copy/go.mod; \
		echo "go mod tidy $(TIDY)"; go mod tidy $(TIDY) -modfile=$$copy/go.mod; \
		go mod edit -dropreplace=$$rest $$copy/go.mod; $(if $(TIDY),,cp $$copy/go.mod $$copy/go.sum .;) \
		for dir in $(MODULES); do echo "go -C $$dir mod tidy $(TIDY)"; go -C $$dir mod tidy $(TIDY); done

.PHONY: generate
generate: ## write generated files again
	go generate ./... ./rest/...

.PHONY: verify
verify: ## formatting, tidy modules, links and tables of the docs
	@out=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
		if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi; echo "gofmt: all formatted"
	@$(MAKE) --no-print-directory tidy TIDY=-diff
	go test -run 'TestDocs|TestModule|TestImports|TestPackageComments' ./internal/testing/archtest
	go test -run 'TestStateMachine|TestFixtures|TestReserved' ./wire
	go test -run 'TestOpenAPI|TestTables' ./spec
	@$(MAKE) --no-print-directory verify/openapi

.PHONY: verify/openapi
verify/openapi: deps/npm ## spec/openapi.json is valid OpenAPI 3.1, without an error of Redocly's recommended rules
	@if [ -d test/node_modules ]; then echo "node test/openapi/validate.mjs and lint.mjs, of spec/openapi.json"; \
		node test/openapi/validate.mjs spec/openapi.json && node test/openapi/lint.mjs spec/openapi.json; else echo "skipped: the document is not validated"; fi
