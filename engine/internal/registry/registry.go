// Package registry keeps the validated agents and models of an engine. It answers which agent a run
// has, which tools it may call, and which arguments a call may have. It is pure, except for the tools'
// checks, which are application code.
package registry

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/catalogue"
	"github.com/spoolhq/spool/engine/internal/pricing"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const defaultMaxSteps = 25

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Config has fields of the engine configuration under the same names.
type Config struct {
	Agents         []spool.Agent
	Models         map[string]spool.Model
	ModelAccess    map[string]spool.Access
	MaxPromptBytes int
	OnBudget       spool.BudgetAction
	WhenBusy       spool.WhenBusy
	// Prices knows which models have a price.
	Prices pricing.Prices
	// CompactionModel is the name of the model that summarises. Empty: the run's own.
	CompactionModel string
}

type Registry struct {
	Config

	byName map[string]*Agent
}

// Agent is a validated agent, possibly narrowed for a run.
type Agent struct {
	spool.Agent

	// AtClient names the tools that the client of the run's start executes.
	AtClient map[string]bool
	// FromSource names the tools that come from the tool sources.
	FromSource map[string]bool
	// LeftOut names the tools of the sources that the agent does not get, each after its source.
	LeftOut []string
	// Catalogue is the tools that the model has to find. Nil: there are none, or the agent is not narrowed for a run yet.
	Catalogue *catalogue.Catalogue
	// InheritModel is true if a nested run uses its parent's model.
	InheritModel bool

	output *argschema.Schema // of Output; nil for none
	whole  *whole            // nil for an agent that is not configured as it is

	// Revision is the id of Content, which is what the agent was configured as. Profiles have none.
	Revision     wire.RevisionID
	Content      wire.AgentContent
	profiles     map[string]*Agent // the profiles of Spawn
	personaTools []spool.Tool      // the tools without the spawn tool, if there is a Spawn
}

// New returns a registry. It returns an [spool.Invalid] error that names the field of an invalid
// configuration.
func New(c Config) (_ *Registry, err error) {
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
		if a.Content, err = c.contentOf(&a); err != nil {
			return nil, err
		}
		a.Revision = a.Content.Revision()
		agents[a.Name] = &a
	}
	r := &Registry{Config: c, byName: agents}
	return r, r.checkTargets()
}

