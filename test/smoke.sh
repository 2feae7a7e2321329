#!/usr/bin/env bash
# Runs the first command of README.md and does what somebody who tries it does next:
# starts the server from source, asks for its health, and stops it with SIGTERM. Fails
# unless it answers 200 within START_SECONDS (the first build included) and then exits
# with 0. Needs bash and Go only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Packages without the folder's name in them, as the Makefile builds them.
export GOFLAGS="-trimpath ${GOFLAGS:-}" CGO_ENABLED=0

start_seconds=${START_SECONDS:-300}
stop_seconds=${STOP_SECONDS:-20}
dir=$(mktemp -d)
log=$dir/log
run=

# go run does not pass SIGTERM on, so the server itself is told.
children() {
	if command -v pgrep >/dev/null; then
		pgrep -P "$1" || true
	else
		cat "/proc/$1/task/$1/children" 2>/dev/null || true
	fi
}

cleanup() {
	status=$?
	if [ -n "$run" ] && kill -0 "$run" 2>/dev/null; then
		for pid in $(children "$run") "$run"; do kill -KILL "$pid" 2>/dev/null || true; done
	fi
	if [ "$status" -ne 0 ] && [ -s "$log" ]; then
		echo "smoke: what the server said:" >&2
		cat "$log" >&2
	fi
	rm -rf "$dir"
	exit "$status"
}
trap cleanup EXIT

fail() {
	echo "smoke: $1" >&2
	exit 1
}

# health prints the status of GET /healthz, and nothing when nobody answers.
health() {
	local host=${1%:*} port=${1##*:} status
	{
		exec 3<>"/dev/tcp/$host/$port" || return 0
		printf 'GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$1" >&3
		IFS=' ' read -r -t 5 _ status _ <&3 || return 0
		exec 3>&-
	} 2>/dev/null
	echo "$status"
}

# The first line of the first block, without its comment.
command=$(sed -n '/^```sh$/{n;s/ *#.*//p;q;}' README.md)
[ -n "$command" ] || fail "README.md has no command to begin with"
echo "smoke: $command --listen 127.0.0.1:0"
$command --listen 127.0.0.1:0 --data "$dir/data" >"$log" 2>&1 </dev/null &
run=$!

address=
deadline=$((SECONDS + start_seconds))
until [ "$(health "${address:-127.0.0.1:1}")" = 200 ]; do
	kill -0 "$run" 2>/dev/null || fail "the server ended by itself"
	[ "$SECONDS" -lt "$deadline" ] || fail "no healthy answer from ${address:-anywhere} within $start_seconds s"
	sleep 0.1
	# The server prints where it listens; a port of 0 is the one it was asked for.
	address=$(grep -oE '127\.0\.0\.1:[1-9][0-9]*' "$log" | head -n 1 || true)
done
echo "smoke: GET http://$address/healthz: 200"

server=$(children "$run")
[ -n "$server" ] || fail "cannot find the server's process"
kill -TERM $server
deadline=$((SECONDS + stop_seconds))
while kill -0 "$run" 2>/dev/null; do
	[ "$SECONDS" -lt "$deadline" ] || fail "still running $stop_seconds s after SIGTERM"
	sleep 0.1
done
status=0
wait "$run" || status=$?
[ "$status" -eq 0 ] || fail "SIGTERM: exit status $status"
echo "smoke: SIGTERM: exit status 0"
