// Package throttle has throttles: limits of how many requests a caller may make in a time.
//
//	rest.Throttles(throttle.PerUser("100/min"), throttle.Anonymous("10/min"))
//
// # Rates
//
// A rate is a number of requests and a time: "5/s", "100/min", "1000/hour", "10/day". The
// time is s, sec, second, m, min, minute, h, hour, d or day, also in the plural, with an
// optional number before it: "5/10s" is five requests in any ten seconds. A throttle needs
// a rate; building one without, or with one that cannot be read, panics.
//
// # What is exact
//
// Counters keep a sliding log: in any stretch of time as long as the window, at most the
// limit is allowed, wherever the stretch begins. There is no boundary at which a caller gets
// twice the limit, and no request is refused because of what a neighbour did. A refused
// request is not counted, so a client that waits for as long as it was told is let in.
//
// Up to a limit of 64 the time of each request is kept. Above that, requests that are less
// than a 64th of the window apart are kept together and count until the last of them is a
// window old. So a caller's log never has more than some 65 entries, and what that costs in
// precision is at most a 64th of the window, always to the side of the stricter.
//
// Looking and counting are one step of a [Counter], never a read and a later write: any
// number of requests at the same moment get exactly what is left.
//
// # Who counts together
//
// One throttle counts all requests of its routes together, so a throttle of the API bounds
// its callers over all routes. Two throttles count apart, unless they were given the same
// counter (see [Count]), the same name and the same rate.
//
// Callers are known by the ID of their principal, or else by the address that
// [rest.ClientIP] finds. A client with an IPv6 address has the 2^64 addresses of its network
// and could use a new one for each request, so IPv6 addresses count by their /64. All callers
// without an address, on a Unix socket for example, count together.
package throttle
