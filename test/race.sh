#!/usr/bin/env bash
# Runs the tests of every module under the race detector:
#
#     test/race.sh DIR...
#
# DIR are the modules beside the root. Their tests run beside those of the root, as many of
# both wait for a disk or a clock; what they print comes at the end. TESTFLAGS has more flags.
#
# SQLite is translated from C, and is ten times slower under the race detector. So it is built
# without the detector (-race=false for its packages), which still watches all that is ours.
#
# So is encoding/json, which takes a fifth of the time with it. It reads and writes what is ours with the
# calls of package reflect, which the detector watches: so nothing may be inlined (-l). Not seen is a
# json.RawMessage that changes while it is encoded or decoded. SPOOL_TEST_LONG=1 has that watched too.
#
# Random campaigns run a second time without the detector, with 1,000 seeds, about two minutes of a
# core: only then a seed gives the same trace each time. So do the scripts that crash at each call
# of the backend, another minute: with the detector, each call goes wrong in one way, and here in
# all eight. So do the other tests with many thousand rounds of one goroutine: the simulations of
# bench/scale, and the decoder beside huma's.
#
# All of them collect their garbage less often (GOGC=400), which takes a tenth of their time, until they
# have 3 GiB: package server had 13 GiB without a limit, and takes as long with it. A process
# with the detector does not wait for a second before it ends (GORACE), for races that come after its tests.
#
# The engine's suite runs three times over PostgreSQL: two of them are a command of their own, so that
# all of it stays within the limit of a package. So are the scripts that crash, for SQLite.
#
# go vet stays out of the way (-vet=off): "make lint" does all that it does.
set -uo pipefail

again='^TestEngine(BehindPooler|Faulty)$'
crash='^TestEngine$/Crash'
flags=(-race -shuffle=on -vet=off '-gcflags=modernc.org/...=-race=false')
[ "${SPOOL_TEST_LONG:-}" = 1 ] || flags+=('-gcflags=encoding/json=-race=false -l')
plain=(-shuffle=on -vet=off)
read -ra more <<<"${TESTFLAGS:-}"
flags+=(${more[@]+"${more[@]}"})

export CGO_ENABLED=1 # the race detector is C
export GOGC=${GOGC:-400}
export GOMEMLIMIT=${GOMEMLIMIT:-3GiB}
export GORACE=${GORACE:-atexit_sleep_ms=50}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'kill 0' INT TERM

modules() {
	local failed=0 dir
	echo "SPOOL_CAMPAIGN=1000 go test -p 1 ./engine ./internal/testing/enginetest -run 'TestReplay|TestEngine/^Random\$'"
	SPOOL_CAMPAIGN=1000 CGO_ENABLED=0 go test -p 1 "${plain[@]}" -timeout=10m ./engine ./internal/testing/enginetest -run 'TestReplay|TestEngine/^Random$' || failed=1
	echo "go -C bench test ./scale"
	CGO_ENABLED=0 go -C bench test "${plain[@]}" ./scale || failed=1
	echo "go test -race ./backend/postgres -run '$again'"
	go test "${flags[@]}" -timeout=15m ./backend/postgres -run "$again" || failed=1
	echo "go test -race ./engine ./backend/sqlite -run '$crash'"
	go test "${flags[@]}" -timeout=15m ./engine ./backend/sqlite -run "$crash" || failed=1
	for dir in "$@"; do
		echo "go -C $dir test -race ./..."
		go -C "$dir" test "${flags[@]}" -timeout=10m ./... || failed=1
	done
	echo "go test ./engine ./rest/internal/body -run 'TestEngine/Crash|TestOracle'"
	CGO_ENABLED=0 go test "${plain[@]}" -timeout=10m ./engine ./rest/internal/body -run 'TestEngine/Crash|TestOracle' || failed=1
	return $failed
}

modules "$@" >"$log" 2>&1 &
beside=$!

status=0
echo "go test -race ./... -skip '$again|$crash'"
go test "${flags[@]}" -timeout=15m -skip "$again|$crash" ./backend/postgres ./backend/sqlite ./engine ./... || status=1 # the longest first
wait "$beside" || status=1
cat "$log"
exit $status
