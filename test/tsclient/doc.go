// Package tsclient runs the tests of the TypeScript client that need a real server: it builds the program, and the
// tests start it, kill it in the middle of answers, and compare what the client shows with what the server has saved.
// In Chromium, eight tabs share one connection. Random cuts run for 15 seconds; for a campaign of ten minutes that
// begins with another seed:
//
//	SPOOL_TEST_CUTS=600 SPOOL_TEST_SEED=100 go test ./test/tsclient -run Cuts -timeout 20m
//
// Random threads of the Go view's campaign are shown too, without a server; the long one, which takes about an hour:
//
//	SPOOL_CAMPAIGN=10000 go test ./test/tsclient -run Seeds -timeout 120m
//
// Install the client's tools with "make deps/npm". Without them, the test skips, unless
// SPOOL_TEST_REQUIRE is 1.
package tsclient
