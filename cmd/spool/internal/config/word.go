package config

import (
	"net/netip"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
)

// id complains unless the entry's name can be named in a request.
func (e entry) id() {
	if err := spool.CheckID("the name", e.name); err != nil {
		e.problem("%s", spool.MessageOf(err))
	}
}

// word returns text that must not be empty or have white space.
func (v value) word() string {
	s := v.text()
	if v.node.Tag == "!!str" && s == "" && !v.complained() {
		v.problem("is empty")
	}
	if strings.ContainsAny(s, " \t\r\n") {
		v.problem("must not have spaces")
	}
	return s
}

// complained reports whether the last problem is this value's.
func (v value) complained() bool {
	n := len(v.d.problems)
	return n > 0 && v.d.problems[n-1].Source == v.source()
}

// url returns an http or https URL. A problem does not quote it: it may have a password.
func (v value) url() string {
	s := v.text()
	if s == "" && (!v.present() || v.complained()) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		v.problem("must be an http or https URL")
	}
	return s
}

// prefix returns a range of addresses in CIDR notation, or the range of one address.
func (v value) prefix() netip.Prefix {
	s := v.text()
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked()
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen())
	}
	if !v.complained() {
		v.problem(`must be an address such as "127.0.0.1" or a range such as "10.0.0.0/8"`)
	}
	return netip.Prefix{}
}

// origin returns the origin of a page, or "*" for every one.
func (v value) origin() string {
	s := v.text()
	u, err := url.Parse(s)
	if s != "*" && !v.complained() &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != s) {
		v.problem(`must have the form "https://host" or "https://host:port"`)
	}
	return s
}
