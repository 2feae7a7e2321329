#!/usr/bin/env bash
# Runs a command, unless it has passed with the same files:
#
#     test/kept.sh NAME PATH... -- COMMAND...
#
# PATH are all the files that the command reads, from the top of the repository. It counts as passed if git knows them
# unchanged, and the versions of Go, Node and what they import are those of a run that passed. The user's cache folder
# has the names of what passed. On a machine without them, or with a changed file, the command runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

name=$1
shift
paths=(test/kept.sh go.mod go.work)
while [ "$1" != -- ]; do
	paths+=("$1")
	shift
done
shift

key=
if [ -z "$(git status --porcelain -- "${paths[@]}" 2>&1)" ]; then
	key=$({
		for path in "${paths[@]}"; do git rev-parse --verify "HEAD:$path" || exit; done
		printf '%s\n' "$*" "$(go version)" "$(node --version 2>&1)" "${SPOOL_TEST_REQUIRE:-}" "${TESTFLAGS:-}"
	} | git hash-object --stdin)
fi
passed=${XDG_CACHE_HOME:-$HOME/.cache}/spool-test/$name
if [ -n "$key" ] && grep -qsx "$key" "$passed"; then
	echo "$name: its files are those of a run that passed ($key in $passed)"
	exit
fi
"$@"
if [ -n "$key" ]; then
	mkdir -p "${passed%/*}"
	echo "$key" >>"$passed"
fi
