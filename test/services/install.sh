#!/usr/bin/env bash
# Sees to the programs that tests need beside Go and Node: PostgreSQL, PgBouncer, Redis, nginx, a browser
# and the shells with a completion (zsh is 18 MB installed, fish 17 MB).
# On Debian, and as root, what is missing is installed; elsewhere it is only named. What
# is still missing then is an error with SPOOL_TEST_REQUIRE=1. Quick when all is there.
set -euo pipefail

find_postgres() {
	type -P postgres && return
	# The newest, when there are several.
	printf '%s\n' /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1
}
find_pgbouncer() { type -P pgbouncer || printf '%s\n' /usr/sbin/pgbouncer; }
find_redis() { type -P redis-server || type -P valkey-server; }
find_browser() { type -P chromium; }
find_zsh() { type -P zsh; }
find_fish() { type -P fish; }
find_nginx() { type -P nginx || printf '%s\n' /usr/sbin/nginx; }

# present FIND: whether what FIND looks for is there. Its line goes to stdout.
present() {
	local binary
	binary=$("$1") && [ -x "$binary" ] || return 1
	printf '%s is installed: %s\n' "$binary" "$({ "$binary" --version 2>/dev/null || "$binary" -v 2>&1; } | head -n 1)"
}

# look sets packages to those of Debian whose programs are missing.
look() {
	packages=()
	present find_postgres || packages+=(postgresql)
	present find_pgbouncer || packages+=(pgbouncer)
	present find_redis || packages+=(redis-server)
	present find_browser || packages+=(chromium)
	present find_nginx || packages+=(nginx)
	present find_zsh || packages+=(zsh)
	present find_fish || packages+=(fish)
}

debian() {
	command -v apt-get >/dev/null && (. /etc/os-release && [ "${ID:-}" = debian ]) 2>/dev/null
}

# A package starts its service when it is installed, unless this file says no. Tests have
# servers of their own.
policy=/usr/sbin/policy-rc.d
made=
trap '[ -z "$made" ] || rm -f "$policy"' EXIT

install() {
	if [ ! -e "$policy" ]; then
		made=yes
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod +x "$policy"
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q && apt-get install -q -y --no-install-recommends "$@"
}

look
[ ${#packages[@]} -ne 0 ] || exit 0

command="apt-get update && apt-get install -y --no-install-recommends ${packages[*]}"
if debian && [ "$(id -u)" -eq 0 ]; then
	echo "$command"
	install "${packages[@]}" || echo "apt-get could not install ${packages[*]}" >&2
	look
	[ ${#packages[@]} -ne 0 ] || exit 0
fi
if [ "${SPOOL_TEST_REQUIRE:-}" = 1 ]; then
	echo "missing, and nothing may be skipped: ${packages[*]} (as root, on Debian: $command)" >&2
	exit 1
fi
echo "skipped: tests that need ${packages[*]} (not there; as root, on Debian: $command)"
