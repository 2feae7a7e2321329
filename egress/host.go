package egress

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// Hosts checks hosts by their names, without looking them up. It refuses early what a dialer would
// refuse later, and also helps if another process dials. It is safe for concurrent use.
type Hosts struct{ rules *rules }

// NewHosts returns a Hosts. Its errors are those of [New].
func NewHosts(policy Policy) (*Hosts, error) {
	rules, err := policy.rules()
	if err != nil {
		return nil, err
	}
	return &Hosts{rules}, nil
}

// Check returns a forbidden error for a host, as in a URL and without a port, in these cases: it is an
// address that the policy refuses; by convention the name leads to this machine, a private network or a
// cloud's metadata; it is a number that some resolvers read as an address; or the name is not in ASCII,
// because many clients read "①②⑦.⓪.⓪.①" as an address. A name that passes the check may still resolve
// to any address.
func (h *Hosts) Check(host string) error {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return h.rules.check(host, addr)
	}
	name := normal(host)
	kind, private := nameClass(name)
	if !private || h.rules.named(name) || h.rules.allowPrivate && kind.private() {
		return nil
	}
	return &spool.Error{
		Code:    spool.Forbidden,
		Message: "host " + host + " is a " + string(kind) + " name; to allow it, add " + host + " to the egress policy",
	}
}

// Listed reports whether Allow lists a host, as in a URL and without a port, by its name or its address.
func (h *Hosts) Listed(host string) bool {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return h.rules.listed(addr.WithZone("").Unmap())
	}
	return h.rules.named(normal(host))
}

// nameClass returns the class of address to which a name leads by convention, if there is such a
// convention.
func nameClass(name string) (class, bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "metadata", name == "metadata.google.internal", name == "instance-data",
		strings.HasPrefix(name, "instance-data."):
		return metadata, true
	case last == "localhost", name == "localhost.localdomain", name == "ip6-localhost", name == "ip6-loopback":
		return loopback, true
	case last == "internal", last == "local", last == "lan", last == "intranet", last == "corp", last == "home",
		last == "svc", last == "consul", strings.HasSuffix(name, ".home.arpa"), // "db.default.svc" is in a cluster
		name == last && last != "" && !isNumber(last) &&
			strings.IndexFunc(last, func(r rune) bool { return r >= utf8.RuneSelf }) < 0:
		return privateNet, true
	case last == "", isNumber(last), strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }):
		return reserved, true
	default:
		return public, false
	}
}

// isNumber reports whether the last label of a name is a number. Some resolvers read "127.1", "0x7f.1"
// and "2130706433" as addresses, and no top-level domain is a number.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
