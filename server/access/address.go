package access

import (
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddress returns the address of the client of a request. It is the address of the connection or, if
// that is a trusted proxy, the last address in X-Forwarded-For that is not a trusted proxy. Earlier addresses
// are claims of the client and ignored. It returns the zero Addr for a connection without an IP address.
func ClientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(at, trusted); i-- {
		hop, ok := parseHop(hops[i])
		if !ok {
			break
		}
		at = hop
	}
	return at
}

func within(at netip.Addr, trusted []netip.Prefix) bool {
	for _, p := range trusted {
		if p.Contains(at) {
			return true
		}
	}
	return false
}

// parseHop reads an element of X-Forwarded-For, which some proxies give a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

// AddressGroup returns the addresses that count as one client: an IPv4 address, or the /64 of an IPv6
// address, because one machine has all addresses of a /64.
func AddressGroup(at netip.Addr) netip.Prefix {
	bits := 64
	if at.Is4() {
		bits = 32
	}
	group, _ := at.Prefix(bits) // the zero Addr has the zero Prefix
	return group
}
