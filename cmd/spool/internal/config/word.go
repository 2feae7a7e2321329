package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
)

// id complains unless a request can name the entry.
func (e entry) id() { e.value.id("the name", e.name) }

// id complains unless a request can have the id.
func (v value) id(what, id string) {
	if err := spool.CheckID(what, id); err != nil && !v.complained() {
		v.problemf("%s", spool.MessageOf(err))
	}
}

// word returns text that must not be empty or have white space.
func (v value) word() string {
	s := v.text()
	if v.present() && v.node.Tag == "!!str" && s == "" && !v.complained() {
		v.problemf("is empty")
	}
	if strings.ContainsAny(s, " \t\r\n") {
		v.problemf("must not have spaces")
	}
	return s
}

// optionalWord returns text that must not have white space, and may be empty.
func (v value) optionalWord() string {
	s := v.text()
	if strings.ContainsAny(s, " \t\r\n") {
		v.problemf("must not have spaces")
	}
	return s
}

// filledText returns text that must not be empty.
func (v value) filledText() string {
	s := v.text()
	if s == "" && !v.complained() {
		v.problemf("is empty")
	}
	return s
}

// among complains if the word of a value is neither empty nor known.
func (v value) among(word string, known ...string) {
	if word == "" || slices.Contains(known, word) || v.complained() {
		return
	}
	last := len(known) - 1
	if last == 0 {
		v.problemf("must be %s", known[0])
		return
	}
	v.problemf("must be %s or %s", strings.Join(known[:last], ", "), known[last])
}

// url returns an http or https URL. A problem does not quote it: it may have a password.
func (v value) url() string {
	s := v.text()
	if s == "" && (!v.present() || v.complained()) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		v.problemf("must be an http or https URL")
	}
	return s
}

// egress returns a host, an address or a range of addresses that tools may reach.
func (v value) egress() string {
	s := v.text()
	if _, err := egress.New(egress.Policy{Allow: []string{s}}); err != nil && !v.complained() {
		v.problemf(`must be a host, an address such as "127.0.0.1" or a range such as "10.0.0.0/8"`)
	}
	return s
}

// time returns a point in time.
func (v value) time() time.Time {
	const want = `a time such as "2027-01-31T00:00:00Z"`
	s, ok := v.scalar(want)
	if !ok {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		v.problemf("must be %s", want)
	}
	return at
}

// addresses returns an address, or a range of addresses.
func (v value) addresses() netip.Prefix {
	p, ok := ParseAddresses(v.text())
	if !ok && !v.complained() {
		v.problemf(`must be an address such as "127.0.0.1" or a range such as "10.0.0.0/8"`)
	}
	return p
}

// ParseAddresses returns an address, or a range of addresses.
func ParseAddresses(text string) (netip.Prefix, bool) {
	if at, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(at.Unmap(), at.Unmap().BitLen()), true
	}
	p, err := netip.ParsePrefix(text)
	return p, err == nil
}
