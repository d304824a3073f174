# The commands for people and CI. `make` alone lists them.

export ERRAND_STRICT = 1
SWIFT = swift
# SwiftPM passes the traits to the compiler in a random order; another order than last time would rebuild everything.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
RELEASE = .build/release
SUITES = BackgroundableTests ErrandTests ErrandRedisTests ErrandCatalogueTests FuzzingTests ModelTests SnippetTests WebServiceTests ExecutableTests

.PHONY: help deps test-deps build test threads model model-full mutations build-model faults faults-full fault-tools fuzz fuzz-full demo bench
.PHONY: api adoption cluster-test engines pages page-tools views rivals bench-local format lint docs

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what is missing: hiredis headers, redis-server
	@scripts/install-dependencies

test-deps:
	@scripts/install-dependencies tests

build: deps ## build the executables into .build/release
	$(BUILD) -c release --product errand-producer
	$(BUILD) -c release --product errand-worker
	$(BUILD) -c release --product errand
	$(BUILD) -c release --product errand-dashboard

test: build-tests ## run every test, against redis-servers that the tests start themselves
	@scripts/run-tests $(SUITES)

build-tests: test-deps
	$(BUILD) --build-tests

STORM ?= 10
threads: ## the local operations under the thread sanitizer (STORM=60 for storms of 60 s)
	scripts/check-threads $(STORM)

# The quick profile uses the build of `make test`; the full one also depends on speed.
FAULTS_BUILD = debug
faults: fault-tools ## the quick profile of the fault catalogue: processes, networks and servers that really fail
	.build/$(FAULTS_BUILD)/errand-faults --again 1 --lanes 2 $(ARGUMENTS)

faults-full: FAULTS_BUILD = release
faults-full: fault-tools ## every fault at its full size (hours); ARGUMENTS="--only F20 --json" for some
	.build/$(FAULTS_BUILD)/errand-faults --full --again 1 $(ARGUMENTS)

fault-tools:
	@scripts/install-dependencies faults
	for product in errand-faults errand-fault-worker errand-worker errand-producer errand; do \
		$(BUILD) -c $(FAULTS_BUILD) --product $$product || exit 1; done

FUZZ = 300000
fuzz: test-deps ## the parsers under libFuzzer and the address sanitizer, for a minute or two
	scripts/fuzz all $(FUZZ)

fuzz-full: test-deps ## the same with 50,000,000 inputs a parser: many hours in all
	scripts/fuzz all 50000000
	FUZZ_MAX_LEN=70000 scripts/fuzz all 200000

MODEL_BUILD = release
MODEL = .build/$(MODEL_BUILD)/errand-model
build-model: deps
	@$(BUILD) -c $(MODEL_BUILD) --product errand-model

model: build-model ## the transitions explored, simulated and compared with Redis, and broken ones noticed, in two minutes (docs/model.md)
	$(MODEL) redis --histories 400
	$(MODEL) redis --histories 100 --tombstones
	$(MODEL) explore --quick
	$(MODEL) simulate --seeds 500
	ERRAND_MODEL=$(MODEL) HISTORIES=100 scripts/check-mutations core

model-full: build-model ## the same with the figures of docs/model.md: about eight hours of a processor
	$(MODEL) redis --histories 20000
	$(MODEL) redis --histories 4000 --tombstones
	$(MODEL) explore --table
	$(MODEL) simulate --seeds 10000

mutations: build-model ## break the transitions on purpose, one line at a time, and see the checks go red
	$(BUILD) --build-tests
	scripts/check-mutations

# With the build of the tests.
engines: MODEL_BUILD = debug
engines: build-tests build-model ## the tests of the Redis broker, the model and the demo on Redis 8 and Valkey 9 (docs/redis.md); ARGUMENTS=--quick
	@scripts/install-dependencies engines
	scripts/check-engines $(ARGUMENTS)

pages: page-tools ## walk through the dashboard with a real browser, on a real cluster; ARGUMENTS="--screenshots DIR"
	scripts/check-pages $(ARGUMENTS)

page-tools: test-deps
	for product in errand-producer errand-worker errand errand-dashboard errand-example-photo-server errand-example-photo-worker; do \
		$(BUILD) --product $$product || exit 1; done

cluster-test: ## bring the compose files up, with one server, a cluster and sentinels, and hurt them; ARGUMENTS="--built .build/debug" saves the build
	for topology in server cluster sentinel; do python3 Tests/Cluster/cluster.py --topology $$topology $(ARGUMENTS) || exit 1; done

views: test-deps ## how long console and dashboard take with 1,000,000 waiting and 100,000 dead jobs; ARGUMENTS="--waiting 10000"
	for product in errand-producer errand-worker errand errand-dashboard; do $(BUILD) -c release --product $$product || exit 1; done
	Tests/Pages/views.py $(ARGUMENTS)

adoption: test-deps ## follow the README with an empty package: build it, run its worker and producer
	scripts/check-adoption

DEMO_BUILD = release
demo: deps ## run a distributed work queue on real files, and kill a worker in the middle
	$(BUILD) -c $(DEMO_BUILD) --product errand-producer
	$(BUILD) -c $(DEMO_BUILD) --product errand-worker
	$(BUILD) -c $(DEMO_BUILD) --product errand
	.build/$(DEMO_BUILD)/errand demo

bench: deps ## jobs a second, latency and memory, beside what the server alone can do; ARGUMENTS="--runs 5"
	$(BUILD) -c release --product errand
	@$(RELEASE)/errand bench $(ARGUMENTS)

rivals: deps ## other work queues beside Errand: same machine, server and work (Benchmarks/rivals)
	$(BUILD) -c release --product errand
	Benchmarks/rivals/run $(ARGUMENTS)

bench-local: ## what a local operation costs, beside a plain one in the same run
	$(BUILD) -c release --product BackgroundableBench
	@$(RELEASE)/BackgroundableBench

DOCUMENTED = Errand ErrandRedis ErrandTesting ErrandWebhooks Backgroundable
docs: deps ## build the documentation of the libraries into .build-docs/documentation, without a warning
	mkdir -p .build-docs/documentation
	for target in $(DOCUMENTED); do \
		ERRAND_DOCS=1 $(SWIFT) package --scratch-path .build-docs --allow-writing-to-directory .build-docs/documentation \
			generate-documentation --target $$target --warnings-as-errors --output-path .build-docs/documentation/$$target || exit 1; \
	done

api: build-tests ## compare the public interface with the one that is promised (docs/api)
	scripts/check-api $(ARGUMENTS)

format: ## lay the code out
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Examples Benchmarks

lint: ## check the layout and the rules
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Examples Benchmarks
	scripts/lint-scripts
	scripts/lint-words
