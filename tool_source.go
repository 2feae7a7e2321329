package spool

import (
	"context"
	"encoding/json"
)

// ToolSource supplies tools that are not known when the engine starts and that may change while it runs, such
// as those of an MCP server. The engine asks for the list when a run first needs it, and keeps it for the
// whole run: a run that crashed, waited or moved to another process has the tools that it began with, while a
// new run gets the present list.
//
// The methods are safe for concurrent use.
type ToolSource interface {
	// Name names the source in an agent and in the stored lists. It matches [A-Za-z0-9_-]{1,64}. Sources with
	// the same name in an agent and its profiles share one list in each run, so it must suit all of them.
	Name() string
	// List returns what the source offers now to the subject that has started the run, as JSON that Tools
	// understands. An empty subject is not known. Most sources offer everybody the same; an MCP server to which
	// people sign in does not. List may use the network. A nil list is an empty one. After an error the run has
	// another attempt, as after a failed model call, and the run's error has the message of the error.
	List(ctx context.Context, tenant Tenant, subject string) (json.RawMessage, error)
	// Tools returns the tools of a list, in the order in which the model sees them. The list may come from
	// another process. Tools does not use the network, and the same list always gives the same specifications.
	// A tool whose name another tool of the agent has is left out.
	Tools(list json.RawMessage) ([]Tool, error)
}
