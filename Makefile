# Needs Go and make alone. `make help` lists the targets.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 10000x
DEMOFLAGS   ?=
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

export CGO_ENABLED ?= 0
# One set of compiled packages for all: what -trimpath changes about a package, it changes about what imports it.
export GOFLAGS := -trimpath $(GOFLAGS)
# Tools look at what the race detector compiles where GOFLAGS has -race. They are themselves compiled as motifd is.
TOOL        := CGO_ENABLED=0 $(GO) run -race=false -exec "env CGO_ENABLED=$$CGO_ENABLED"

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./bin/motifd
	$(GO) build -ldflags "-X main.linked=$(VERSION)" -o bin/motifd ./cmd/motifd

.PHONY: image
image: ## build the container image motifd:VERSION
	docker build --build-arg VERSION=$(VERSION) -f .docker/Dockerfile -t motifd:$(VERSION) .

.PHONY: demo
demo: build ## show fraud rings being reported live
	./bin/motifd demo $(DEMOFLAGS)

.PHONY: story
story: build ## play one account that everybody pays against the daemon; LIMITS=default: with the default limits
	LIMITS=$(LIMITS) sh cmd/motifd/stories/one-hub.sh

BROKER_TESTS = 'P3Torture|Broker|Settle'

# With TAGS=data,kafka it also runs the tests of test-data, and compiles those of test-kafka.
.PHONY: test
test: ## run all tests that need nothing but this repository
	$(GO) test -timeout 30m $(if $(TAGS),-tags $(TAGS) -skip $(BROKER_TESTS)) ./...

# Packages that start no goroutine: the race detector finds nothing there, and takes ten times as long.
SEQUENTIAL = cmd/benchpair cmd/motifd/internal/bench cmd/motifd/internal/benchcase cmd/motifd/internal/estimate \
	cmd/motifd/internal/metrics cmd/motifd/internal/payments cmd/motifd/internal/sizing config dyngraph \
	dyngraph/property kernels matcher/condition matcher/cpu/internal/count matcher/cpu/internal/ivm \
	matcher/cpu/internal/program matcher/cuda/placement matcher/groups matcher/internal/candidates \
	matcher/internal/residual matcher/internal/rowsort matcher/internal/truths matcher/pattern matcher/plan \
	matcher/reference stream/eventtime stream/kafka stream/kafka/admin stream/kafka/internal/recordbatch \
	stream/streamtest stream/tempfile

# A program under the race detector waits for a second before it ends unless told otherwise; tests start some hundred.
.PHONY: race
race: ## run the tests of packages with goroutines under the race detector, but RACE_WITHOUT; needs cgo and a C compiler
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 $(GO) test -race -short -timeout 30m \
		$$($(GO) list ./... | grep -v -x -F $(addprefix -e motifd/,$(SEQUENTIAL) $(RACE_WITHOUT)))

.PHONY: test-data
test-data: ## run the cases with known answers in ../shared/data
	@test -d ../shared/data || { echo "../shared/data is missing: the cases with known answers are there" >&2; exit 1; }
	$(GO) test -tags data,kafka -timeout 30m -run '^TestData' \
		$$(grep -rl --include='*_test.go' '^//go:build data' . | xargs grep -l '^func TestData' | \
			xargs -n1 dirname | sort -u)

DUCKDB := duckdb==1.3.2

# Needs Python 3.9; pip fetches DuckDB.
.PHONY: test-finbench
test-finbench: ## evaluate FinBench's stream with DuckDB, and compare with what test-data expects; needs Python
	@test -d build/finbench || python3 -m pip install -q --target build/finbench $(DUCKDB)
	PYTHONPATH=build/finbench python3 .ci/finbench/evaluate.py ../shared/data/finbench/finbench_sf0.01_stream.csv.gz | \
		diff cmd/motifd/testdata/finbench.tsv -

CYPHER_LINTER := @neo4j-cypher/language-support@2.0.0-next.38

