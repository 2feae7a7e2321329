// Package throttle limits how many requests a caller may make in a period of time.
//
//	rest.Throttles(throttle.PerUser("100/min"), throttle.Anonymous("10/min"))
//
// # Rates
//
// A rate is a number of requests and a time: "5/s", "100/min", "1000/hour", "10/day". The unit
// of time is s, sec, second, m, min, minute, h, hour, d or day, also in the plural, with an
// optional number before it: "5/10s" is five requests in any ten seconds. A throttle without a
// valid rate panics.
//
// # What is exact
//
// Counters keep a sliding log: any period as long as the window has at most the limit of
// allowed requests, wherever the period begins. There is no boundary at which a caller gets
// twice the limit. A refused request is not counted, so a client that waits as long as it was
// told is allowed.
//
// Up to a limit of 64, the time of each request is kept. Above that, requests that are less
// than 1/64 of the window apart share an entry, which counts until its last request is one
// window old. So a caller's log has at most about 65 entries. The error is at most 1/64 of the
// window, and always on the strict side.
//
// Checking and counting are one step of a [Counter], not a read and a later write. Any number
// of concurrent requests get exactly what is left.
//
// # Which requests count together
//
// A throttle counts the requests of all its routes together, so a throttle of the API limits a
// caller over all routes. Two throttles count separately, unless they have the same counter
// (see [Count]), the same name and the same rate.
//
// A caller is identified by the ID of the principal, or else by the address from
// [rest.ClientIP]. A client with an IPv6 address has the 2^64 addresses of its network and
// could use a new one for each request, so IPv6 addresses count by their /64 network. All
// callers without an address, for example on a Unix socket, count together.
package throttle
