# Two commands do all the set-up: `make demo` and `make test`. Needs Python >= 3.11, git >= 2.39 and a network.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: demo test lint clean

demo: $(VENV)/.engine
	$(BIN)/python -m stackmerge demo --run --anew demo

test: $(VENV)/.all lint
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.tool: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -e .
	touch $@

# What the gates of the demo and the tests of the engine need; without a GPU, kernels run in Triton's interpreter.
$(VENV)/.engine: $(VENV)/.tool
	@echo "installing what the gates need, once: a minute or two"
	$(BIN)/pip install -q --disable-pip-version-check torch==2.13.0
	$(BIN)/pip install -q --disable-pip-version-check -e '.[engine]'
	touch $@

$(VENV)/.all: $(VENV)/.engine
	$(BIN)/pip install -q --disable-pip-version-check -e '.[engine,dev]'
	touch $@

clean:
	rm -rf $(VENV) demo
