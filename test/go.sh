#!/usr/bin/env bash
# Runs the Go tests of every module:
#
#     test/go.sh quick DIR...     each behaviour once: what a change must pass
#     test/go.sh rest DIR...      the part of it for package rest
#     test/go.sh long DIR...      every combination, for hours: nightly, before a release, after a change of a backend
#
# DIR are the modules beside the root. TESTFLAGS has more flags. docs/operations/proof.md says what each tier proves.
#
# Quick. Go's test cache knows the tests whose code, files, flags and variables are those of a run that passed. So no
# test is shuffled, the servers have the same addresses in each run, and what a seed chooses is a command of its own.
#
#   - Packages with goroutines run with the race detector. Over SQLite and PostgreSQL these are the suites of the
#     port. The engine's cases run with it over memory, and without it over the others. Nor do the suites behind a
#     pooler have it: a pooler is another process. Of package server, the tests of streams and of what goes on at the
#     same time run with it too.
#   - Everything else runs in the form that a release has.
#   - SPOOL_CRASH_SEED chooses an eighth of the crash points, and random campaigns go on for 15 s each.
#   - The tests of rest run unless its files, Go and huma are those of a run that passed: see test/kept.sh.
#
# Long. SPOOL_TEST_LONG=1: every package with the detector, in random order, and each case over each backend; without it,
# all crash points in all ways and 1,000 seeds, as only then a seed gives the same trace each time.
#
# SQLite is translated from C, and is ten times slower under the race detector. So it is built without the detector
# (-race=false for its packages), which still watches all that is ours. So is encoding/json in the quick tier: it reads
# and writes what is ours with the calls of package reflect, which the detector watches, so nothing may be inlined (-l).
# Not seen is a json.RawMessage that changes while it is encoded or decoded.
#
# A process with the detector does not wait for a second before it ends (GORACE), for races that come after its tests.
#
# Three packages run beside each other, and four cases of each, as many wait most of their time. go vet stays out of the
# way (-vet=off): "make lint" does all that it does.
set -uo pipefail

tier=${1:?quick or long}
shift
export GORACE=${GORACE:-atexit_sleep_ms=50}
read -ra more <<<"${TESTFLAGS:-}"

# Campaigns choose what they do by a seed.
campaigns='^(TestEngine|TestEngineFaulty)$/^(Random|Pauses|.*Crash.*)$|^Test(Providers|Replay)$'
our=github.com/spoolhq/spool
# Packages with goroutines that share something.
concurrent="^$our/(engine|backend|client|relay|webhook|server/.*|internal/(egress|inprocess|sse)|tool/mcp)(/|$)"
# Tests of package server in which something goes on beside what a request does. The others set a server up, mostly.
streams='Stream|AGUI|Takeover|Queue|Wait|Race|AtOnce|AtTheSameTime|Drain|SlowBody'
rest="^$our/test/counterpart$"
restModule='^(rest(/|$)|test/(crud|query)$)'

status=0
# What the detector watches: see above.
watched=('-gcflags=encoding/json=-race=false -l')

# run FLAG... runs go test in the module in, or in the root, which alone has go.work.
run() {
	local began=$SECONDS
	local -x GOWORK=${in:+off}
	printf 'GOWORK=%s go -C %s test %s\n' "$GOWORK" "${in:-.}" "$*" | cut -c1-200
	go -C "${in:-.}" test -vet=off -p=3 -parallel=4 ${more[@]+"${more[@]}"} "$@" || status=1
	printf 'took %d s\n' $((SECONDS - began))
}
raced() { CGO_ENABLED=1 run -race '-gcflags=modernc.org/...=-race=false' ${watched[@]+"${watched[@]}"} "$@"; }
# packages lists those that take longest first, so that the others fill what they leave.
packages() { printf '%s\n' "$our"/{cmd/spool/internal/command,test/docs,test/tsclient,backend/postgres} $(go list ./...) | awk '!seen[$0]++' | grep -E "$@"; }

quick() {
	local dir once seed=${SPOOL_CRASH_SEED:-$((RANDOM % 9000 + 1000))}
	run -skip "$campaigns" -timeout=10m $(packages -v "$concurrent|$rest")
	raced -skip "$campaigns|^TestEngine|^Test[A-Za-z]*BehindPooler$" -timeout=10m $(packages "$concurrent" | grep -vE "^$our/engine$")
	raced -skip "$campaigns" -timeout=10m ./engine
	raced -run "$streams" -timeout=10m ./server
	run -skip "$campaigns" -timeout=10m -run '^TestEngine|BehindPooler$' ./backend/sqlite ./backend/postgres
	for dir in "$@"; do
		[[ $dir =~ $restModule ]] && continue
		# The cache looks at no file outside of a module, and so does not see what programs read for such a test.
		once=()
		grep -rqs --include='*.go' '"os/exec"' "$dir" && once=(-count=1)
		if [ "$dir" = backend/nats ]; then in=$dir raced ./...; else in=$dir run ${once[@]+"${once[@]}"} ./...; fi
	done

	test/kept.sh rest rest test/crud test/query test/counterpart test/openapi test/go.sh internal/testing/pgtest internal/testing/testserver \
		-- test/go.sh rest "$@" || status=1

	echo "SPOOL_CRASH_SEED=$seed: an eighth of the crash points"
	export SPOOL_CRASH_SEED=$seed
	raced -count=1 -run '^TestEngine$/Crash' ./engine
	run -count=1 -run '^TestEngine$/(Crash|^Random$|^Pauses$)' ./backend/sqlite
	run -count=1 -p=1 -run '^TestReplay$|^TestProviders$|^TestEngine$/^(Random|Pauses)$' ./engine ./internal/testing/enginetest
}

rest() {
	local dir
	raced -timeout=10m $(packages "$rest")
	in=rest raced -count=1 -timeout=10m ./...      # the cache does not see what test/openapi reads
	in=rest run -run '^TestOracle$' ./internal/body # a tenth of its rounds run with the detector
	for dir in "$@"; do
		[[ $dir =~ $restModule && $dir != rest ]] && in=$dir run ./...
	done
}

long() {
	local dir
	watched=()
	export SPOOL_TEST_LONG=1
	raced -shuffle=on -timeout=4h ./...
	for dir in "$@"; do in=$dir raced -shuffle=on -timeout=1h ./...; done
	export SPOOL_CAMPAIGN=1000
	run -shuffle=on -timeout=4h ./engine ./engine/internal/... ./backend/...
	in=rest run -shuffle=on -timeout=4h ./internal/body
	run -p=1 -timeout=2h -run '^TestReplay$|^TestProviders$' ./internal/testing/enginetest
}

"$tier" "$@"
exit $status