.PHONY: test-cypher
test-cypher: ## lint the accepted patterns as Cypher 5 by Neo4j's linter; needs Node 20, and npm fetches the linter
	@test -d build/cypher/node_modules || \
		npm install --prefix build/cypher --no-save --no-package-lock --no-fund --no-audit $(CYPHER_LINTER)
	NODE_PATH=$(CURDIR)/build/cypher/node_modules $(GO) test -tags cypher -run AcceptedIsCypher ./matcher/pattern

KILLS       ?= 50
RESTARTS    ?= 5

.PHONY: test-kafka
test-kafka: ## run the tests against a real Kafka broker; needs Java 17 and Maven, and fetches the broker
	@.ci/kafka/fetch
	$(GO) test -tags data,kafka -timeout 60m -p 3 -parallel 4 -run $(BROKER_TESTS) \
		./cmd/motifd ./stream/kafka/brokertest ./stream/kafka/publish ./stream/kafka/source

.PHONY: torture
torture: ## kill motifd KILLS (50) and a real broker RESTARTS (5) times, restore a backup, compare; SEED repeats
	@.ci/kafka/fetch
	TORTURE_KILLS=$(KILLS) TORTURE_RESTARTS=$(RESTARTS) TORTURE_SEED=$(SEED) \
		$(GO) test -tags kafka -timeout 60m -count 1 -v -run 'P3Torture' ./cmd/motifd

BENCHFLAGS  ?=

.PHONY: bench
bench: build ## measure counts, deltas, exists by class of patterns; BENCHFLAGS: see bin/motifd bench --help
	./bin/motifd bench $(BENCHFLAGS)

.PHONY: bench-peer
bench-peer: build ## compare with PEER, a binary of RapidFlow, on a generated case or on that in the directory CASE
	@test -n "$(PEER)" || { \
		echo "PEER is missing: make bench-peer PEER=path/to/RapidFlow.out [CASE=directory]" >&2; exit 1; }
	./bin/motifd bench --peer "$(PEER)" $(if $(CASE),--case "$(CASE)") $(BENCHFLAGS)

OLD         ?=
NEW         ?=
PAIRS       ?= 10

.PHONY: bench-pair
bench-pair: ## compare two builds, OLD=path and NEW=path: processor time on one thread, PAIRS (10) alternating pairs
	@test -n "$(OLD)" && test -n "$(NEW)" || { echo "usage: make bench-pair OLD=path NEW=path [PAIRS=10]" >&2; exit 1; }
	$(GO) run ./cmd/benchpair -old "$(OLD)" -new "$(NEW)" -pairs $(PAIRS) \
		$(if $(wildcard ../shared/data),-data ../shared/data) $(BENCHFLAGS)

# What .ci/run has no time for: more random cases, also under race; more kills and restarts; a daemon that runs for
# DURATION; the story with default limits; fuzzing beyond the seeds; the emulator under ASan, MSan and TSan; the kernels
# compiled anew and compared with the committed PTX and cubins.
.PHONY: ci-full
ci-full: ## .ci/run and the long checks: more seeds, sanitizers, torture, soak, fuzz; takes about four hours
	.ci/run full
	MOTIFD_TEST_TIMES=10 $(GO) test -timeout 90m -count 1 ./matcher/... ./dyngraph
	$(GO) test -timeout 30m -count 1 ./cmd/... ./stream/...
	$(MAKE) million
	MOTIFD_TEST_TIMES=8 $(MAKE) race test-gpu-code
	$(MAKE) test-ptx
	$(MAKE) test-kafka
	$(MAKE) test-gpu-sanitizers
	$(MAKE) test-finbench
	$(MAKE) test-cypher
	$(MAKE) story LIMITS=default
	$(MAKE) torture
	$(MAKE) soak
	$(MAKE) fuzz FUZZTIME=100000x

