package engine

import (
	"slices"

	"github.com/spoolhq/spool"
)

// agentFor returns the agent of that name if who starts may use it, and for "" the first one that
// may be used. An agent that may not be used is as good as none.
func (e *Engine) agentFor(name string, tenant spool.Tenant, scopes []string) *Agent {
	if name != "" {
		if a := e.agents[name]; a != nil && a.Access.Allows(tenant, scopes) {
			return a
		}
		return nil
	}
	for _, a := range e.config.Agents {
		if a.Access.Allows(tenant, scopes) {
			return e.agents[a.Name]
		}
	}
	return nil
}

// hasModelFor reports whether there is a model of that name which who starts may use.
func (e *Engine) hasModelFor(name string, tenant spool.Tenant, scopes []string) bool {
	return e.config.Models[name] != nil && e.config.ModelAccess[name].Allows(tenant, scopes)
}

// permitted returns the agent with the tools that who started the run may use, and those that the
// client of the start has brought. That is decided by what the run has of its start, so that it is
// the same in each process and behind a restart. A nil agent stays nil.
func (a *Agent) permitted(run spool.Run) *Agent {
	withheld := func(t spool.Tool) bool { return !t.Access.Allows(run.Tenant, run.Scopes) }
	if a == nil || run.Client == nil && !slices.ContainsFunc(a.Tools, withheld) {
		return a
	}
	own := *a
	own.Tools = slices.DeleteFunc(slices.Clone(a.Tools), withheld)
	if run.Client != nil {
		own.addClientTools(run.Client.Tools)
	}
	return &own
}
