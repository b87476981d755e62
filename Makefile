GO ?= go

# Garbage is collected less often: compilation and tests take a fifth less processor time, and more memory.
export GOGC ?= 400

# Programs know no paths of this machine, and what is compiled serves the wheel and a release too.
export GOFLAGS += -trimpath

# CLP, for --solver clp, is linked where its C library and a C compiler are there; make clp installs it.
TAGS = $(shell pkg-config --exists clp 2>/dev/null && [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo -tags=clp)
SLOW = $(if $(TAGS),$(TAGS)$(comma)slow,-tags=slow)
comma := ,
COMMIT = $(shell git rev-parse --short=12 HEAD 2>/dev/null | sed 's/^/-X optratio\/cli.commit=/')

.PHONY: run build research install dist dist-twice test test-slow test-slow-program test-slow-research test-slow-proofs bench mutate lint vulncheck clp wheel python-test cluster-test browser-test site schemas proofs

# The main job: the optimality ratio of permute-and-flip and the exponential mechanism.
run: build
	bin/optratio ratio -n 4 -k 4 --eps 0.5

# Without the symbol table and debugging data, which only debuggers read, the program is a third smaller; panics and profiles name functions and lines all the same.
build:
	$(GO) build $(TAGS) -ldflags "-s -w $(COMMIT)" -o bin/optratio ./cmd/optratio

# Research, a module of its own: the papers' claims, figures, scenarios and bandit.
research:
	$(GO) build -C research $(TAGS) -ldflags "-s -w" -o ../bin/research .

# The program, its manual pages and its shell completions below PREFIX; DESTDIR is put before it, for packages.
PREFIX ?= /usr/local
install: build
	mkdir -p "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	install -m 755 bin/optratio "$(DESTDIR)$(PREFIX)/bin/optratio"
	$(GO) test $(TEST) $(TAGS) ./cli -run '^TestManual$$' -count=1 -args -manual "$(abspath $(DESTDIR)$(PREFIX)/share/man/man1)" >/dev/null
	bin/optratio completion bash >"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/optratio"
	bin/optratio completion zsh >"$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_optratio"
	bin/optratio completion fish >"$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/optratio.fish"

# What a release has, in dist/: static programs for three systems, packages, container images, wheels, the site, checksums.
dist:
	GO=$(GO) scripts/dist

# Two of them, of the last commit, built from nothing in two folders: they have to be the same.
dist-twice:
	GO=$(GO) scripts/dist-twice

# The tests: under two minutes on two cores with empty caches. make lint runs vet; without debugging data the tests are linked faster. Some tests
# mostly wait, for programs and limits: more of them, and more packages, than cores. The go commands that tests run find the same flags, and compile
# nothing again.
TEST = -vet=off -ldflags=-w -parallel=8
test: export GOFLAGS += $(TEST) $(TAGS)
test:
	$(GO) test -p 4 ./...

# The slow tests, which recompute documents, figures and transcripts or take large instances: those that ask package slowtest, and all of research.
# RUN chooses: make test-slow RUN=TestTables
RUN ?= ^($(shell grep -rl --include=*_test.go slowtest . | xargs awk -F'[^A-Za-z0-9_]+' '/^func /{name=$$2} /slowtest[.](Only|Enabled)/{print name}' | sort -u | paste -sd '|'))$$
slowpackages = $(shell grep -rl --include=*_test.go slowtest . | grep -v '^./research/\|^./proofs/' | xargs -n 1 dirname | sort -u)
test-slow: export GOFLAGS += $(TEST) $(SLOW)
test-slow: test-slow-program test-slow-research test-slow-proofs
test-slow-program:
	$(GO) test -run '$(RUN)' -timeout 60m $(slowpackages)
test-slow-research:
	$(GO) test -C research $(if $(filter file,$(origin RUN)),,-run '$(RUN)') -timeout 60m ./...
# The proved checker's test takes proofs/check as it is, and waits for it where make builds it beside.
test-slow-proofs: $(filter proofs,$(MAKECMDGOALS))
	$(GO) test -run '$(RUN)' -timeout 60m ./proofs

# Benchmarks, and the tests on large instances. BENCH narrows the choice: make bench BENCH=77
BENCH ?= .
bench:
	$(GO) test $(SLOW) -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 60m ./...

# The mutation tester, docs/development/testing.md. One package and a sample of its mutants: make mutate PKG=number SAMPLE=100 SEED=1
PKG ?= all
SAMPLE ?= 100
SEED ?= 1
mutate:
	$(GO) test ./internal/mutate -v -count=1 -run TestMutants -timeout 0 -packages $(PKG) -sample $(SAMPLE) -seed $(SEED)

# The packages that have files for builds without the tags.
UNTAGGED = ./internal/clp ./internal/slowtest ./verify/certificate
lint:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt: $$files"; exit 1; fi
	$(GO) vet $(SLOW) ./...
	$(GO) vet $(UNTAGGED)
	GOOS=js GOARCH=wasm $(GO) vet ./site
	$(GO) tool staticcheck $(SLOW) ./...
	$(GO) tool staticcheck $(UNTAGGED)
	$(GO) vet -C research $(SLOW) ./...
	staticcheck=$$($(GO) tool -n staticcheck) && cd research && $$staticcheck $(SLOW) ./...

# Known vulnerabilities in what the program calls. It needs the database at vuln.go.dev, and so is no part of lint.
vulncheck:
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# The Python package with the program inside, in dist/.
wheel:
	GO=$(GO) python3 python/wheel_backend.py dist

python-test: build
	GO=$(GO) scripts/python-test

# The shards of a sweep under a real Slurm of this one machine: as root, with slurm-wlm and munge installed.
cluster-test: build
	scripts/cluster-test

# The pages as static files with the engine in WebAssembly, and the documents, in dist/site: any file server shows them. Go is all that it takes; coqdoc,
# if it is there, typesets the proofs, with links after make proofs. SOURCE=https://… is
# where their foot leads for the source.
site:
	GO=$(GO) scripts/site dist/site

# The JSON Schemas of the documents that --json prints, in dist/schemas.
schemas:
	$(GO) test ./cli -run '^TestSchemas$$' -count=1 -args -schemas "$(CURDIR)/dist/schemas"

# The pages in headless Chromium; pictures of them in dist/browser.
browser-test:
	GO=$(GO) scripts/browser-test

# The solver CLP with what linking it takes, where a package manager can install it without asking.
clp:
	@scripts/install-clp

# The machine-checked proofs, compiled from nothing: proofs/README.md.
proofs:
	proofs/build