# TIMES:TEST, so that each plays about a million batches against recomputation: conditions and parallel edges (S17),
# thresholds, negation, paths, once. Together they take about two hours of one processor.
MILLION = 70:S17RandomBatches 1780:S24BackendsPutOutTheSame 600:S25RandomBatches 300:S26BackendsPutOutTheSame \
	2100:S27OnceEqualsTheFilteredOutput
SHARE   ?= 1

.PHONY: million
million: ## play a million random batches of each kind of query, or one SHARE-th (1) of them, against recomputation
	@set -e; for x in $(MILLION); do \
		echo "$$x"; \
		MOTIFD_TEST_TIMES=$${x%%:*}/$(SHARE) $(GO) test -timeout 90m -count 1 -run "$${x#*:}\$$" ./matcher; \
	done

DURATION    ?= 10m

# Memory, goroutines and file handles stay flat, and the disk bounded. Then come 24 hours of event time with a retention
# of one hour.
.PHONY: soak
soak: ## run the daemon for DURATION (10m) on a stream that inserts and deletes, and hold that nothing grows
	SOAK_DURATION=$(DURATION) $(GO) test -timeout 0 -count 1 -v -run P4Soak ./cmd/motifd
	STEADY_RATE=100000 $(GO) test -timeout 0 -count 1 -v -run S20SteadyState ./stream

.PHONY: vet
vet: ## go vet, with every build tag but those that need cuda.h
	$(GO) vet -tags cypher,data,kafka,emu,ptx ./...

.PHONY: lint
lint: vet ## vet, staticcheck, gofmt, and lines of at most 120 columns
	$(TOOL) ./.ci/columns
	$(TOOL) $(STATICCHECK) -tags cypher,data,kafka,emu,ptx ./...
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { \
		echo "gofmt -w these files:"; echo "$$unformatted"; exit 1; } >&2

# A number of inputs and not a time: when its time ends, go test can report the deadline as a failure of the target.
.PHONY: fuzz
fuzz: ## run every fuzz target on FUZZTIME (10000x) inputs
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# The GPU backend. CUDA_DIR gets cuda.h and a stub of the driver's library, where there is no CUDA toolkit. Its tests
# run with -count 1: go test does not see that what other programs compile for them has changed: the loader, the
# emulator, the kernels. Nor does go build see a new loader where the program is there already.
GPU_PACKAGES = ./kernels ./matcher/cuda/... ./cmd/motifd
CUDA_DIR ?= build/cuda
CUDA_PROGRAM ?= bin/motifd-cuda
CUDA_ENV  = settings=$$(kernels/headers.sh $(CUDA_DIR)) && eval "export $$settings"

.PHONY: cuda
cuda: ## build ./bin/motifd-cuda, motifd with the GPU backend, and vet it; needs a C compiler, and pip for cuda.h
	$(CUDA_ENV) && $(GO) vet -tags cuda,gpu,data $(GPU_PACKAGES) && \
		rm -f $(CUDA_PROGRAM) && \
		$(GO) build -tags cuda -ldflags "-X main.linked=$(VERSION)" -o $(CUDA_PROGRAM) ./cmd/motifd

.PHONY: test-cuda
test-cuda: ## staticcheck the GPU backend, test what it says of drivers and devices that lack something
	$(CUDA_ENV) && $(TOOL) $(STATICCHECK) -tags cuda,gpu,data $(GPU_PACKAGES) && \
		$(GO) test -count 1 -tags cuda ./kernels && \
		$(GO) test -count 1 -tags cuda -run NoDriver ./cmd/motifd

.PHONY: ptx
ptx: ## compile the kernels anew, to PTX and to cubins (clang-19, and Python's pip for ptxas)
	kernels/ptx/generate.sh
	kernels/cubin/generate.sh
	cd kernels && sha256sum *.cu *.cuh ptx/* cubin/*.sh cubin/*/* >sums

.PHONY: test-ptx
test-ptx: ## compile the kernels, and compare with the PTX and the cubins that are committed (clang-19, pip)
	$(GO) test -count 1 -tags ptx ./kernels

