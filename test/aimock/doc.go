// Package aimock starts a mock of the providers' servers for tests: @copilotkit/aimock,
// a program of another project, pinned in clients/typescript/package.json. Tests against it find what our
// own fixtures cannot, as those share our misreadings.
//
// Install it with "make deps/npm". Without it, tests skip, unless SPOOL_TEST_REQUIRE is 1.
package aimock
