// Package load puts load on a running server over HTTP, and measures what the clients of the server see.
//
// The load is an open model: runs arrive at a constant rate, whatever the server does, and each latency
// counts from the time at which the run should have been started. So a server that stalls shows all the
// time that its clients would have waited, and not only the time of the few requests that were open.
//
// [Run] climbs a ladder of rates. Each rung lasts the same time. The ladder ends at its top, at the first
// rung that the server does not hold, or when the time is over. Each run has a thread of its own and one
// or more watchers, which follow it with package client and check that no frame is missing or repeated.
package load
