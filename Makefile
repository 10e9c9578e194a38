# Everything that one does with this project. `make demo` and `make test` set the machine up themselves.
# The formats whose libraries are there, asked for when they have been installed.
TRAITS = $(addprefix --traits ,$(shell scripts/install-libraries --traits))
SWIFT_TEST := scripts/run-tests

# What `make fuzz` fuzzes, and for how long; what `make soak` gives each target.
TARGET ?=
SECONDS ?= 600
SOAK_SECONDS ?= 120

# Where `make install` puts the command.
PREFIX ?= /usr/local

.PHONY: serve fleet deb demo gallery screenshots install quick test soak fuzz bench bench-peers bench-chart docs docs-pictures libraries test-programs check clean help

help:             ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

libraries:        ## installs the system libraries that are missing, or says which
	@scripts/install-libraries

test-programs:    ## the same, and the servers that tests talk to
	@scripts/install-libraries --tests

demo: libraries   ## sample pictures from a local server, loaded cold, from disk and from memory
	swift build $(TRAITS) -c release --product webimage
	.build/release/webimage demo --output demo-output

serve: libraries  ## the image server with an origin of sample pictures; prints a URL that works
	@scripts/serve

fleet: test-programs  ## three image servers, Redis, HAProxy and an origin; prints the URL of a page that shows who did what
	@scripts/fleet

gallery:          ## a window full of pictures, with all that caches and network do beside them; installs GTK
	@scripts/install-libraries --gtk
	swift build $(TRAITS) -c release --product webimage-gallery
	.build/release/webimage-gallery

screenshots:      ## draws the pictures of that window in the guide to GTK anew
	@scripts/install-libraries --tests
	swift build $(TRAITS) -c release --product webimage-gallery
	swift build $(TRAITS) -c release --product webimage
	scripts/gallery-pictures

quick: libraries  ## build and unit tests; under a minute when warm
	$(SWIFT_TEST) --skip Soak --skip Corpus --skip KillNine

test: test-programs  ## every check that CI runs
	scripts/check
	$(SWIFT_TEST)
	scripts/run-server-tests
	scripts/run-fleet-tests
	scripts/run-tier-tests
	scripts/check-manifests
	scripts/check-builds

install: libraries  ## the command into PREFIX/bin, /usr/local at first; it needs none of Swift's libraries
	swift build $(TRAITS) -c release --static-swift-stdlib --product webimage
	install -D -s .build/release/webimage $(DESTDIR)$(PREFIX)/bin/webimage

deb: libraries    ## a Debian package of the command and the server
	@scripts/build-deb

soak: libraries   ## the long versions: kill -9 rounds, random walks, all damage to all files, two minutes a fuzzer
	WEBIMAGE_SOAK=1 $(SWIFT_TEST) --filter Soak --filter KillNine --filter DiskCacheWalk \
	    --filter WorkerKill --filter IsolationHost
	scripts/fuzz --all $(SOAK_SECONDS)

fuzz: libraries   ## make fuzz TARGET=gif SECONDS=600; without a target: which there are
	@scripts/fuzz $(TARGET) $(if $(TARGET),$(SECONDS))

bench: libraries  ## against the bare C libraries, in one run, as ratios
	swift build $(TRAITS) -c release --product webimage-bench
	.build/release/webimage-bench

bench-peers: libraries  ## against libvips and Pillow; installs them from Python's packages when it can
	swift build $(TRAITS) -c release --product webimage-bench
	scripts/bench-peers

bench-chart:      ## draws the last run of bench-peers into the documentation
	python3 Benchmarks/peers/chart.py .build-peers/peers.json Sources/WebImage/WebImage.docc/Resources/peers.svg

docs: libraries   ## the catalogue as a site, in .build-docs/site
	scripts/build-docs

docs-pictures: libraries  ## draws the pictures of the guide to the transformers anew
	swift build $(TRAITS) -c release --product webimage
	scripts/docs-pictures .build/release/webimage

check:            ## the gates alone: imports, format, names, docs
	scripts/check

clean:
	swift package clean