// checkAgent fills in an agent's defaults and validates it.
func (c Config) checkAgent(a *Agent) error {
	if c.Models[a.Model] == nil {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the model %q, which Config.Models lacks", a.Name,
			a.Model)
	}
	if a.MaxSteps < 0 {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a negative MaxSteps", a.Name)
	}
	a.whole = &whole{of: a, get: sync.OnceValue(a.withCatalogue)}
	where := fmt.Sprintf("Config.Agents: agent %q: ", a.Name)
	if err := cmp.Or(
		budget.Check(where+"Budget", a.Budget, c.Prices.Pricer != nil), budget.CheckAction(where+"OnBudget", a.OnBudget),
	); err != nil {
		return err
	}
	if err := cmp.Or(c.checkFallbacks(a, where), a.checkTransfers(where)); err != nil {
		return err
	}
	a.OnBudget = cmp.Or(a.OnBudget, c.OnBudget)
	a.WhenBusy = cmp.Or(a.WhenBusy, c.WhenBusy)
	if !a.WhenBusy.Known() {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has no WhenBusy of the name %q", a.Name, a.WhenBusy)
	}
	if a.Revisions = cmp.Or(a.Revisions, spool.RevisionsFollow); !a.Revisions.Known() {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has no Revisions of the name %q", a.Name, a.Revisions)
	}
	if a.Queue != "" {
		if err := wire.CheckQueue(where+"Queue", a.Queue); err != nil {
			return err
		}
	}
	if a.MaxSteps == 0 {
		a.MaxSteps = defaultMaxSteps
	}
	a.ClientTools = cmp.Or(a.ClientTools, defaultClientTools)
	a.ClientContext = cmp.Or(a.ClientContext, defaultClientContext)
	if err := cmp.Or(a.checkTools(), a.checkSources()); err != nil {
		return err
	}
	if err := a.checkProviderOptions(); err != nil {
		return err
	}
	if err := a.compileOutput(); err != nil {
		return spool.Errorf(spool.Invalid, "%s%s", where, spool.MessageOf(err))
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
		case t.Name == spool.TransferTool && len(a.Transfers) > 0:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has Transfers and a tool of the name %q", a.Name, t.Name)
		case catalogue.Is(t.Name) && searches(a.Tools):
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has tools with Search and a tool of the name %q", a.Name,
				t.Name)
		case seen[t.Name]:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has two tools of the name %q", a.Name, t.Name)
		case t.Call == nil:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the tool %q without a Call", a.Name, t.Name)
		}
		if err := t.Expiry.Check(); err != nil {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the tool %q whose %s", a.Name, t.Name,
				spool.MessageOf(err))
		}
		if t.PendingTimeout < 0 {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the tool %q whose PendingTimeout is negative",
				a.Name, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

// Tool returns the agent's tool of that name.
func (a *Agent) Tool(name string) (spool.Tool, bool) {
	for i := range a.Tools { // a catalogue has many, and a tool is large
		if a.Tools[i].Name == name {
			return a.Tools[i], true
		}
	}
	return spool.Tool{}, false
}

// WithTool returns the agent with a tool of the engine, unless the agent has a tool of its name.
func (a *Agent) WithTool(t spool.Tool) *Agent {
	if _, has := a.Tool(t.Name); has {
		return a
	}
	own := *a
	own.Tools = append(slices.Clip(a.Tools), t)
	return &own
}

// ByName returns the named agent, or the default one for "". It returns [wire.ErrUnknownAgent] if
// this process lacks the agent.
func (r *Registry) ByName(name string) (*Agent, error) {
	if name == "" {
		name = r.Agents[0].Name
	}
	if a := r.byName[name]; a != nil {
		return a, nil
	}
	return nil, &spool.Error{Code: spool.NotFound, Message: "unknown agent " + name, Err: wire.ErrUnknownAgent}
}

// RevisionOf returns the revision of a dispatched run's next segment, and the present agent. A pinned run keeps
// the revision that it has. The agent is nil if this process lacks it.
func (r *Registry) RevisionOf(run store.RunRow) (wire.RevisionID, *Agent) {
	a := r.byName[run.Agent]
	switch {
	case a == nil, a.Revisions == spool.RevisionsPin && run.Revision != "":
		return run.Revision, a
	default:
		return a.Revision, a
	}
}

// Names returns the names of the agents.
func (r *Registry) Names() []string {
	names := make([]string, len(r.Agents))
	for i, a := range r.Agents {
		names[i] = a.Name
	}
	return names
}

// QueueOf returns the queue of an agent's jobs. It returns the default queue, "", if this process lacks the
// agent.
func (r *Registry) QueueOf(name string) string {
	if a := r.byName[name]; a != nil {
		return a.Queue
	}
	return ""
}

// For returns the named agent, or the first agent if the name is empty. It considers only agents that
// the caller may use, and returns nil if none matches. So the caller cannot tell a forbidden agent from
// a missing one.
func (r *Registry) For(name string, tenant spool.Tenant, scopes []string) *Agent {
	for _, a := range r.Agents {
		if (name == "" || a.Name == name) && a.Access.Allows(tenant, scopes) {
			return r.byName[a.Name]
		}
	}
	return nil
}

// HasModelFor reports whether the caller may use the named model.
func (r *Registry) HasModelFor(name string, tenant spool.Tenant, scopes []string) bool {
	return r.Models[name] != nil && r.ModelAccess[name].Allows(tenant, scopes)
}

// Configured returns the agent of a dispatched run as it is configured, without the run's permissions. It
// returns nil if this process lacks the agent.
func (r *Registry) Configured(run store.RunRow) *Agent { return r.byName[run.Agent] }

// OfDispatched returns the agent of a dispatched run, with the run's permissions. It returns nil if
// this process lacks the agent.
func (r *Registry) OfDispatched(run store.RunRow) *Agent { return r.byName[run.Agent].Permitted(run) }

// OfRun returns the agent of a run. A nested run's agent depends on its ancestors. OfRun returns nil if
// this process lacks the agent.
func (r *Registry) OfRun(v store.View, id spool.RunID) (*Agent, error) {
	run, err := store.FindRun(v, id)
	if err != nil || run.ParentID == "" {
		return r.OfDispatched(run), err
	}
	above, err := r.OfRun(v, run.ParentID)
	if above == nil || err != nil {
		return nil, err
	}
	return above.Nested(run.Agent).Permitted(run), nil
}

// Model returns the named model, or the agent's model if the configuration no longer has the named one.
// It returns nil if the configuration has neither.
func (r *Registry) Model(name string, a *Agent) spool.Model {
	if m := r.Models[name]; m != nil || a == nil {
		return m
	}
	return r.Models[a.Model]
}

// Parameters returns the argument schema of a parked call's tool, or nil if this process lacks the
// tool.
func (r *Registry) Parameters(v store.View, p store.Park) (json.RawMessage, error) {
	agent, err := r.OfRun(v, p.CallerID())
	if err != nil || agent == nil {
		return nil, err
	}
	tool, _ := agent.Tool(p.ToolName)
	return tool.Parameters, nil
}

// Permitted returns the agent with only the tools that the run's subject may use, plus the two tools of its catalogue
// and the client's tools. The result depends only on data that the run keeps from its start, so it is the same in
// each process and after a restart. Permitted returns nil for a nil agent.
func (a *Agent) Permitted(run store.RunRow) *Agent {
	if a == nil {
		return nil
	}
	a = a.allowed(run)
	if run.Client == nil {
		return a
	}
	own := *a
	own.Tools = slices.Clone(a.Tools)
	if a.ClientTools >= 0 || len(run.Handovers) == 0 {
		own.addClientTools(run.Client.Tools)
	}
	return &own
}

// allowed returns the agent with only the tools that the run's subject may use, and its catalogue.
func (a *Agent) allowed(run store.RunRow) *Agent {
	withheld := func(t spool.Tool) bool { return !t.Access.Allows(run.Tenant, run.Scopes) }
	switch {
	case slices.ContainsFunc(a.Tools, withheld):
		own := *a
		own.Tools = slices.DeleteFunc(slices.Clone(a.Tools), withheld)
		return own.withCatalogue()
	case a.whole != nil && a.whole.of == a:
		return a.whole.get()
	default:
		return a.withCatalogue()
	}
}

// whole is a configured agent with its catalogue, for the runs that may use all of its tools: they share one, because a
// catalogue is large.
type whole struct {
	of  *Agent // a copy of the agent may have other tools
	get func() *Agent
}

// withCatalogue returns the agent with its catalogue and the two tools of it, or the agent itself if it has none.
func (a *Agent) withCatalogue() *Agent {
	found := catalogue.Of(a.Tools)
	if found == nil {
		return a
	}
	own := *a
	own.Catalogue, own.Tools = found, append(slices.Clip(a.Tools), found.Tools()...)
	return &own
}

// searches reports whether a list has tools that the model has to find.
func searches(tools []spool.Tool) bool {
	return slices.ContainsFunc(tools, func(t spool.Tool) bool { return t.Search })
}
