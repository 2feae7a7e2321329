package main

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

// metricsTokenVariable is the variable that has the token of /metrics. There is no flag for it:
// other users of the machine can read the flags of a process.
const metricsTokenVariable = "SPOOL_METRICS_TOKEN" //nolint:gosec // the name of a variable, and no token

// metricsAccess says who may read the metrics. With a token, whoever has it. Without one, whoever
// reaches the port, but no web page: a page whose name was made to point here (DNS rebinding)
// sends its own name as the Host. On a port of this machine, that is nobody whom a proxy lets
// through either, unless hosts says that there is one.
type metricsAccess struct {
	token string
	// hosts are names that the server is asked for by, in lower case.
	hosts []string
	// local says that only this machine can reach the port.
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

// guard lets through to next whoever may read the metrics.
func (m metricsAccess) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case m.token != "" && !m.proven(r.Header.Values("Authorization")):
			w.Header().Set("WWW-Authenticate", `Bearer realm="spool metrics"`)
			http.Error(w, "the metrics need the token of "+metricsTokenVariable+" as a bearer token", http.StatusUnauthorized)
		case m.token == "" && !m.known(r.Host):
			http.Error(w, "the Host of the request is not one of this server: see --metrics-hosts", http.StatusForbidden)
		case m.token == "" && m.local && len(m.hosts) == 0 && forwarded.Header(r.Header) != "":
			http.Error(w, "the metrics of this machine need "+metricsTokenVariable+" or --metrics-hosts behind a proxy", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// proven reports whether the one Authorization header of a request has the token. Hashes are
// equally long: how long it takes to compare them says nothing about the token.
func (m metricsAccess) proven(given []string) bool {
	if len(given) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	has, want := sha256.Sum256([]byte(strings.TrimLeft(token, " "))), sha256.Sum256([]byte(m.token))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(has[:], want[:]) == 1
}

// known reports whether a Host can only be this server. An address is no name that somebody could
// point here, and neither is a name without a dot, which only the own network gives.
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
