package config

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/mcp"
)

// MCP is an entry of the section mcp: a server whose tools agents may have.
type MCP struct {
	Source

	// Access says whose runs may use the tools.
	Access spool.Access

	Name string
	// URL is empty for a server that is a child process.
	URL     string
	Headers map[string]string
	// Auth is nil for a server whose requests have no access tokens.
	Auth *MCPAuth
	// Command is the program and its arguments. Empty: the server has a URL.
	Command []string
	Dir     string
	Env     map[string]string
	// Optional lets runs begin without the tools if the server cannot be reached.
	Optional bool
	// Search puts the tools into the catalogue of their agents.
	Search bool
	// NoTasks lets the server answer in its calls, and not by tasks.
	NoTasks bool
	// Resources and Prompts give agents tools that list and read those of the server. Allow has their names, unless it is
	// empty.
	Resources, Prompts bool

	// The fields below are zero if the file does not have them.

	Timeout        time.Duration
	ConnectTimeout time.Duration
	TaskTimeout    time.Duration
	MaxResultBytes int
	Revision       string
	Prefix         string
	Allow          []string
	Approval       string
	Approve        []string
	Idempotent     []string
	Polling        []string
	Expiry         spool.Expiry

	DistinctApprover bool
}

// SignsIn reports whether people sign in to the server.
func (s MCP) SignsIn() bool { return s.Auth != nil && s.Auth.Type == AuthPeople }

// AgentMCP is an entry of an agent's field mcp.
type AgentMCP struct {
	Source

	// Server is a name of the section mcp.
	Server string
	// Allow are the tools that the agent gets, within those of the server. Empty: all of them.
	Allow []string
}

var (
	mcpName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)
	mcpPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{0,34}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

var mcpFields = []string{
	"url", "headers", "auth", "command", "dir", "env", "optional", "timeout", "connect_timeout", "revision", "tasks", "task_timeout", "max_result_bytes", "resources", "prompts", "prefix", "allow", "approval", "approve",
	"idempotent", "polling", "search", "expiry", "distinct_approver", "only_for",
}

// mcpServer reads an entry of the section mcp.
func mcpServer(e entry) MCP {
	f := e.fields(mcpFields...)
	if !mcpName.MatchString(e.name) || strings.Contains(e.name, "__") || strings.HasSuffix(e.name, "_") {
		e.problemf("the name of an MCP server may only have up to 32 letters, digits, hyphens and single underscores, and may not end in an underscore")
	}
	s := MCP{
		Source: e.source(), Name: e.name, Access: onlyFor(f["only_for"]),
		Headers: toolHeaders(f["headers"]), Auth: mcpAuth(f["auth"]), Command: f["command"].texts(), Dir: f["dir"].text(), Env: environment(f["env"]),
		Optional: f["optional"].boolean(), Search: f["search"].boolean(), Timeout: f["timeout"].duration(), ConnectTimeout: f["connect_timeout"].duration(),
		TaskTimeout:    f["task_timeout"].duration(),
		MaxResultBytes: f["max_result_bytes"].integer(), Revision: f["revision"].date(), Prefix: f["prefix"].text(), Allow: f["allow"].texts(), Approval: f["approval"].text(),
		Approve: f["approve"].texts(), Idempotent: f["idempotent"].texts(), Polling: f["polling"].texts(), Expiry: expiry(f["expiry"]),
		DistinctApprover: distinctApprover(f["distinct_approver"]),
	}
	s.Resources, s.Prompts = f["resources"].boolean(), f["prompts"].boolean()
	if len(s.Allow) > 0 {
		s.Allow = append(s.Allow, mcp.OfferedNames(s.Resources, s.Prompts)...)
	}
	if tasks := f["tasks"].optionalBoolean(); tasks != nil {
		s.NoTasks = !*tasks
	}
	f["revision"].among(s.Revision, "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
	f["approval"].among(s.Approval, "hinted", "always", "never")
	if !mcpPrefix.MatchString(s.Prefix) {
		f["prefix"].problemf("may only have up to 34 letters, digits and the characters _ -")
	}
	switch web, child := f["url"].present(), f["command"].present(); {
	case web == child:
		e.problemf("needs either url or command")
	case web && (f["dir"].present() || f["env"].present()):
		e.problemf("dir and env are for a command")
	case child && f["auth"].present():
		f["auth"].problemf("is for a url")
	case child:
		for _, field := range []string{"headers", "tasks", "task_timeout"} {
			if f[field].present() {
				f[field].problemf("is for a url")
			}
		}
	}
	if f["url"].present() {
		s.URL = f["url"].url()
	}
	return s
}

// texts returns a list of texts, which must not be empty if it exists.
func (v value) texts() []string {
	var out []string
	for _, item := range v.items() {
		text := item.text()
		if text == "" && !item.complained() {
			item.problemf("is empty")
		}
		out = append(out, text)
	}
	if v.present() && len(out) == 0 && !v.complained() {
		v.problemf("is empty")
	}
	return out
}

// environment reads the variables of a child process.
func environment(v value) map[string]string {
	var out map[string]string
	for _, e := range v.entries() {
		if !envName.MatchString(e.name) {
			e.problemf("must be the name of a variable")
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[e.name] = e.text()
	}
	return out
}

// agentMCP reads the MCP servers of an agent or a subagent.
func agentMCP(v value, c *Config) (all []AgentMCP) {
	for _, e := range v.entries() {
		f := e.fields("allow")
		i := slices.IndexFunc(c.MCP, func(s MCP) bool { return s.Name == e.name })
		a := AgentMCP{Source: e.source(), Server: e.name, Allow: f["allow"].texts()}
		if i < 0 {
			e.problemf("there is no MCP server %q", e.name)
		} else if within := c.MCP[i].Allow; len(within) > 0 {
			for _, item := range f["allow"].items() {
				if name := item.text(); name != "" && !slices.Contains(within, name) {
					item.problemf("mcp.%s.allow does not have the tool %q", e.name, name)
				}
			}
			if len(a.Allow) == 0 {
				a.Allow = within
			}
		}
		if i >= 0 {
			ambiguous(e, c.MCP[i], all, c)
		}
		all = append(all, a)
	}
	return all
}

// ambiguous refuses a server if the prefix of another one of the agent begins its own, or the other way round: a tool
// of one server could then have the name of a tool of the other.
func ambiguous(e entry, s MCP, others []AgentMCP, c *Config) {
	for _, other := range others {
		i := slices.IndexFunc(c.MCP, func(m MCP) bool { return m.Name == other.Server })
		if i < 0 {
			continue
		}
		own, its := s.prefix(), c.MCP[i].prefix()
		if strings.HasPrefix(own, its) || strings.HasPrefix(its, own) {
			e.problemf("tools of the MCP servers %q and %q could have the same name: their prefixes are %q and %q, and neither may begin the other",
				other.Server, s.Name, its, own)
		}
	}
}

// prefix returns what comes before the names of the tools.
func (s MCP) prefix() string { return cmp.Or(s.Prefix, s.Name+"__") }
