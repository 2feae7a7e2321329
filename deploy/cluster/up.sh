#!/usr/bin/env bash
# Starts a cluster on this machine and keeps it until it is told to end: an API node, two workers and an
# nginx in front, over the PostgreSQL of SPOOL_DATABASE. It says "ready" and the address once all of them are.
#
#   SPOOL_TOKEN=... SPOOL_DATABASE=postgres://user:password@host:5432/name deploy/cluster/up.sh [PORT]
#
# PORT is nginx's, 8080 without it. The processes take the three ports after it. SPOOL_BIN is the spool to run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
port=${1:-8080}
spool=${SPOOL_BIN:-spool}
: "${SPOOL_DATABASE:?set it to the URL of a PostgreSQL}"
: "${SPOOL_TOKEN:?set it to a token for requests, which a server behind a proxy asks for}"
nginx=$(PATH=$PATH:/usr/sbin command -v nginx) || { echo "nginx is not installed" >&2; exit 1; }

dir=$(mktemp -d)
pids=()
stop() { # each process by its pid, the proxy first
	trap - EXIT INT TERM
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill -TERM "${pids[i]}" 2>/dev/null || true; done
	wait "${pids[@]}" 2>/dev/null || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 0' INT TERM

"$spool" migrate
start() { # NAME PORT ROLE
	"$spool" serve --listen "127.0.0.1:$2" --role "$3" --data "$dir/data" > "$dir/$1.out" 2> "$dir/$1.log" &
	pids+=($!)
}
start api $((port + 1)) api
start worker-1 $((port + 2)) worker
start worker-2 $((port + 3)) worker
ready() { # PORT
	for ((i = 0; i < 300; i++)); do
		curl -sf "http://127.0.0.1:$1/readyz" > /dev/null && return
		for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || break 2; done
		sleep 0.1
	done
	echo "the process at port $1 is not ready:" >&2
	cat "$dir"/*.log >&2
	exit 1
}
for p in 1 2 3; do ready $((port + p)); done
sed "s/listen 8080/listen 127.0.0.1:$port/; s/api:8080/127.0.0.1:$((port + 1))/" "$here/nginx.conf" > "$dir/nginx.conf"
"$nginx" -e stderr -p "$dir" -c "$dir/nginx.conf" -g 'daemon off; pid nginx.pid;' &
pids+=($!)
ready "$port"
echo "ready: http://127.0.0.1:$port, processes ${pids[*]}"
wait -n "${pids[@]}" || true
echo "a process has ended" >&2
exit 1
