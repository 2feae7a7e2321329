#!/usr/bin/env bash
# Records session.cast and session.svg: a real server, real requests, real output. What a
# reader sees is typed by this script; nothing of the answers is. Needs Go, curl, jq,
# asciinema 2 (Debian: apt-get install asciinema jq) and npm, which fetches svg-term-cli
# into a temporary folder unless SVG_TERM names one. Port 8080 must be free.
#
#   docs/recording/record.sh
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

dim=$'\e[90m' green=$'\e[32m' yellow=$'\e[33m' plain=$'\e[0m'

# follow THREAD [LAST-EVENT-ID] prints a live stream in short: text as it comes, and one
# line for everything else. It keeps the last id in the file "last".
follow() {
	get "threadId=$1" ${2:+-H "Last-Event-ID: $2"} |
		tee >(sed -un 's/^id: //p' >ids) | sed -un 's/^data: //p' | jq --unbuffered -rj -f "$here/show.jq" || true
	tail -n 1 ids >last
}

# get is curl, whose process id is in the file "curl".
get() {
	sh -c 'echo $$ >curl; exec curl -sN "$@"' sh "127.0.0.1:8080/api/agent/stream?$1" "${@:2}"
}

start() {
	curl -s 127.0.0.1:8080/api/agent/run -H 'Content-Type: application/json' -d "$1"
}

answer() {
	curl -s 127.0.0.1:8080/api/agent/respond -H 'Content-Type: application/json' -d "$1"
}

stop() {
	curl -s 127.0.0.1:8080/api/agent/control -H 'Content-Type: application/json' -d "$1"
}

# say prints a remark; type_ a command line, a word at a time; press one at once, below a
# text that is being written.
say() {
	printf '\n%s# %s%s\n' "$dim" "$1" "$plain"
	sleep 0.9
}

type_() {
	printf '%s$%s ' "$green" "$plain"
	local word
	for word in $1; do
		printf '%s ' "$word"
		sleep 0.12
	done
	sleep 0.3
	printf '\n'
}

press() {
	printf '\n%s$%s %s\n' "$green" "$plain" "$1"
}

serve() {
	type_ './spool serve &'
	./spool serve >banner 2>/dev/null &
	server=$!
	until grep -q stream banner; do sleep 0.02; done
	sed -n '1,4p' banner
	sleep 0.8
}

session() {
	cd "$1"
	trap 'kill "$server" 2>/dev/null || true' EXIT
	say 'One binary, one SQLite file. The demo model needs no key and no network.'
	serve

	say 'Start a run, and watch it.'
	type_ "start '{\"threadId\":\"count\",\"runId\":\"r1\",\"prompt\":\"slow 12\"}'"
	start '{"threadId":"count","runId":"r1","prompt":"slow 12"}'
	type_ 'follow count &'
	follow count 2>/dev/null &
	local reader=$!
	sleep 4.6
	kill -9 "$server"
	press 'kill -9 %1'
	wait "$server" 2>/dev/null || true
	wait "$reader" || true
	printf '%sthe connection is gone; the last id was: %s%s\n' "$yellow" "$(cat last)" "$plain"
	sleep 1.5

	say 'Start the server again, and come back with the last id.'
	serve
	type_ "follow count '$(cat last)'"
	follow count "$(cat last)" 2>/dev/null &
	reader=$!
	until curl -s '127.0.0.1:8080/api/agent/history?threadId=count' | grep -q '"state":"COMPLETED","stopReason'; do sleep 0.1; done
	sleep 0.5
	hang_up "$reader"
	sleep 1.5

	say 'A tool that asks first.'
	type_ "start '{\"threadId\":\"mail\",\"runId\":\"r2\",\"prompt\":\"use send_email with {\\\"to\\\":\\\"ann@example.com\\\"}\"}'"
	start '{"threadId":"mail","runId":"r2","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}'
	type_ 'follow mail &'
	follow mail 2>/dev/null &
	reader=$!
	until curl -s '127.0.0.1:8080/api/agent/history?threadId=mail' >mail.json && grep -q '"state":"WAITING_FOR_INPUT"' mail.json; do sleep 0.1; done
	sleep 1.2
	local request
	request=$(jq -c '{threadId: "mail", toolCallId: .activeEvents[1].payload.toolCallId, approved: true}' mail.json)
	type_ "answer '$request'"
	answer "$request"
	until curl -s '127.0.0.1:8080/api/agent/history?threadId=mail' | grep -q '"state":"COMPLETED","stopReason'; do sleep 0.1; done
	sleep 0.5
	hang_up "$reader"
	sleep 1.5

	say 'Stop a run while it writes.'
	start '{"threadId":"long","runId":"r3","prompt":"slow 1000"}' >/dev/null
	type_ 'follow long &'
	follow long 2>/dev/null &
	reader=$!
	sleep 4.2
	press "stop '{\"threadId\":\"long\"}'"
	stop '{"threadId":"long"}'
	sleep 0.4
	hang_up "$reader"
	sleep 3
}

# hang_up ends the curl of a reader, as closing a browser's tab does.
hang_up() {
	kill "$(cat curl)"
	wait "$1" || true
}

if [ "${1:-}" = session ]; then
	session "$2"
	exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go -C "$here/../.." build -o "$work/spool" ./cmd/spool
asciinema rec --quiet --overwrite --cols 100 --rows 26 --title "spool serve" \
	--command "'$here/record.sh' session '$work'" "$work/session.cast"

# The paths and names of the machine that recorded it are left out of the header.
jq -c 'if type == "object" then {version, width, height, title} else . end' "$work/session.cast" >"$here/session.cast"
if [ -z "${SVG_TERM:-}" ]; then
	npm install --silent --no-audit --no-fund --prefix "$work/npm" svg-term-cli@2.1.1
	SVG_TERM=$work/npm/node_modules/.bin/svg-term
fi
"$SVG_TERM" --in "$here/session.cast" --out "$here/session.svg" \
	--window --no-cursor --padding 8 --width 100 --height 26
ls -l "$here/session.cast" "$here/session.svg"
