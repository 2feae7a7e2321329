// Command chaos proves, on real processes and a real PostgreSQL, that Spool loses, repeats and blocks nothing.
//
// A supervisor starts a PostgreSQL and several nodes, which are this program again. It starts runs, answers
// their questions, stops and edits some, and follows every thread over the Go client. Meanwhile it kills and
// pauses nodes, cuts connections, restarts PostgreSQL and rolls all nodes. A node's tools write each execution
// into another database, so the supervisor knows what really happened outside.
//
// Every thread is judged when its runs have ended: by [spooltest.History], by the script of the model, and by
// the executions of the tools. The exit status is 1 after a violation.
//
// With --mcp, the nodes are processes of spool serve whose tools are those of an MCP server. The server and the model
// are in the supervisor, which counts every effect and compares that with the record. The server cuts calls, hangs,
// restarts, changes its tools and forgets tasks.
//
//	export GOWORK=off
//	go run . --duration 5m --nodes 3
//	go run . --duration 60s --break ledger   # must fail: the nodes ignore their effect ledger
//	go run . --mcp --duration 5m
//	go run . --mcp --duration 60s --break retry   # must fail: calls that were cut are sent again
package main
