package command

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/internal/forwarded"
)

// metricsTokenVariable is the variable with the token of /metrics. It has no flag, because other users
// of the machine can read the flags of a process.
const metricsTokenVariable = "SPOOL_METRICS_TOKEN" //nolint:gosec // the name of a variable, and no token

// metricsAccess says who may read the metrics. If it has a token, only the holder of the token may.
// Otherwise everybody who reaches the port may, except web pages: if an attacker points the name of a
// page to this server (DNS rebinding), the page's requests have that name as their Host. On a loopback
// port, requests through a proxy are refused too, unless hosts has a name.
type metricsAccess struct {
	token string
	// hosts are the names of this server in requests, in lower case.
	hosts []string
	// local is true if only this machine can reach the port.
	local bool
}

// readMetricsAccess reads who may read the metrics.
func readMetricsAccess(address, hosts string, lookup func(string) (string, bool)) (metricsAccess, error) {
	m := metricsAccess{local: loopbackAddress(address)}
	switch m.token, _ = lookup(metricsTokenVariable); {
	case strings.ContainsFunc(m.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return m, usagef("%s: must be visible ASCII without spaces", metricsTokenVariable)
	case m.token != "" && len(m.token) < config.MinToken:
		return m, usagef("%s: is shorter than %d characters", metricsTokenVariable, config.MinToken)
	}
	if hosts == "" {
		return m, nil
	}
	for name := range strings.SplitSeq(hosts, ",") {
		name = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(name), "."))
		if name == "" || strings.ContainsAny(name, " /:*[]") {
			return m, usagef("--metrics-hosts: %q must be a name without a port, or several with commas between them", name)
		}
		m.hosts = append(m.hosts, name)
	}
	return m, nil
}

// guard calls next for requests that may read the metrics.
func (m metricsAccess) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case m.token != "" && !m.proven(r.Header.Values("Authorization")):
			w.Header().Set("WWW-Authenticate", `Bearer realm="spool metrics"`)
			http.Error(w, "the metrics need the token of "+metricsTokenVariable+" as a bearer token", http.StatusUnauthorized)
		case m.token == "" && !m.known(r.Host):
			http.Error(w, "the Host of the request is not one of this server: see --metrics-hosts", http.StatusForbidden)
		case m.token == "" && m.local && len(m.hosts) == 0 && forwarded.Header(r.Header) != "":
			http.Error(w, "the metrics of this machine need "+metricsTokenVariable+" or --metrics-hosts behind a proxy",
				http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// proven reports whether the only Authorization header of a request has the token. It compares hashes,
// which have equal lengths, so that the time of the comparison reveals nothing about the token.
func (m metricsAccess) proven(given []string) bool {
	if len(given) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	has, want := sha256.Sum256([]byte(strings.TrimLeft(token, " "))), sha256.Sum256([]byte(m.token))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(has[:], want[:]) == 1
}

// known reports whether a Host can only mean this server: nobody else can point an IP address to this
// server, or a name without a dot, which only the local network resolves.
func (m metricsAccess) known(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return !m.local || ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(m.hosts, host) ||
		!m.local && host != "" && !strings.Contains(host, ".")
}
