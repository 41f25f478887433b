# make demo: a crash log in, a failing test out.  make test: all tests.  make help: the rest.
export PATH := $(HOME)/.cargo/bin:$(PATH)
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint prepare

help:
	@echo 'make demo      reproduce a crash of commons-collections 3.1, from its log to a failing test'
	@echo 'make test      run all tests (installs what is missing)'
	@echo 'make test-all  the same with everything that takes long'
	@echo 'make lint      formatting and clippy'

setup:
	@scripts/setup.sh

# What the tests read: fixture programs with their logs, jars of Maven Central.
prepare: setup
	@scripts/jars.sh
	@scripts/fixtures.sh

demo: setup
	@scripts/demo.sh

test: prepare
	cargo test --workspace

test-all: prepare
	RETHROW_ALL=1 cargo test --workspace

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
