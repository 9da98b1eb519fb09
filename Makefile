# Thin over scripts/setup and the presets of CMakePresets.json.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SOURCES = $(shell git ls-files 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.h' 'bench/*.cc')

.PHONY: help demo test build install format lint lint-changed check-layers setup bench

# The comment behind a target's name is what this prints.
help: ## this list
	@awk -F': .*## |:.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## fetch what the build needs, once
	@scripts/setup

build: setup ## build/release/weir
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target weir

demo: build ## a year of flights becomes audited tables, in build/demo
	@scripts/demo

# The sanitizer's memory of what was freed and by whom is kept small: a fifth of the time of all tests.
# Every test runs once: tests by chance take another seed each time, and a second try would hide what the first one found.
test: setup ## all tests, with sanitizers
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS)
	@ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64 ctest --test-dir build/dev -j $(JOBS) --output-on-failure

bench: build ## the benchmarks of docs/benchmarks.md
	@cmake --build --preset release -j $(JOBS) --target floor
	@bench/run

install: build ## weir into PREFIX, /usr/local unless said
	@cmake --install build/release --prefix $(PREFIX)

format: ## lay out the sources
	@clang-format-16 -i $(SOURCES)

lint: setup ## clang-tidy over the sources
	@cmake --preset tidy
	@run-clang-tidy-16 -quiet -p build/tidy -j $(JOBS) '^$(CURDIR)/src/.*'

# A part of .ci/run.
lint-changed: setup ## clang-tidy over what changed, for two minutes at most
	@tools/lint_changed

check-layers: ## whether folders include only what they may
	@tools/check_layers
