package egress

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// Hosts checks hosts by what they say of themselves, before anybody looks them up. It
// refuses early what a dialer would refuse, and serves where somebody else will dial. It is
// safe for concurrent use.
type Hosts struct{ rules *rules }

// NewHosts returns a check, or the error of [New].
func NewHosts(policy Policy) (*Hosts, error) {
	rules, err := policy.rules()
	if err != nil {
		return nil, err
	}
	return &Hosts{rules}, nil
}

// Check returns a forbidden error for a host, as a URL has it and without a port, that is an
// address which the policy refuses, a name that by convention leads to this machine, a
// private network or a cloud's metadata, a number that some resolvers take for an address, or
// a name that is not in ASCII: many a client reads "①②⑦.⓪.⓪.①" as an address. A name that it lets pass may still resolve to anything.
func (h *Hosts) Check(host string) error {
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return h.rules.check(host, addr)
	}
	name := normal(host)
	kind, private := nameClass(name)
	if !private || h.rules.named(name) || h.rules.allowPrivate && kind.private() {
		return nil
	}
	return &spool.Error{Code: spool.Forbidden, Message: "host " + host + " is a " + string(kind) + " name; to allow it, add " + host + " to the egress policy"}
}

// nameClass says what kind of address a name leads to by convention, if it says so.
func nameClass(name string) (class, bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "metadata", name == "metadata.google.internal", name == "instance-data", strings.HasPrefix(name, "instance-data."):
		return metadata, true
	case last == "localhost", name == "localhost.localdomain", name == "ip6-localhost", name == "ip6-loopback":
		return loopback, true
	case last == "internal", last == "local", last == "lan", last == "intranet", last == "corp", last == "home",
		last == "svc", last == "consul", strings.HasSuffix(name, ".home.arpa"), // "db.default.svc" is in a cluster
		name == last && last != "" && !isNumber(last) && strings.IndexFunc(last, func(r rune) bool { return r >= utf8.RuneSelf }) < 0:
		return privateNet, true
	case last == "", isNumber(last), strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }):
		return reserved, true
	default:
		return public, false
	}
}

// isNumber reports whether the last label of a name is one: "127.1", "0x7f.1" and
// "2130706433" are addresses to some resolvers, and no top-level domain is a number.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
