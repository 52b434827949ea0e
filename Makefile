# NshTrust. `make` alone lists the targets. Each target gets what it needs by itself: Debian packages
# through scripts/deps (sudo when not root), Python packages through scripts/venv.

PREFIX ?= /usr/local
DESTDIR ?=
MINUTES ?= 5
CASES ?= 100000
BENCH := $(if $(QUICK),--quick,--write)
TOOL := .build/release/nsh-pkgtool
DAEMON := .build/release/nsh-trustd
# Without Foundation, and with types named directly instead of by text that the runtime looks up at each start:
# docs/decisions/0012.
RELEASE := swift build -c release --static-swift-stdlib --disable-local-rpath --disable-default-traits \
	-Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors
# The sanitizers' builds have folders of their own: they never mix with the plain ones.
SANITIZED_TEST := SWIFT_BACKTRACE=enable=no swift test --disable-xctest
FORMATTED := $(wildcard Sources Tests Examples Benchmarks Fuzz Package.swift)

export LC_ALL := C.UTF-8
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help demo test build lint format vectors docs readme readme-check install uninstall clean \
	bench bench-daemon bench-scale bench-guard build-probe test-unit test-agreement test-tool test-daemon test-tsan test-asan \
	attack fuzz crashtest soak differential model hostile-host mutants deps-build deps-python deps-test deps-demo deps-bench

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

demo: build deps-python deps-demo ## sign, verify, open, tamper with, roll back and revoke a real app, step by step
	@scripts/demo

test: build build-probe deps-python deps-test ## everything: lint, unit tests, vectors, agreement, tool, daemon, concurrency with TSan, every proof in short
	@scripts/run-suites

build: deps-build ## the release tool, fully static, and the daemon: .build/release/nsh-pkgtool, nsh-trustd
	$(RELEASE) --product nsh-pkgtool
	$(RELEASE) --product nsh-trustd

build-probe: deps-build
	$(RELEASE) --product GuardProbe

lint: deps-build deps-test ## formatting, documentation, layers, and that every rule has a test
	@scripts/lint

format: ## rewrite the Swift sources in the project's format
	swift format --in-place --parallel --recursive $(FORMATTED)

vectors: deps-python ## remake testvectors/ from its fixed keys, byte for byte
	.venv/bin/python testvectors/make.py

docs: deps-build ## the reference of the Swift API as a static site: docs-site/
	scripts/docs

readme: build deps-test ## run the commands of README.md's tour and write their output into it
	scripts/readme --write

readme-check: build deps-test ## fail when README.md's tour no longer shows what the commands print
	scripts/readme --check

test-unit: deps-build ## the Swift tests alone
	swift test --disable-xctest

test-agreement: build deps-python deps-test ## the reference reader and other programs against the tool
	@scripts/run-suites agreement

test-tool: build deps-test ## the tool's script tests
	@scripts/run-suites tool

test-daemon: build deps-python deps-test ## the daemon from outside: API, permissions, life, load
	@scripts/run-suites daemon

test-tsan: deps-build ## the Swift tests under ThreadSanitizer
	$(SANITIZED_TEST) --sanitize=thread --scratch-path .build/tsan

# Leaks are not looked for: what is found is Foundation reading empty files in the tests, and Swift's own globals.
test-asan: deps-build ## the Swift tests under AddressSanitizer
	ASAN_OPTIONS=detect_leaks=0 $(SANITIZED_TEST) --sanitize=address --scratch-path .build/asan

# What follows runs as long as it takes; docs/assurance.md says what each proved. `make test` runs a short version of each.
attack: build deps-python deps-test ## the 150 public faults of docs/known-attacks.md, each played against this project
	@scripts/run-attacks

crashtest: build deps-python deps-test ## the store killed, failed and cut off from power at every system call
	swift build --build-tests
	@NSH_LONG=1 scripts/run-suites crash

fuzz: deps-build deps-test ## everything that reads bytes from outside, MINUTES=5 for each of the twenty targets, with AddressSanitizer
	@scripts/fuzz $(MINUTES)

soak: build deps-python deps-test ## threads and processes on one store for MINUTES=5, then the log is checked
	@NSH_LONG=1 NSH_MINUTES=$(MINUTES) scripts/run-suites soak

differential: build deps-python deps-test ## our verdict against the reference on CASES=100000 packages mutated before signing
	@CASES=$(CASES) NSH_LONG=1 scripts/run-suites agreement/differential

model: deps-python deps-test ## the protocol of accepting a build, explored state by state, and its broken variants
	@scripts/run-suites model

hostile-host: build deps-python deps-test ## full, read-only and hostile disks, files, clocks and terminals
	@NSH_LONG=1 scripts/run-suites host

mutants: deps-build deps-test ## every refusal removed in turn: a test that cites its rule must fail
	@nice scripts/mutants

# Measurements, never tests: they fill docs/performance.md. QUICK=1 makes each short and writes nothing.
bench: build deps-bench ## verify, extract, open, publish beside minisign, tar, gpgv and a floor in C; QUICK=1: three rounds
	@python3 Benchmarks/packages/bench.py $(BENCH)

bench-daemon: build deps-bench ## check, verify, open at 1 to 512 connections beside a bare libmicrohttpd; QUICK=1
	@python3 Benchmarks/daemon/selftest.py
	@python3 Benchmarks/daemon/bench.py $(BENCH)

bench-guard: build build-probe deps-test ## instructions and system calls of verify, open, check held against the accepted ones; ACCEPT=1
	@python3 Benchmarks/guard/guard.py $(if $(ACCEPT),--accept)

bench-scale: build build-probe deps-bench ## curves: lists and stores to a million, packages to 4 GB, threads, processes; QUICK=1
	@python3 Benchmarks/scale/bench.py $(BENCH)

install: $(TOOL) $(DAEMON) ## tool, daemon, manual pages, completions, systemd units, under $(DESTDIR)$(PREFIX)
	scripts/install "$(PREFIX)" "$(DESTDIR)"

uninstall: ## remove what install put there
	scripts/install --remove "$(PREFIX)" "$(DESTDIR)"

clean: ## remove everything that was built, .venv and caches too
	rm -rf .build .venv docs-site

# So that `make build && sudo make install` builds nothing as root.
$(TOOL) $(DAEMON):
	@$(MAKE) build

deps-build:
	@scripts/deps build
deps-python: deps-build
	@scripts/venv
deps-test:
	@scripts/deps test
deps-demo:
	@scripts/deps demo
deps-bench:
	@scripts/deps bench
