# Works with GNU make 3.81 (macOS) and later, and any Python from 3.11. Everything goes into .venv.

PYTHONS = python3.14 python3.13 python3.12 python3.11 python3
# Python keeps what it has compiled, whatever the environment says: the tests start hundreds of it.
unexport PYTHONDONTWRITEBYTECODE

BIN = .venv/bin
# What running labeler needs, and what its tests and tools need beside that.
RUNS = .venv/.runs
READY = .venv/.ready

.PHONY: help demo test test-all programs types lint scripts documents docs screenshots bench fix
help:
	@echo "make demo      open labeler on sample data (ARGS=\"--port 9000 --no-browser\")"
	@echo "make test      lint, types, documents, then the tests that are not marked slow"
	@echo "               (TESTS=tests/cli/test_cli.py; CPU_SECONDS=1 prints what each file costs)"
	@echo "make test-all  the same with every test, and 200 examples of a property instead of 15"
	@echo "make docs      build the documentation into build/docs; a broken link is an error"
	@echo "make screenshots  take the documentation's pictures of the pages, in light and dark"
	@echo "make bench     measure the speed on this machine, and write it into the documentation"
	@echo "make fix       format the code, fix what a tool can fix, bring the generated documentation up to date"

demo: $(RUNS)
	@$(BIN)/labeler demo $(ARGS)

test: WHICH = -m "not slow"
test: EXAMPLES = few
test-all: EXAMPLES = many
test test-all: $(READY)
	@$(MAKE) --no-print-directory -j 3 programs types lint scripts documents
	browser=$$(.ci/browser) && \
	nginx=$$(.ci/proxy nginx "$$LABELER_NGINX") && caddy=$$(.ci/proxy caddy "$$LABELER_CADDY") && \
	LABELER_CHROMIUM="$$browser" LABELER_NGINX="$$nginx" LABELER_CADDY="$$caddy" HYPOTHESIS_EXAMPLES=$(EXAMPLES) \
	$(BIN)/python -m pytest -n auto --dist worksteal $(WHICH) $(TESTS)

# What the browser tests need and Python's packages do not bring; fetched while the checks run.
programs: $(READY)
	@.ci/browser > /dev/null && .ci/proxy nginx "$$LABELER_NGINX" > /dev/null && .ci/proxy caddy "$$LABELER_CADDY" > /dev/null

types: $(READY)
	$(BIN)/mypy

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

scripts: $(READY)
	.ci/javascript/run

documents: docs
	$(BIN)/cog --check docs/*/*.md

docs: $(READY)
	@rm -rf build/docs
	$(BIN)/sphinx-build -E -W --keep-going -n -q -d build/doctrees docs build/docs

screenshots: $(READY)
	@browser=$$(.ci/browser) && LABELER_CHROMIUM="$$browser" $(BIN)/python -m docs.screenshots

bench: $(READY)
	@set -e; browser=$$(.ci/browser); export LABELER_CHROMIUM="$$browser"; \
	LABELER_SPARK=$$(.ci/spark); export LABELER_SPARK; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]' -c constraints.txt; \
	rm -rf build/bench; mkdir -p build/bench; \
	for each in app compare gating reporting coverage flips holes choosing live measures load servers following keeping loads large opening databases evaluating agreement leakage trend hashing soak; do \
		echo "$$each"; \
		{ $(BIN)/python -m tests.benchmarks.$$each || touch build/bench/failed; } | tee build/bench/$$each.txt; \
		test ! -e build/bench/failed; \
	done; \
	$(BIN)/python -m docs.benchmarks; \
	$(BIN)/cog -r docs/explanation/performance.md

fix: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	.ci/javascript/run fix
	$(BIN)/python -m docs.json_schemas
	$(BIN)/cog -r docs/*/*.md

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
# All processors compile, without the packages' own tests: pip alone takes twice as long.
COMPILE = $(BIN)/python -m compileall -q -j 0 -x '/tests/' .venv/lib/python*/site-packages || true

$(RUNS): pyproject.toml constraints.txt
	@set -e; \
	new='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if ! $(BIN)/python -c "$$new" 2> /dev/null || ! $(BIN)/python -m pip --version > /dev/null 2>&1; then \
		found=; \
		for each in $(PYTHONS); do \
			if $$each -c "$$new" 2> /dev/null; then found=$$each; break; fi; \
		done; \
		if [ -z "$$found" ]; then echo "labeler needs Python 3.11 or later" >&2; exit 1; fi; \
		$$found -m venv --clear .venv; \
	fi
	$(INSTALL) -e .
	@$(COMPILE)
	@touch $@

$(READY): $(RUNS)
	$(INSTALL) -e '.[dev]'
	@$(COMPILE)
	@touch $@
