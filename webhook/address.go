package webhook

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
)

// maxURL is the length of the longest URL, in bytes.
const maxURL = 2048

// reach is what endpoints of one origin may reach: by the names of their hosts when one is made, and by the addresses
// that are dialled.
type reach struct {
	hosts *egress.Hosts
	guard *egress.Transport
	// transport is the guard, or the [Config.Transport].
	transport http.RoundTripper
}

func newReach(p egress.Policy) (*reach, error) {
	hosts, err := egress.NewHosts(p)
	if err != nil {
		return nil, err
	}
	guard, err := egress.New(p)
	if err != nil {
		return nil, err
	}
	return &reach{hosts: hosts, guard: guard, transport: guard}, nil
}

// checkURL returns an [spool.Invalid] error that begins with the name of the field. It has nothing of the URL in it but
// the host.
func (r *reach) checkURL(field, text string) error {
	problem := func(format string, args ...any) error {
		return spool.Errorf(spool.Invalid, "%s %s", field, fmt.Sprintf(format, args...))
	}
	if len(text) > maxURL {
		return problem("is longer than %d bytes", maxURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return problem("must be an https URL")
	case u.User != nil:
		return problem("must not have a user or a password")
	case strings.Contains(text, "#"):
		return problem("must not have a fragment")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return problem("must have a port from 1 to 65535")
		}
	}
	if err := r.hosts.Check(u.Hostname()); err != nil {
		return problem("must not lead there: %s", spool.MessageOf(err))
	}
	if u.Scheme == "http" && !r.hosts.Listed(u.Hostname()) && !loopback(u.Hostname()) {
		return problem("must be an https URL; http is for this machine, and for hosts that the configuration lists")
	}
	return nil
}

// loopback reports whether a host is this machine by its name or its address.
func loopback(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
