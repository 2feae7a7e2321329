#!/usr/bin/env bash
# Runs a command with a PostgreSQL and a Redis that are started for it:
#
#     test/services/run.sh -- go test ./rest/...
#
# See README.md beside this file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
GOWORK= go -C "$here" build -buildvcs=false -o bin/services .
# In place of this shell, so that signals arrive and the exit status is the command's.
exec "$here/bin/services" "$@"
