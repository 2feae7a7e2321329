package egress

import (
	"net/netip"
	"slices"
)

// class is the purpose of an address: a word that fits into "is at a ... address".
type class string

const (
	public      class = "public"
	loopback    class = "loopback"
	privateNet  class = "private"
	sharedNAT   class = "carrier-grade NAT"
	linkLocal   class = "link-local"
	multicast   class = "multicast"
	unspecified class = "unspecified"
	reserved    class = "reserved"
	metadata    class = "cloud metadata"
)

// private reports whether AllowPrivate covers the class.
func (c class) private() bool { return c == loopback || c == privateNet || c == sharedNAT }

// metadataAddrs are the addresses at which clouds serve credentials without authentication. Some of
// them are in otherwise harmless ranges.
var metadataAddrs = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), // AWS, Azure, Google and most others
	netip.MustParseAddr("169.254.170.2"),   // AWS tasks
	netip.MustParseAddr("169.254.170.23"),  // AWS pods
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd00:ec2::23"),
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("168.63.129.16"),   // Azure's host
	netip.MustParseAddr("192.0.0.192"),     // Oracle
}

// ranges is searched in order. The first range that contains an address classifies it.
var ranges = []struct {
	prefix netip.Prefix
	class  class
}{
	{netip.MustParsePrefix("0.0.0.0/8"), unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), privateNet},
	{netip.MustParsePrefix("100.64.0.0/10"), sharedNAT},
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), linkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), privateNet},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), reserved},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("192.168.0.0/16"), privateNet},
	{netip.MustParsePrefix("198.18.0.0/15"), reserved},
	{netip.MustParsePrefix("198.51.100.0/24"), reserved},
	{netip.MustParsePrefix("203.0.113.0/24"), reserved},
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved},
	{netip.MustParsePrefix("::/128"), unspecified},
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("64:ff9b:1::/48"), privateNet}, // a network's own NAT64
	{netip.MustParsePrefix("100::/64"), reserved},
	{netip.MustParsePrefix("2001::/32"), reserved}, // a Teredo address hides an IPv4 address
	{netip.MustParsePrefix("2001:db8::/32"), reserved},
	{netip.MustParsePrefix("3fff::/20"), reserved},
	{netip.MustParsePrefix("5f00::/16"), reserved},
	{netip.MustParsePrefix("fc00::/7"), privateNet},
	{netip.MustParsePrefix("fe80::/10"), linkLocal},
	{netip.MustParsePrefix("fec0::/10"), privateNet},
	{netip.MustParsePrefix("ff00::/8"), multicast},
}

// classify returns the class of an address. An address that stands for an IPv4 address has the class of
// that address.
func classify(addr netip.Addr) class {
	addr = addr.WithZone("").Unmap()
	if !addr.IsValid() {
		return unspecified
	}
	if slices.Contains(metadataAddrs, addr) {
		return metadata
	}
	for _, r := range ranges {
		if r.prefix.Contains(addr) {
			return r.class
		}
	}
	if inner, ok := embedded(addr); ok {
		return classify(inner)
	}
	return public
}

var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
)

// embedded returns the IPv4 address to which an IPv6 address leads.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() {
		return netip.Addr{}, false
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr), compatible.Contains(addr), translated.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	default:
		return netip.Addr{}, false
	}
}
