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

func mcpOptions(s *MCP) table {
	return table{
		row("url", httpURL(&s.URL), "The address of a server over HTTP. A server has this or command."),
		row("headers", headers(&s.Headers, ownToolHeader),
			"Headers of each request, such as Authorization. Their values are not logged."),
		row("auth", optional(&s.Auth, mcpAuthOptions).then(func(v value) { s.Auth.check(v) }),
			"Gets access tokens for requests to url, by OAuth."),
		row("command", texts(&s.Command),
			"A program and its arguments: a server that speaks over its standard input and output."),
		row("dir", text(&s.Dir), "The working directory of command. Default: that of spool."),
		row("env", textsByName(&s.Env, func(e entry) {
			if !envName.MatchString(e.name) {
				e.problemf("must be the name of a variable")
			}
		}), "Variables of command, besides PATH, HOME, LANG and TMPDIR. Default: none."),
		row("optional", boolean(&s.Optional),
			"true: runs begin without its tools if the server cannot be reached. Default: false, they are tried "+
				"again and then fail."),
		row("timeout", duration(&s.Timeout), "How long a call may take. Default: 1m."),
		row("connect_timeout", duration(&s.ConnectTimeout),
			"How long a connection may take, with the start of command. Default: 1m."),
		row("revision", date(&s.Revision, "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
			"The revision of the protocol that the server is asked for. Servers that ask in the middle of a call do "+
				"so in 2025-11-25. Default: 2026-07-28, or the newest older one that the server speaks."),
		row("tasks", off(&s.NoTasks),
			"false: the server has to answer in its calls. Default: true, it may answer by tasks, for which runs "+
				"wait without a worker."),
		row("task_timeout", duration(&s.TaskTimeout), "How long a task may take. Default: 24h."),
		row("max_result_bytes", integer(&s.MaxResultBytes), "The most bytes of a result. Default: 262144."),
		row("resources", boolean(&s.Resources),
			"true: agents get tools that list and read the resources of the server. Default: false."),
		row("prompts", boolean(&s.Prompts),
			"true: agents get tools that list and return the prompts of the server. Default: false."),
		row("prefix", text(&s.Prefix).then(func(v value) {
			if !mcpPrefix.MatchString(s.Prefix) {
				v.problemf("may only have up to 34 letters, digits and the characters _ -")
			}
		}), "Comes before the names of its tools. Default: the server's name and two underscores."),
		row("allow", texts(&s.Allow), "The server's names of the tools that agents may have. Default: all."),
		row("approval", oneOf(&s.Approval, "hinted", "always", "never"),
			"Which calls ask a person: hinted, those of tools that the server calls destructive, always, or never. "+
				"Default: hinted."),
		row("approve", texts(&s.Approve), "Tools whose calls always ask a person. Default: none."),
		row("idempotent", texts(&s.Idempotent),
			"Tools whose calls may be repeated if their outcome is unknown. Default: none."),
		row("polling", texts(&s.Polling), "Tools whose same call may have the same result many times. Default: none."),
		row("search", boolean(&s.Search),
			"true: the model does not get its tools with each request, but finds them by searchTools and "+
				"describeTools. Default: false."),
		row("expiry", expiry(&s.Expiry), "How long a call waits for a person."),
		row("distinct_approver", distinctApprover(&s.DistinctApprover),
			"true: the starter of a run may not answer for a call. Default: false."),
		row("only_for", onlyFor(&s.Access), "Whose runs may use the tools. Default: everybody's."),
	}
}

// mcpServer reads an entry of the section mcp.
func mcpServer(e entry) MCP {
	s := MCP{Source: e.source(), Name: e.name}
	if !mcpName.MatchString(e.name) || strings.Contains(e.name, "__") || strings.HasSuffix(e.name, "_") {
		e.problemf("the name of an MCP server may only have up to 32 letters, digits, hyphens and single underscores, " +
			"and may not end in an underscore")
	}
	e.read(mcpOptions(&s))
	if len(s.Allow) > 0 {
		s.Allow = append(s.Allow, mcp.OfferedNames(s.Resources, s.Prompts)...)
	}
	switch web, child := e.at("url").present(), e.at("command").present(); {
	case web == child:
		e.problemf("needs either url or command")
	case web && (e.at("dir").present() || e.at("env").present()):
		e.problemf("dir and env are for a command")
	case child:
		for _, key := range []string{"auth", "headers", "tasks", "task_timeout"} {
			if at := e.at(key); at.present() {
				at.problemf("is for a url")
			}
		}
	}
	return s
}

// agentMCP are the MCP servers of an agent or a subagent. Doc describes the tools of a server.
func agentMCP(to *[]AgentMCP, doc string) kind {
	allow := func(a *AgentMCP) table { return table{row("allow", texts(&a.Allow), doc)} }
	return entries(allow(new(AgentMCP)), func(e entry) {
		a := AgentMCP{Source: e.source(), Server: e.name}
		e.read(allow(&a))
		servers := e.d.config.MCP
		i := slices.IndexFunc(servers, func(s MCP) bool { return s.Name == e.name })
		if i < 0 {
			e.problemf("there is no MCP server %q", e.name)
		} else {
			a.narrow(e.at("allow"), servers[i])
			ambiguous(e, servers[i], *to)
		}
		*to = append(*to, a)
	})
}

// narrow refuses tools that the server does not allow.
func (a *AgentMCP) narrow(allow value, s MCP) {
	if len(s.Allow) == 0 {
		return
	}
	if len(a.Allow) == 0 {
		a.Allow = s.Allow
		return
	}
	items := allow.items()
	for i, name := range a.Allow {
		if name != "" && !slices.Contains(s.Allow, name) {
			items[i].problemf("mcp.%s.allow does not have the tool %q", s.Name, name)
		}
	}
}

// ambiguous refuses a server if the prefix of another one of the agent begins its own, or the other way round: a tool
// of one server could then have the name of a tool of the other.
func ambiguous(e entry, s MCP, others []AgentMCP) {
	c := e.d.config
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
