package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientIP returns the address of the client. X-Forwarded-For is read from the right: each
// proxy appends its peer, so what a trusted one appended is true, and what stands left of
// the first untrusted address is the client's own claim.
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
			return at // the header ends here, or is no list of addresses
		}
		at = before.Unmap()
	}
	return at
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) })
}
