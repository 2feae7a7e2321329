package command

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// banner prints where the server listens, what it has loaded and what to try. The only secret that
// it prints is a token that was generated for this start.
func banner(w io.Writer, o options, s *setup, changed []string, addr net.Addr, metrics net.Listener) error {
	url := "http://" + reachable(addr) + s.server.BasePath
	scraped := ""
	if metrics != nil {
		scraped = "http://" + reachable(metrics.Addr()) + "/metrics"
		if o.scraping.token != "" {
			scraped += " (with the token of " + metricsTokenVariable + ")"
		}
	}
	header := ""
	if !s.server.Loopback {
		header = ` -H "Authorization: Bearer $SPOOL_TOKEN"`
	}
	var b strings.Builder
	fmt.Fprintf(&b, "spool listens on %s\n", url)
	lines := append([]description{{"data", o.place()}}, s.lines()...)
	for _, line := range append(lines, description{"metrics", scraped}) {
		if line.remark != "" {
			fmt.Fprintf(&b, "  %-7s %s\n", line.name, line.remark)
		}
	}
	if s.token != "" {
		fmt.Fprintf(&b, "\nOther machines can reach this server, so it asks for a token:\n\n  export SPOOL_TOKEN=%s\n",
			s.token)
	}
	b.WriteString(changedRunsText(changed))
	if o.role == roleWorker {
		fmt.Fprintf(&b, "\nThis process executes runs. It serves only the probes, such as %s/readyz\n\n", url)
		_, err := io.WriteString(w, b.String())
		return err
	}
	if s.server.Console != nil {
		fmt.Fprintf(&b, "\nThe console, in a browser: %s/\n", url)
	}
	fmt.Fprintf(&b, `
Start a run, and watch it:

  curl -s%[2]s %[1]s/api/agent/run -H 'Content-Type: application/json' -d '{"threadId":"hello","prompt":"Hello!"}'
  curl -sN%[2]s '%[1]s/api/agent/stream?threadId=hello'

All endpoints, to read and try: %[1]s/docs

`, url, header)
	_, err := io.WriteString(w, b.String())
	return err
}

// lines describe a setup. A line with an empty remark is left out.
func (s *setup) lines() []description {
	agents := make([]description, len(s.engine.Agents))
	for i, a := range s.engine.Agents {
		agents[i] = description{name: a.Name}
	}
	if len(agents) > 1 {
		agents[0].remark = "the default"
	}
	auth := "bearer tokens"
	switch {
	case s.server.Loopback:
		auth = "none: this machine only, tenant default"
	case s.token != "":
		auth = "a bearer token for this start only; set SPOOL_TOKEN to keep one"
	}
	out := []description{
		{"models", describe(s.models)},
		{"agents", describe(agents)},
		{"tools", describe(s.tools)},
		{"mcp", s.describeMCP()},
		{"sign-in", s.signInAt},
		{"auth", auth},
		{"cors", strings.Join(s.server.CORSOrigins, ", ")},
	}
	if len(s.queue) > 0 {
		out = append(out, description{"queue", describe(s.queue)})
	}
	if told := s.engine.Webhooks.Endpoints; len(told) > 0 {
		hosts := make([]description, len(told))
		for i, e := range told {
			hosts[i] = description{e.Name, hostOf(e.URL)} // the rest of a URL may be a secret
		}
		out = append(out, description{"webhooks", describe(hosts)})
	}
	if s.pushed != "" {
		out = append(out, description{"jobs", "pushed to " + s.pushed})
	}
	return out
}

// reachable returns an address for a URL. A server that listens on all addresses of the machine is
// reachable as localhost.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("localhost", strconv.Itoa(tcp.Port))
	}
	return addr.String()
}

func describe(list []description) string {
	if len(list) == 0 {
		return "none"
	}
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.name
		if d.remark != "" {
			out[i] += " (" + d.remark + ")"
		}
	}
	return strings.Join(out, ", ")
}
