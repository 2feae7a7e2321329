// Package registry has the agents and models of an engine, as its configuration has been checked:
// which agent a run has, which tools it may call, and what the arguments of a call must be. It is
// pure, but for the checks of tools, which are the application's.
package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
)

const defaultMaxSteps = 25

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Config is what a registry is made of. The fields mean what those of the engine's configuration do.
type Config struct {
	Agents         []spool.Agent
	Models         map[string]spool.Model
	ModelAccess    map[string]spool.Access
	MaxPromptBytes int
	OnBudget       spool.BudgetAction
	WhenBusy       spool.WhenBusy
	// Priced says that model calls have prices.
	Priced bool
}

// Registry has agents by their names.
type Registry struct {
	Config

	byName map[string]*Agent
}

// Agent is an agent as it was checked, or as it was narrowed down for a run.
type Agent struct {
	spool.Agent

	// AtClient are the tools that the client of the run's start has brought.
	AtClient map[string]bool
	// InheritModel says that a nested run has the model of the one that spawns it.
	InheritModel bool

	profiles     map[string]*Agent // those of Spawn
	personaTools []spool.Tool      // of an agent that the model makes up
}

// New returns a registry. It returns an [spool.Invalid] error that names the field for a
// configuration that cannot work.
func New(c Config) (*Registry, error) {
	if len(c.Agents) == 0 {
		return nil, spool.Errorf(spool.Invalid, "Config.Agents is empty")
	}
	agents := make(map[string]*Agent, len(c.Agents))
	for _, configured := range c.Agents {
		a := Agent{Agent: configured}
		if err := spool.CheckID("Config.Agents.Name", a.Name); err != nil {
			return nil, err
		}
		if agents[a.Name] != nil {
			return nil, spool.Errorf(spool.Invalid, "Config.Agents has two agents of the name %q", a.Name)
		}
		if err := c.checkAgent(&a); err != nil {
			return nil, err
		}
		agents[a.Name] = &a
	}
	return &Registry{Config: c, byName: agents}, nil
}

// checkAgent fills in what an agent leaves out and says what is wrong with it.
func (c Config) checkAgent(a *Agent) error {
	if c.Models[a.Model] == nil {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the model %q, which Config.Models lacks", a.Name, a.Model)
	}
	if a.MaxSteps < 0 {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a negative MaxSteps", a.Name)
	}
	where := fmt.Sprintf("Config.Agents: agent %q: ", a.Name)
	if err := cmp.Or(budget.Check(where+"Budget", a.Budget, c.Priced), budget.CheckAction(where+"OnBudget", a.OnBudget)); err != nil {
		return err
	}
	a.OnBudget = cmp.Or(a.OnBudget, c.OnBudget)
	a.WhenBusy = cmp.Or(a.WhenBusy, c.WhenBusy)
	if !a.WhenBusy.Known() {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has no WhenBusy of the name %q", a.Name, a.WhenBusy)
	}
	if a.MaxSteps == 0 {
		a.MaxSteps = defaultMaxSteps
	}
	a.ClientTools = cmp.Or(a.ClientTools, defaultClientTools)
	a.ClientContext = cmp.Or(a.ClientContext, defaultClientContext)
	if err := a.checkTools(); err != nil {
		return err
	}
	if err := a.checkProviderOptions(); err != nil {
		return err
	}
	return c.checkSpawn(a)
}

func (a *Agent) checkTools() error {
	seen := make(map[string]bool, len(a.Tools))
	for _, t := range a.Tools {
		switch {
		case !toolName.MatchString(t.Name):
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a tool with the bad name %q", a.Name, t.Name)
		case t.Name == spool.SpawnTool && a.Spawn != nil:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a Spawn and a tool of the name %q", a.Name, t.Name)
		case seen[t.Name]:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has two tools of the name %q", a.Name, t.Name)
		case t.Call == nil:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the tool %q without a Call", a.Name, t.Name)
		}
		if err := t.Expiry.Check(); err != nil {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the tool %q whose %s", a.Name, t.Name, spool.MessageOf(err))
		}
		seen[t.Name] = true
	}
	return nil
}

// Tool returns the agent's tool of that name.
func (a *Agent) Tool(name string) (spool.Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return spool.Tool{}, false
}

// ByName returns the agent of that name, the default one for "". It returns [spool.ErrUnknownAgent]
// for one that this process lacks.
func (r *Registry) ByName(name string) (*Agent, error) {
	if name == "" {
		name = r.Agents[0].Name
	}
	if a := r.byName[name]; a != nil {
		return a, nil
	}
	return nil, &spool.Error{Code: spool.NotFound, Message: "unknown agent " + name, Err: spool.ErrUnknownAgent}
}

// For returns the agent of that name if the caller may use it, and for "" the first one that
// the caller may use. Nil: there is none. An agent that may not be used is as good as none.
func (r *Registry) For(name string, tenant spool.Tenant, scopes []string) *Agent {
	for _, a := range r.Agents {
		if (name == "" || a.Name == name) && a.Access.Allows(tenant, scopes) {
			return r.byName[a.Name]
		}
	}
	return nil
}

// HasModelFor reports whether there is a model of that name which the caller may use.
func (r *Registry) HasModelFor(name string, tenant spool.Tenant, scopes []string) bool {
	return r.Models[name] != nil && r.ModelAccess[name].Allows(tenant, scopes)
}

// OfDispatched returns the agent of a dispatched run, as the run may use it. Nil: this process
// does not have it.
func (r *Registry) OfDispatched(run spool.RunRow) *Agent { return r.byName[run.Agent].Permitted(run) }

// OfRun returns the agent of a run, which for a nested one depends on those above. Nil: this
// process does not have it.
func (r *Registry) OfRun(v spool.View, id spool.RunID) (*Agent, error) {
	run, err := v.Run(id)
	if err != nil || run.ParentID == "" {
		return r.OfDispatched(run), err
	}
	above, err := r.OfRun(v, run.ParentID)
	if above == nil || err != nil {
		return nil, err
	}
	return above.Nested(run.Agent).Permitted(run), nil
}

// Model returns the model of that name, or else the agent's, where the configuration has changed
// since the run was started. Nil: neither is there.
func (r *Registry) Model(name string, a *Agent) spool.Model {
	if m := r.Models[name]; m != nil || a == nil {
		return m
	}
	return r.Models[a.Model]
}

// Parameters returns the schema of the arguments of the call that a park is about. Nil: this
// process does not have the tool.
func (r *Registry) Parameters(v spool.View, p spool.Park) (json.RawMessage, error) {
	agent, err := r.OfRun(v, p.CallerID())
	if err != nil || agent == nil {
		return nil, err
	}
	tool, _ := agent.Tool(p.ToolName)
	return tool.Parameters, nil
}

// Permitted returns the agent with the tools that the subject of the run may use, and those that the
// client of the start has brought. That is decided by what the run has of its start, so that it is
// the same in each process and behind a restart. A nil agent stays nil.
func (a *Agent) Permitted(run spool.RunRow) *Agent {
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
