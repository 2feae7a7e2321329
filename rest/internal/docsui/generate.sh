#!/usr/bin/env bash
# Makes swagger/ from the published npm package of Swagger UI. The package is checked
# against the digest below and its files are compressed without name and time, so that
# whoever runs this gets the same bytes. Needs bash, npm, openssl and GNU gzip.
#
# For another version, change both lines; `npm view swagger-ui-dist dist.integrity` tells
# the second.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=5.35.0
integrity=sha512-U06rpMtW9V3XPGOBeamTUSr0Z09jMX4IJuANpE/EZbAhw0G8CgwrzU4YmXkn/h0wCDNsXdGarTNNHC3sU8yVUQ==

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

npm pack "swagger-ui-dist@$version" --ignore-scripts --silent --pack-destination "$dir" >/dev/null
archive=$dir/swagger-ui-dist-$version.tgz
got=sha512-$(openssl dgst -sha512 -binary "$archive" | base64 | tr -d '\n')
if [ "$got" != "$integrity" ]; then
	echo "swagger-ui-dist $version has the digest $got, not $integrity" >&2
	exit 1
fi
tar -xzf "$archive" -C "$dir"

rm -rf swagger
mkdir swagger
# What the page loads, and the licences of what is bundled in it, which the bundle names.
for name in swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css; do
	gzip -9 -n -c "$dir/package/$name" >"swagger/$name.gz"
done
for name in LICENSE NOTICE favicon-32x32.png; do
	cp "$dir/package/$name" swagger/
	chmod 644 "swagger/$name"
done
