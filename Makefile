# The tasks of this project. `make demo` and `make test` install what they need.
# The traits of the formats whose libraries are installed. Evaluated after the installation.
TRAITS = $(addprefix --traits ,$(shell scripts/install-libraries --traits))
SWIFT_TEST := scripts/run-tests
# With the traits in the same order each time: see scripts/test-package.
BUILD_RELEASE = SWIFT_DETERMINISTIC_HASHING=1 swift build $(TRAITS) -c release

# What `make fuzz` fuzzes and for how many seconds, and the seconds of `make soak` for each target.
TARGET ?=
SECONDS ?= 600
SOAK_SECONDS ?= 120

# The folder for `make install`.
PREFIX ?= /usr/local

.PHONY: serve fleet deb demo gallery screenshots command install quick test soak fuzz bench bench-peers bench-chart docs docs-pictures libraries test-programs check clean help

help:             ## prints this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

libraries:        ## installs missing system libraries, or says which are missing
	@scripts/install-libraries

test-programs:    ## the same, and the servers that the tests use
	@scripts/install-libraries --tests

demo: libraries   ## loads sample pictures from a local server, from disk and from memory
	$(BUILD_RELEASE) --product webimage
	.build/release/webimage demo --output demo-output

serve: libraries  ## starts the image server with sample pictures; prints an example URL
	@scripts/serve

fleet:            ## starts three image servers, Redis, HAProxy and an origin; prints the URL of a page that shows their work
	@scripts/install-libraries --fleet
	@scripts/fleet

gallery:          ## opens a window of pictures that shows what caches and network do; installs GTK
	@scripts/install-libraries --gtk
	$(BUILD_RELEASE) --product webimage-gallery
	.build/release/webimage-gallery

screenshots:      ## redraws the pictures of that window in the guide to GTK
	@scripts/install-libraries --tests
	$(BUILD_RELEASE) --product webimage-gallery
	$(BUILD_RELEASE) --product webimage
	scripts/gallery-pictures

quick: libraries  ## builds and runs the unit tests; under a minute after the first build
	$(SWIFT_TEST) --skip Soak --skip Corpus --skip KillNine

test: test-programs  ## runs every check that CI runs
	scripts/check
	$(SWIFT_TEST)
	scripts/run-server-tests
	scripts/check-builds
	scripts/run-tier-tests
	scripts/run-fleet-tests
	scripts/check-manifests

command: libraries  ## builds the command, which does not need Swift's libraries to run
	$(BUILD_RELEASE) --static-swift-stdlib --product webimage
	install -D -s .build/release/webimage .build/command/webimage

install:          ## installs the command that `make command` built in PREFIX/bin (default /usr/local/bin); builds it if it is not there
	@test -x .build/command/webimage || $(MAKE) command
	install -D .build/command/webimage "$(DESTDIR)$(PREFIX)/bin/webimage"

deb: libraries    ## builds a Debian package of the command and the server
	@scripts/build-deb

soak: test-programs  ## long tests: kill -9, random walks, damaged files, Redis, two minutes for each fuzzer
	WEBIMAGE_SOAK=1 $(SWIFT_TEST) --filter Soak --filter KillNine --filter DiskCacheWalk \
	    --filter WorkerKill --filter IsolationHost
	WEBIMAGE_SOAK=1 scripts/run-fleet-tests --filter RedisSoakTests
	WEBIMAGE_FUZZ_SECONDS=$(SOAK_SECONDS) scripts/run-fleet-tests --filter RESPFuzzTests
	WEBIMAGE_FUZZ_SECONDS=$(SOAK_SECONDS) scripts/run-server-tests --filter FuzzTests
	scripts/fuzz --all $(SOAK_SECONDS)

fuzz: libraries   ## fuzzes, such as TARGET=gif SECONDS=600; without a target it lists the targets
	@scripts/fuzz $(TARGET) $(if $(TARGET),$(SECONDS))

bench: libraries  ## compares the speed with that of the C libraries alone, as ratios
	$(BUILD_RELEASE) --product webimage-bench
	.build/release/webimage-bench

bench-peers: libraries  ## compares the speed with libvips and Pillow; installs them with pip if possible
	$(BUILD_RELEASE) --product webimage-bench
	scripts/bench-peers

bench-chart:      ## draws the chart of the last bench-peers for the documentation
	python3 Benchmarks/peers/chart.py .build-peers/peers.json Sources/WebImage/WebImage.docc/Resources/peers.svg

docs: libraries   ## builds the documentation as a site in .build-docs/site
	scripts/build-docs

docs-pictures: libraries  ## redraws the pictures of the guide to the transformers
	$(BUILD_RELEASE) --product webimage
	scripts/docs-pictures .build/release/webimage

check:            ## runs only the checks that need no build: imports, formatting, parity, docs
	scripts/check

clean:
	swift package clean
	for package in Server Fleet Tiers; do swift package --package-path $$package clean; done
	rm -rf .build/command .build-plain .build-docs
