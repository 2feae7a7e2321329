// Package agui checks with the official client of AG-UI, @ag-ui/client in the version of
// clients/typescript/package.json, that what the server says is AG-UI: its verifier takes each
// stream from every place at which one can be cut, and its HttpAgent runs agents.
//
// Install it with "make deps/npm". Without it, tests skip, unless SPOOL_TEST_REQUIRE is 1.
//
// With SPOOL_TEST_PAGES=1 the example pages are built and driven in Chromium too, and a page stops a run through
// CopilotKit's runtime. That needs "npm install" in examples/copilotkit, examples/assistant-ui and
// examples/copilotkit-runtime.
package agui
