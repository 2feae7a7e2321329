package engine

import (
	"cmp"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/spoolhq/spool"
)

const defaultMaxSteps = 25

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// check returns the configuration with its defaults filled in, and its agents by name.
func (c Config) check() (Config, map[string]*Agent, error) {
	for _, f := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"AuditRetention", &c.AuditRetention, auditRetention},
		{"FlushEvery", &c.FlushEvery, 50 * time.Millisecond},
		{"Keepalive", &c.Keepalive, 15 * time.Second},
		{"Lease", &c.Lease, 30 * time.Second},
		{"ParkTTL", &c.ParkTTL, 15 * time.Minute},
		{"Poll", &c.Poll, time.Second},
		{"Retention", &c.Retention, 0},
		{"RetryAfterMax", &c.RetryAfterMax, 15 * time.Minute},
		{"RetryBackoff", &c.RetryBackoff, 5 * time.Second},
		{"RetryBackoffMax", &c.RetryBackoffMax, 2 * time.Minute},
		{"RetryHint", &c.RetryHint, time.Second},
		{"StopPoll", &c.StopPoll, 500 * time.Millisecond},
		{"StreamGrace", &c.StreamGrace, 10 * time.Minute},
		{"SweepEvery", &c.SweepEvery, 5 * time.Second},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 0 && f.name != "FlushEvery" && f.name != "AuditRetention" {
			return c, nil, spool.Errorf(spool.Invalid, "Config.%s is negative", f.name)
		}
	}
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"ContextCeiling", &c.ContextCeiling, defaultContextCeiling},
		{"ContextOutputReserve", &c.ContextOutputReserve, defaultOutputReserve},
		{"FlushItems", &c.FlushItems, 32},
		{"MaxAttempts", &c.MaxAttempts, 3},
		{"MaxDeaths", &c.MaxDeaths, 10},
		{"MaxPromptBytes", &c.MaxPromptBytes, 256 << 10},
		{"MaxWaiting", &c.MaxWaiting, 16},
		{"SnapshotMemory", &c.SnapshotMemory, 128 << 20},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < 0 {
			return c, nil, spool.Errorf(spool.Invalid, "Config.%s is negative", f.name)
		}
	}
	if c.MaxQueueDepth < 0 || c.MaxTenantDepth < 0 || c.MaxTenantBytes < 0 {
		return c, nil, spool.Errorf(spool.Invalid, "Config.MaxQueueDepth, MaxTenantDepth and MaxTenantBytes must not be negative")
	}
	c, err := c.checkBounds()
	if err != nil {
		return c, nil, err
	}
	c, err = c.checkContext()
	if err != nil {
		return c, nil, err
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	for _, b := range []struct {
		where  string
		budget spool.Budget
	}{{"Config.", c.Budget}, {"Config.Max", c.MaxBudget}} {
		if err := c.checkBudget(b.where, b.budget, &c.OnBudget); err != nil {
			return c, nil, err
		}
	}
	c.OnBudget = cmp.Or(c.OnBudget, spool.BudgetEnd)
	c.WhenBusy = cmp.Or(c.WhenBusy, spool.BusyReject)
	if !c.WhenBusy.Known() {
		return c, nil, spool.Errorf(spool.Invalid, "Config.WhenBusy has no policy of the name %q", c.WhenBusy)
	}
	if c.Attachments, err = c.Attachments.check(); err != nil {
		return c, nil, err
	}
	for name := range c.ModelAccess {
		if c.Models[name] == nil {
			return c, nil, spool.Errorf(spool.Invalid, "Config.ModelAccess names %q, which Config.Models lacks", name)
		}
	}
	agents, err := c.checkAgents()
	return c, agents, err
}

// checkContext returns the configuration with how histories are kept within windows.
func (c Config) checkContext() (Config, error) {
	if c.CompactionTrigger == 0 {
		c.CompactionTrigger = defaultTrigger
	}
	if c.ContextTailShare == 0 {
		c.ContextTailShare = defaultTailShare
	}
	switch {
	case c.CompactionModel != "" && c.Models[c.CompactionModel] == nil:
		return c, spool.Errorf(spool.Invalid, "Config.CompactionModel is %q, which Config.Models lacks", c.CompactionModel)
	case c.CompactionTrigger > 1 || c.CompactionTrigger != c.CompactionTrigger:
		return c, spool.Errorf(spool.Invalid, "Config.CompactionTrigger is more than 1")
	case !(c.ContextTailShare > 0 && c.ContextTailShare <= maxTailShare):
		return c, spool.Errorf(spool.Invalid, "Config.ContextTailShare is not between 0 and %g", maxTailShare)
	}
	if c.CompactionTrigger > 0 && c.ContextTailShare >= c.CompactionTrigger {
		return c, spool.Errorf(spool.Invalid, "Config.ContextTailShare is not less than CompactionTrigger")
	}
	for name, window := range c.Windows {
		if window <= 0 {
			return c, spool.Errorf(spool.Invalid, "Config.Windows[%q] is not positive", name)
		}
	}
	return c, nil
}

func (c Config) checkAgents() (map[string]*Agent, error) {
	if len(c.Agents) == 0 {
		return nil, spool.Errorf(spool.Invalid, "Config.Agents is empty")
	}
	agents := make(map[string]*Agent, len(c.Agents))
	for _, a := range c.Agents {
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
	return agents, nil
}

// checkAgent fills in what an agent leaves out and says what is wrong with it.
func (c Config) checkAgent(a *Agent) error {
	if c.Models[a.Model] == nil {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has the model %q, which Config.Models lacks", a.Name, a.Model)
	}
	if a.MaxSteps < 0 {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a negative MaxSteps", a.Name)
	}
	if err := c.checkBudget(fmt.Sprintf("Config.Agents: agent %q: ", a.Name), a.Budget, &a.OnBudget); err != nil {
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
		case t.Name == SpawnTool && a.Spawn != nil:
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

// tool returns the agent's tool of that name.
func (a *Agent) tool(name string) (spool.Tool, bool) {
	for _, t := range a.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return spool.Tool{}, false
}

// agent returns the agent of that name, the default one for "".
func (e *Engine) agent(name string) (*Agent, error) {
	if name == "" {
		name = e.config.Agents[0].Name
	}
	if a := e.agents[name]; a != nil {
		return a, nil
	}
	return nil, &spool.Error{Code: spool.NotFound, Message: "unknown agent " + name, Err: spool.ErrUnknownAgent}
}

// HasAgent reports whether this process can carry out a job that names the agent. The
// empty name is the default agent's.
func (e *Engine) HasAgent(name string) bool {
	_, err := e.agent(name)
	return err == nil
}
