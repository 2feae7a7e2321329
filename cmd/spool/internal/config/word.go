package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server"
)

// id complains unless a request can name the entry.
func (e entry) id() {
	if err := spool.CheckID("the name", e.name); err != nil {
		e.problemf("%s", spool.MessageOf(err))
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

// among complains if the word of a value is neither empty nor known.
func (v value) among(word string, known ...string) {
	v.shape.enumerate(known)
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

// complained reports whether the last problem is about this value.
func (v value) complained() bool {
	n := len(v.d.problems)
	return n > 0 && v.d.problems[n-1].Source == v.source()
}

// url returns an http or https URL. A problem does not quote it: it may have a password.
func (v value) url() string {
	v.shape.is(kindURL)
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

// publicURL returns a scheme, a host and the path that a proxy cuts off, without a slash at the end. The
// base path follows it.
func publicURL(v value, base string) string {
	s := strings.TrimRight(v.url(), "/")
	if s == "" || v.complained() {
		return s
	}
	switch err := server.CheckPublicURL(s, base); {
	case err == nil:
	case server.CheckPublicURL(s, "") == nil:
		v.problemf("must not end with base_path, which comes after it")
	default:
		v.problemf(`may only have a scheme, a host and a path, such as "https://agents.example"`)
	}
	return s
}

// basePath returns the prefix of all paths, without a slash at the end.
func basePath(v value) string {
	at := strings.TrimRight(v.text(), "/")
	if err := rest.CheckBasePath(at); err != nil && !v.complained() {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		v.problemf(`must be a path such as "/v1": %s`, reason)
	}
	return at
}

// time returns a point in time.
func (v value) time() time.Time {
	v.shape.is(kindTime)
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