.PHONY: nvcc
nvcc: ## compile the kernels with NVIDIA's compiler for sm_90, to see that they build; needs a CUDA toolkit
	kernels/nvcc.sh build/nvcc

comma   := ,
EMU_TAGS = emu$(if $(wildcard ../shared/data),$(comma)data)
MSAN     = -fsanitize=memory -fno-sanitize-memory-param-retval -fsanitize-ignorelist=uninstrumented.txt

SANITIZE ?= address,undefined

.PHONY: test-gpu-code
test-gpu-code: ## run the kernels in a warp emulator with ASan and UBSan, or SANITIZE=undefined; needs a C++ compiler
	@test -d ../shared/data || echo "../shared/data is missing: its cases are not played on the emulator" >&2
	mkdir -p build
	kernels/emu/build.sh $(CURDIR)/build/emulator -w -O2 -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined
	MOTIFD_EMULATOR_PROGRAM=$(CURDIR)/build/emulator $(GO) test -timeout 30m -count 1 -tags $(EMU_TAGS) ./kernels \
		./cmd/motifd/internal/sizing \
		$$($(GO) list ./matcher/cuda/... | grep -v -x motifd/matcher/cuda/placement) # which make test has
	GPU_EMULATOR=$(CURDIR)/build/emulator $(GO) test -timeout 30m -count 1 -tags emu -run GPU ./cmd/motifd

# The second seed under TSan has a warp park in the middle of a list.
EMU_SHORT = MOTIFD_TEST_FEW=1 $(GO) test -timeout 30m -count 1 -tags emu

.PHONY: test-gpu-sanitizers
test-gpu-sanitizers: ## run the kernels in the warp emulator with TSan and MSan
	MOTIFD_EMULATOR_FLAGS=-fsanitize=thread MOTIFD_TEST_SEED=76 MOTIFD_TEST_SEEDS=1 \
		$(EMU_SHORT) -run '(LooseEdges|BackendsAgree|BlocksOfMatches)$$' ./matcher/cuda
	MOTIFD_EMULATOR_FLAGS=-fsanitize=thread MOTIFD_TEST_SEED=73 MOTIFD_TEST_SEEDS=1 \
		$(EMU_SHORT) -run 'FoundTwice$$' ./matcher/cuda
	CXX=clang++-19 MOTIFD_EMULATOR_FLAGS="$(MSAN)" MOTIFD_TEST_SEEDS=2 \
		$(EMU_SHORT) -run '(LooseEdges|BackendsAgree|FoundTwice)$$' ./matcher/cuda

.PHONY: gpu-bundle
gpu-bundle: ## fill gpu-bundle/ with what a machine with a GPU runs: gpu-check.sh
	mkdir -p gpu-bundle && rm -f gpu-bundle/motifd-cuda
	$(CUDA_ENV) && $(GO) test -c -tags cuda,data -o gpu-bundle/cuda.test ./matcher/cuda
	$(CUDA_ENV) && $(GO) test -c -tags cuda,data -o gpu-bundle/mirror.test ./matcher/cuda/internal/mirror
	$(CUDA_ENV) && $(GO) test -c -tags cuda,gpu -o gpu-bundle/kernels.test ./kernels
	$(CUDA_ENV) && \
		$(GO) build -tags cuda -ldflags "-X main.linked=$(VERSION) -s -w" -o gpu-bundle/motifd-cuda ./cmd/motifd
	cp kernels/gpu-check.sh gpu-bundle/
	mkdir -p gpu-bundle/kernels && cp kernels/nvcc.sh kernels/*.cu kernels/*.cuh gpu-bundle/kernels/
	rm -rf gpu-bundle/data && mkdir gpu-bundle/data
	for set in tiny_s1 tiny_s2 tiny_s3 synth finbench amlsim-20k hprd; do \
		test ! -d ../shared/data/$$set || cp -r ../shared/data/$$set gpu-bundle/data/; \
	done

.PHONY: clean
clean: ## remove what was built
	rm -rf bin gpu-bundle
