// Package aisdk checks with the useChat of the AI SDK, in the versions 6 and 7 of package.json, that it works against
// the server.
//
// Install it with "make deps/npm". Without it, tests skip, unless SPOOL_TEST_REQUIRE is 1.
package aisdk
