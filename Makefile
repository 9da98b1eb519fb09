# Thin over scripts/setup and the presets of CMakePresets.json.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
SOURCES = $(shell git ls-files 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' 'bench/*.h' 'bench/*.cc')

.PHONY: demo test build install format lint lint-changed check-layers setup bench

setup:
	@scripts/setup

build: setup
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target weir

demo: build
	@scripts/demo

# The sanitizer's memory of what was freed and by whom is kept small: a fifth of the time of all tests.
# Every test runs once: tests by chance take another seed each time, and a second try would hide what the first one found.
test: setup
	@cmake --preset dev
	@cmake --build --preset dev -j $(JOBS)
	@ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=4:thread_local_quarantine_size_kb=64 ctest --test-dir build/dev -j $(JOBS) --output-on-failure

bench: build
	@cmake --build --preset release -j $(JOBS) --target floor
	@bench/run

install: build
	@cmake --install build/release --prefix $(PREFIX)

format:
	@clang-format-16 -i $(SOURCES)

lint: setup
	@cmake --preset tidy
	@run-clang-tidy-16 -quiet -p build/tidy -j $(JOBS) '^$(CURDIR)/src/.*'

# What changed alone, for two minutes at most: a part of .ci/run.
lint-changed: setup
	@tools/lint_changed

check-layers:
	@tools/check_layers
