package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientIP returns the address of the client. It reads X-Forwarded-For from the right, because
// each proxy appends the address of its peer. An entry that a trusted proxy appended is true.
// Entries to the left of the first untrusted address are only claims of the client.
func clientIP(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap()
	if len(trusted) == 0 {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !within(trusted, at) {
			return at
		}
		before, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return at // the header is empty here, or not a list of addresses
		}
		at = before.Unmap()
	}
	return at
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}
