# What people and CI run. `make` alone shows the targets.
#
#   drill      a first look at fleetdrill: four real failures of KubeFleet, each explained and repaired
#   test       everything that a change has to pass; .ci/run calls it
#   test-long  tests that take too long for every change
#
# Variables: CARGO (the command), RUNS (how often test-long repeats the suite), ARGS (more arguments for `fleetdrill
# run`, e.g. make drill ARGS='--keep failed'), AGE and ONLY (of `make remedies`), PARTS and SHARD (of `make mutants`), KILLS and
# SEED (of `make chaos`, with ONLY), MINUTES (of `make soak`), NEEDS (more things that `make setup` checks for).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Targets on one command line run one after the other, because they share two caches and the machine.
.NOTPARALLEL:
.PHONY: help setup drill test test-long lint fmt clippy rustdoc deny advisories toolchain unit features suite exercises remedies \
	mutants chaos soak bench docs dist clean

CARGO ?= cargo
RUNS ?= 20
ARGS ?=
AGE ?= 0
ONLY ?=
KUBEFLEET ?=
PARTS ?=
KILLS ?= 200
SEED ?= 1
MINUTES ?= 30
NEEDS ?=
DEBUG := target/debug/fleetdrill
DRILL := target/drill/fleetdrill

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Check that all build tools are installed, and say how to get missing ones (NEEDS='lint argocd' for more)
	@scripts/setup $(NEEDS)

drill: ## Break a real fleet in four ways, explain and repair each; writes report/
	@scripts/setup
	@mkdir -p report
	@set -m; nice scripts/precompile & trap "kill -- -$$! 2>/dev/null || true" EXIT; \
	$(CARGO) build --profile drill --locked --no-default-features
	$(DRILL) run --tags @drill --verbose --junit report/junit.xml --json report/run.json $(ARGS)

# The cheap checks come first, so that a small mistake is reported within a minute and not after the builds.
test: ## Run lints, docs, unit, snapshot and integration tests, a scenario of each failure code and the exercises on a fleet
	@scripts/setup lint argocd
	@$(MAKE) --no-print-directory lint toolchain unit features exercises

lint: fmt clippy rustdoc deny ## Check formatting, clippy, rustdoc, licences, sources and advisories of crates

fmt:
	$(CARGO) fmt --all --check

clippy:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

rustdoc:
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --locked

deny:
	scripts/deny

advisories: ## Report known vulnerabilities in the toolchain's programs, with govulncheck; writes report/advisories
	@scripts/advisories

# Build the components before the tests: the time limits of the tests are long enough to start a fleet, but not to build
# a component.
toolchain: ## Build the real components that fleets need, once per version, into the user's cache
	$(CARGO) build --locked
	$(DEBUG) toolchain install

unit:
	@scripts/setup argocd
	INSTA_UPDATE=no $(CARGO) test --workspace --locked --no-fail-fast

suite: ## Run all scenarios on a fleet

# The scenarios of every change: the rest of the suite is for `make suite` and `make test-long`.
features: SELECTED := --one-per-code

suite features:
	@scripts/setup argocd
	@mkdir -p report
	$(CARGO) build --locked
	$(DEBUG) run --junit report/junit.xml --json report/run.json $(SELECTED) $(ARGS)

# Runs each exercise with its remedy. test-long also runs it with nothing done, and with repairs that don't hold.
exercises:
	@scripts/setup argocd
	$(CARGO) build --locked
	$(DEBUG) train verify --solutions

# Pastes the commands of findings into a shell, AGE seconds after the fault; ONLY=KF-WS-001,KF-WS-007 for some codes,
# KUBEFLEET=v0.3.1 for another version than the default one.
remedies: ## Run the printed commands of every failure code on a broken fleet, and check that it recovers (AGE=600 later)
	@scripts/setup argocd
	FLEETDRILL_REMEDIES_AGE=$(AGE) FLEETDRILL_REMEDIES_ONLY=$(ONLY) FLEETDRILL_REMEDIES_KUBEFLEET=$(KUBEFLEET) \
		$(CARGO) test --locked -p fleetdrill --test remedies -- --nocapture

test-long: ## Run tests that take too long for every change: the suite RUNS times, in real time, at scale, on kind; remedies of old faults
	@scripts/setup argocd
	RUNS=$(RUNS) scripts/repeat $(ARGS)
	RUNS=1 scripts/repeat --real-time $(ARGS)
	RUNS=1 scripts/repeat --tags @scale --jobs 1 --members 1 --no-continuous-diagnosis
	$(CARGO) test --locked -p fleetdrill --test command -- --ignored
	FLEETDRILL_TEST_LONG=1 $(CARGO) test --locked -p fleetdrill --test docker
	$(DEBUG) train verify
	@$(MAKE) --no-print-directory remedies AGE=0
	@$(MAKE) --no-print-directory remedies AGE=600
	@$(MAKE) --no-print-directory advisories

# Takes hours; goes on where it was interrupted. PARTS=record for one of record, diagnosis and judges, SHARD=3/40 for a part of that.
mutants: ## Change what decides in many small ways, and check that a test fails for each (docs/testing.md)
	scripts/mutants $(PARTS)

# Goes on where it was interrupted: report/chaos/ has a ledger for each seed and commit. ONLY='run keeper' for a part. Needs root or user namespaces.
chaos: ## Kill, stop and starve fleetdrill, its supervisors and components at KILLS moments of SEED, and check what is left
	@scripts/setup
	$(CARGO) build --locked
	$(DEBUG) toolchain install
	FLEETDRILL_CHAOS_KILLS=$(KILLS) FLEETDRILL_CHAOS_SEED=$(SEED) FLEETDRILL_CHAOS_ONLY='$(ONLY)' \
		FLEETDRILL_CHAOS_LEDGER="$(CURDIR)/report/chaos/seed-$(SEED)-$$(git rev-parse --short HEAD).jsonl" \
		$(CARGO) test --locked -p fleetdrill --test chaos -- --nocapture

soak: ## Keep a fleet up for MINUTES, run scenarios on it, and check that its supervisor doesn't grow
	@scripts/setup
	$(CARGO) build --locked
	FLEETDRILL_SOAK_MINUTES=$(MINUTES) $(CARGO) test --locked -p fleetdrill --test chaos -- --nocapture

bench: ## Measure how fast fleets start, how well scenarios share a fleet, and what both cost (ARGS=kubefleet for a part)
	@scripts/setup argocd
	$(CARGO) bench --locked -p fleetdrill --bench fleet -- $(ARGS)

docs: ## Write docs/steps.md, docs/failure-modes.md, docs/guides.md and docs/schemas from the code and the measurements
	UPDATE_EXPECT=1 $(CARGO) test --locked -p steps --test vocabulary
	UPDATE_EXPECT=1 $(CARGO) test --locked -p diagnosis --test failure_modes
	UPDATE_EXPECT=1 $(CARGO) test --locked -p fleetdrill --test guides docs_guides_md
	UPDATE_EXPECT=1 $(CARGO) test --locked -p report -p fleet -p fleetdrill --lib schema_is_published

dist: ## Write what is installed from into dist/: archives, a Debian package, a krew manifest (TOOLCHAIN=no without components)
	@scripts/setup
	@CARGO=$(CARGO) scripts/dist

clean: ## Remove the builds and reports of this directory; the toolchain cache stays
	$(CARGO) clean
	rm -rf report dist
