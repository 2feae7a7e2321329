package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// Approval says which calls of a server's tools wait for a person, besides those of [Selection.Approve].
type Approval string

// The values of Approval.
const (
	// ApproveHinted lets calls wait whose tool the server itself calls destructive. A tool with annotations that
	// say neither that it is destructive nor that it is not, and do not call it read-only, counts as destructive.
	ApproveHinted Approval = "hinted"
	// ApproveAlways lets every call wait.
	ApproveAlways Approval = "always"
	// ApproveNever lets no further call wait.
	ApproveNever Approval = "never"
)

// Selection says which tools of a server an agent has, and how. Its names are the server's own.
type Selection struct {
	// Allow are the tools that the agent gets. Those of [Config.Resources] and [Config.Prompts] are named too: see
	// [OfferedNames].
	//
	// Defaults to all.
	Allow []string

	// Access limits the tools to runs of these callers.
	//
	// Defaults to all runs.
	Access spool.Access

	// Approval says which calls wait for a person. The hints of the server can add approvals, and never take
	// one away.
	//
	// Defaults to ApproveHinted.
	Approval Approval

	// Approve are tools whose calls wait for a person.
	//
	// Defaults to none.
	Approve []string

	// DistinctApprover forbids the subject that started the run to answer.
	//
	// Defaults to false.
	DistinctApprover bool

	// Expiry says how long a call waits for an answer.
	//
	// Defaults to the engine's.
	Expiry spool.Expiry

	// Idempotent are tools whose calls may be repeated if their outcome is unknown. The hint of the server
	// does not count.
	//
	// Defaults to none.
	Idempotent []string

	// Polling are tools whose same call may have the same result many times: see [spool.Tool.Polling].
	//
	// Defaults to none.
	Polling []string

	// Prefix comes before the names of the tools. It has up to 34 letters, digits, hyphens and underscores.
	//
	// Defaults to the name of the server and two underscores.
	Prefix string

	// Search puts the tools into the agent's catalogue: see [spool.Tool.Search].
	//
	// Defaults to false.
	Search bool
}

// Tools returns a source of the server's tools for [spool.Agent.ToolSources], or an [spool.Invalid] error that
// names the wrong field. The source has the name of the server. The names of the tools are described at
// [LocalName].
func (s *Server) Tools(selection Selection) (spool.ToolSource, error) {
	selection.Prefix = cmp.Or(selection.Prefix, s.config.Name+"__")
	switch selection.Approval = cmp.Or(selection.Approval, ApproveHinted); {
	case !validPrefix(selection.Prefix):
		return nil, spool.Errorf(spool.Invalid,
			"MCP server %s: Prefix must be up to 34 letters, digits, hyphens and underscores", s.config.Name)
	case !slices.Contains([]Approval{ApproveHinted, ApproveAlways, ApproveNever}, selection.Approval):
		return nil, spool.Errorf(spool.Invalid, "MCP server %s: Approval must be hinted, always or never", s.config.Name)
	}
	if err := selection.Expiry.Check(); err != nil {
		return nil, spool.Errorf(spool.Invalid, "MCP server %s: %s", s.config.Name, spool.MessageOf(err))
	}
	return &source{server: s, selection: selection}, nil
}

func validPrefix(prefix string) bool {
	const longest = 34
	return len(prefix) <= longest && localName("", prefix) == prefix
}

// LocalName returns the name under which a model sees a tool of a server. It is the prefix and the tool's name.
// If that is longer than 64 characters, or has others than letters, digits, hyphens and underscores, then those
// become underscores, and the end is "_" and ten hex digits of a hash of the tool's name. Different tools have
// different names. If two hashes begin alike, an agent has only the first tool.
func LocalName(prefix, tool string) string { return localName(prefix, tool) }

// source is the tool source of an agent.
type source struct {
	server    *Server
	selection Selection

	mu      sync.Mutex
	missing []string // the names that the last list did not have
}

// Name implements [spool.ToolSource].
func (c *source) Name() string { return c.server.config.Name }

