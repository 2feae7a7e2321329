// Package egress keeps outgoing requests away from addresses that they must not reach: services on the
// same machine, in its private network, or at the cloud's metadata address. It checks the address that
// is dialled, not the name in the URL. So a name that resolves to another address a moment later does
// not get around the check.
package egress

import (
	"net/netip"
	"strings"

	"github.com/spoolhq/spool"
)

// Policy says which addresses may be reached. The zero value allows public ones.
type Policy struct {
	// Allow lists exceptions: host names, IP addresses and CIDR prefixes. For requests to a listed
	// name, the same addresses are allowed as with AllowPrivate; a dot before the name includes its
	// subdomains. A listed address or prefix is allowed exactly.
	//
	// Defaults to none.
	Allow []string

	// AllowPrivate allows loopback, private and carrier-grade NAT addresses. Link-local, multicast,
	// unspecified, reserved and metadata addresses stay refused unless Allow lists them.
	//
	// Defaults to false.
	AllowPrivate bool
}

// rules is the parsed form of a policy.
type rules struct {
	names        map[string]bool
	suffixes     []string
	prefixes     []netip.Prefix
	allowPrivate bool
}

func (p Policy) rules() (*rules, error) {
	r := &rules{names: make(map[string]bool), allowPrivate: p.AllowPrivate}
	for _, entry := range p.Allow {
		if err := r.add(entry); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *rules) add(entry string) error {
	text := strings.Trim(strings.TrimSpace(entry), "[]")
	if prefix, err := netip.ParsePrefix(text); err == nil {
		r.prefixes = append(r.prefixes, prefix.Masked())
		return nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		r.prefixes = append(r.prefixes, netip.PrefixFrom(addr, addr.BitLen()))
		return nil
	}
	name := normal(text)
	if name == "" || strings.ContainsAny(name, "/:@*?# \t") {
		return spool.Errorf(spool.Invalid, "Allow: %q is no host name, IP address or CIDR prefix", entry)
	}
	if strings.HasPrefix(name, ".") {
		r.suffixes = append(r.suffixes, name)
		name = name[1:]
	}
	r.names[name] = true
	return nil
}

// check returns an error if the host may not be reached at the address.
func (r *rules) check(host string, addr netip.Addr) error {
	addr = addr.WithZone("").Unmap()
	kind := classify(addr)
	if kind == public || r.listed(addr) {
		return nil
	}
	if kind.private() && (r.allowPrivate || r.named(normal(host))) {
		return nil
	}
	how := host
	if !kind.private() {
		how = addr.String()
	}
	return &spool.Error{
		Code:    spool.Forbidden,
		Message: "host " + host + " is at a " + string(kind) + " address; to allow it, add " + how + " to the egress policy",
		Err:     &addrError{addr: addr},
	}
}

func (r *rules) listed(addr netip.Addr) bool {
	for _, p := range r.prefixes {
		if p.Contains(addr) {
			return true
		}
		if inner, ok := embedded(addr); ok && p.Contains(inner) {
			return true
		}
	}
	return false
}

func (r *rules) named(host string) bool {
	if r.names[host] {
		return true
	}
	for _, s := range r.suffixes {
		if strings.HasSuffix(host, s) {
			return true
		}
	}
	return false
}

func normal(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// addrError keeps the address for the log. Clients must not learn to what a host resolves.
type addrError struct{ addr netip.Addr }

func (e *addrError) Error() string { return "refused to dial " + e.addr.String() }
