# What people and CI run. `make` alone shows the targets.
#
#   drill      what a stranger runs: four real failures of KubeFleet, each explained and repaired
#   test       everything that a change has to pass; .ci/run calls it
#   test-long  what takes too long for every change
#
# Variables: CARGO (the command), RUNS (how often test-long repeats the suite), ARGS (more arguments for `fleetdrill
# run`, e.g. make drill ARGS='--keep failed'), NEEDS (what else `make setup` looks for).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# The targets of one command line run one after the other: they share two caches and the machine.
.NOTPARALLEL:
.PHONY: help setup drill test test-long lint fmt clippy rustdoc deny toolchain unit features exercises bench docs clean

CARGO ?= cargo
RUNS ?= 20
ARGS ?=
NEEDS ?=
DEBUG := target/debug/fleetdrill
RELEASE := target/release/fleetdrill

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Check that everything to build with is there, and say how to get what isn't (NEEDS='lint redis' for more)
	@scripts/setup $(NEEDS)

drill: ## Break a real fleet in four ways, explain and repair each; writes report/
	@scripts/setup
	@mkdir -p report
	$(CARGO) build --release --locked
	$(RELEASE) run --tags @drill --verbose --junit report/junit.xml --json report/run.json $(ARGS)

# The cheap checks come first, so that a slip is told within a minute and not after the builds.
test: ## Run everything there is: lints, docs, unit, snapshot and integration tests, all features and exercises on a fleet
	@scripts/setup lint redis
	@$(MAKE) --no-print-directory lint toolchain unit features exercises

lint: fmt clippy rustdoc deny ## Check formatting, clippy, rustdoc, licences and sources

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

rustdoc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --locked

deny:
	scripts/deny

# Tests have limits of their own, in which a fleet may start but no component be built.
toolchain: ## Build the real components that fleets need, once per version, into the user's cache
	$(CARGO) build --locked
	$(DEBUG) toolchain install

unit:
	@scripts/setup redis
	INSTA_UPDATE=no $(CARGO) test --workspace --locked

features:
	@scripts/setup redis
	@mkdir -p report
	$(CARGO) build --locked
	$(DEBUG) run --junit report/junit.xml --json report/run.json $(ARGS)

# Each exercise with its remedy, with nothing done, and with repairs that don't hold.
exercises:
	@scripts/setup redis
	$(CARGO) build --locked
	$(DEBUG) train verify

test-long: ## Run what takes too long for every change: the suite RUNS times in a row, then once in real time
	@scripts/setup redis
	RUNS=$(RUNS) scripts/repeat $(ARGS)
	RUNS=1 scripts/repeat --real-time $(ARGS)

bench: ## Measure how fast fleets start, how well scenarios share one, and what it all takes (ARGS=kubefleet for a part)
	@scripts/setup redis
	$(CARGO) bench --locked -p fleetdrill --bench fleet -- $(ARGS)

docs: ## Write docs/steps.md, docs/failure-modes.md and docs/guides.md again from the code and what was measured
	UPDATE_EXPECT=1 $(CARGO) test --locked -p steps --test vocabulary
	UPDATE_EXPECT=1 $(CARGO) test --locked -p diagnosis --test failure_modes
	UPDATE_EXPECT=1 $(CARGO) test --locked -p fleetdrill --test guides docs_guides_md

clean: ## Remove what was built and reported here; the toolchain cache stays
	$(CARGO) clean
	rm -rf report