// List implements [spool.ToolSource].
func (c *source) List(ctx context.Context, tenant spool.Tenant, subject string) (json.RawMessage, error) {
	list, err := c.server.listFor(ctx, tenant, subject)
	switch {
	case err != nil && ctx.Err() == nil && c.server.config.Optional:
		c.server.config.Log.WarnContext(ctx, "a run begins without the tools of an MCP server", "server", c.Name(), "error",
			err)
		list = &List{}
	case err != nil:
		return nil, err
	case !list.SignIn:
		c.warnMissing(ctx, list)
	}
	return json.Marshal(list)
}

// Missing returns the names in Allow, Approve, Idempotent and Polling that a list does not have, sorted. A name with a
// spelling mistake in Approve would let calls pass without a person.
func (o Selection) Missing(list *List) []string {
	all := slices.Concat(o.Allow, o.Approve, o.Idempotent, o.Polling)
	slices.Sort(all)
	known := list.All()
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool {
		return slices.ContainsFunc(known, func(t ListedTool) bool { return t.Name == name })
	})
}

// warnMissing logs each name once that the server does not offer.
func (c *source) warnMissing(ctx context.Context, list *List) {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing := c.selection.Missing(list)
	fresh := slices.DeleteFunc(slices.Clone(missing), func(name string) bool { return slices.Contains(c.missing, name) })
	if c.missing = missing; len(fresh) > 0 {
		c.server.config.Log.WarnContext(ctx, "MCP server does not offer tools that the configuration names", "server",
			c.Name(), "tools", fresh)
	}
}

// Tools implements [spool.ToolSource].
func (c *source) Tools(stored json.RawMessage) ([]spool.Tool, error) {
	var list List
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &list); err != nil {
			return nil, spool.Wrap(spool.Internal, "read the tools of MCP server "+c.Name(), err)
		}
	}
	if list.SignIn && c.server.people.transport != nil {
		return []spool.Tool{c.signInTool()}, nil
	}
	all := slices.Concat(list.Tools, list.offered(c.Name()))
	tools := make([]spool.Tool, 0, len(all))
	for i, listed := range all {
		if len(c.selection.Allow) > 0 && !slices.Contains(c.selection.Allow, listed.Name) {
			continue
		}
		if t, ok := c.tool(listed, i >= len(list.Tools)); ok {
			tools = append(tools, t)
		}
	}
	return tools, nil
}

// tool returns a tool, or false if its schema cannot be used. An offered one is for resources or prompts.
func (c *source) tool(listed ListedTool, offered bool) (spool.Tool, bool) {
	shown := shownSchema(listed.Schema)
	schema, err := argschema.Foreign(shown)
	if err != nil {
		return spool.Tool{}, false
	}
	o := c.selection
	t := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: localName(o.Prefix, listed.Name), Description: listed.Description, Parameters: shown},
		Check:    schema.Check, Access: o.Access, DistinctApprover: o.DistinctApprover, Expiry: o.Expiry,
		Idempotent: offered || slices.Contains(o.Idempotent, listed.Name), Polling: slices.Contains(o.Polling, listed.Name),
		Search: o.Search,
	}
	if o.Approval == ApproveAlways || o.Approval == ApproveHinted && listed.Destructive ||
		slices.Contains(o.Approve, listed.Name) {
		t.Approval = spool.AlwaysApprove
	}
	if offered {
		t.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			return c.server.as(listed.Name, call, func(s *Server, call spool.ToolCall) (json.RawMessage, error) {
				return s.offer(ctx, listed.Name, call)
			})
		}
		return t, true
	}
	t.Cancel, t.PendingTimeout = c.server.cancelAs, c.server.config.TaskTimeout
	t.PendingIdempotent = true // the key of a question says which answers are the same
	t.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		return c.server.as(listed.Name, call, func(s *Server, call spool.ToolCall) (json.RawMessage, error) {
			return s.call(ctx, listed, t.Idempotent, call)
		})
	}
	return t, true
}
