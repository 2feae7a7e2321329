package engine

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/pricing"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Config configures an [Engine]. Agents and Models are required; the zero value of every other field
// is its default.
type Config struct {
	// Agents are the agents that execute runs. The first is the default.
	Agents []spool.Agent
	// Models maps the names that agents and starts use to models.
	Models map[string]spool.Model

	// Artifacts stores files that are too large for messages: attachments, results of tools, and files that tools and
	// models make. All processes of a store need the same one. Defaults to the engine's own store, for the files that
	// tools and models make, within the bounds of [option.Limits.FileBytes]. Messages then have large attachments and
	// results themselves.
	Artifacts store.ArtifactStore
	// Attachments says which images a user turn may have, and who fetches them. Defaults to up to 8
	// images of up to 5 MiB in the common formats, whose URLs are given to the model.
	Attachments option.Attachments
	// Budget says which budgets runs have. Defaults to none.
	Budget option.Budget
	// ClientToolTTL is how long a call waits for the client that runs the tool: see [wire.ClientTool].
	// Defaults to 15 min.
	ClientToolTTL time.Duration
	// Context says how the engine keeps histories within the context windows of models.
	Context option.Context
	// Limits bounds what clients, models and tenants may do.
	Limits option.Limits
	// Log takes messages for the operator. Defaults to [slog.Default].
	Log *slog.Logger
	// ModelAccess says who may use a model, by its name in Models. A start that names a forbidden model
	// is refused as if the model did not exist. Defaults to everybody.
	ModelAccess map[string]spool.Access
	// OnSettle is called once for each run, however the run ends. The call comes before the end state
	// is written, or soon after if the run ended while it waited for its thread. OnSettle is called
	// again after a crash or an error. If it returns an error, a run that would complete fails.
	// Defaults to none.
	OnSettle func(ctx context.Context, s wire.Settlement) error
	// ParkTTL is how long a park waits for a person's answer if the tool does not say. Defaults to 7 days.
	ParkTTL time.Duration
	// Pricer returns the cost of model calls. Defaults to none: no call has a price.
	Pricer price.Pricer
	// ProviderLimits says what the providers of models allow, by the models' names in Models. All engines of
	// a store share the limits. A model call waits until they allow it. Defaults to no limits.
	ProviderLimits map[string]option.ProviderLimit
	// Random is the source of ids and of the random part of waits. A test can replace it to get the
	// same values again. It must be safe for concurrent use and must not fail. Defaults to crypto/rand.
	Random io.Reader
	// Retention says how long data is kept. By default, threads are kept for ever, and the audit log
	// for 400 days.
	Retention option.Retention
	// Retry says how often failed steps are tried again, and when.
	Retry option.Retry
	// Schedules say which runs start by themselves, and who may make schedules.
	Schedules option.Schedules
	// SingleProcess says that no other process uses the store while this engine does. A store that
	// several processes may share then needs no [store.Backend.Live]. Defaults to false.
	SingleProcess bool
	// Stream says how run streams are written, and how clients follow them.
	Stream option.Stream
	// StrictProviderOptions refuses a start whose ProviderOptions have a key that the agent does not allow. Defaults to
	// false: such keys are ignored, and the result has a warning.
	StrictProviderOptions bool
	// Telemetry says where spans and metrics go. Defaults to none.
	Telemetry Telemetry
	// Webhooks say which endpoints are told of events. All engines of a store need the same Vault, and a Sender if one of
	// them has it. Defaults to none.
	Webhooks option.Webhooks
	// WhenBusy says what a start does on a thread with an active run, if neither the start nor its
	// agent says so. Defaults to [spool.BusyReject].
	WhenBusy spool.WhenBusy
	// Worker says how long workers keep their runs, and how often they look for work.
	Worker option.Worker
}

// check fills in the defaults and returns the configuration and its registry of agents.
func (c Config) check() (Config, *registry.Registry, error) {
	if err := option.Fill(
		&c.Attachments, &c.Context, &c.Limits, &c.Retention, &c.Retry, &c.Schedules, &c.Stream, &c.Webhooks, &c.Worker,
	); err != nil {
		return c, nil, err
	}
	priced := c.Pricer != nil
	if err := cmp.Or(
		budget.Check("Config.Budget.Default", c.Budget.Default, priced),
		budget.Check("Config.Budget.Max", c.Budget.Max, priced),
		budget.CheckAction("Config.Budget.OnBudget", c.Budget.OnBudget),
	); err != nil {
		return c, nil, err
	}
	limits, err := option.CheckProviderLimits(c.ProviderLimits, c.Models)
	if err != nil {
		return c, nil, err
	}
	c.ProviderLimits = limits
	c.Budget.OnBudget = cmp.Or(c.Budget.OnBudget, spool.BudgetEnd)
	c.Log = cmp.Or(c.Log, slog.Default())
	c.ClientToolTTL = cmp.Or(c.ClientToolTTL, 15*time.Minute)
	c.ParkTTL = cmp.Or(c.ParkTTL, 7*24*time.Hour)
	c.WhenBusy = cmp.Or(c.WhenBusy, spool.BusyReject)
	switch summarizer := c.Context.CompactionModel; {
	case c.ClientToolTTL < 0:
		return c, nil, spool.Errorf(spool.Invalid, "Config.ClientToolTTL is negative")
	case c.ParkTTL < 0:
		return c, nil, spool.Errorf(spool.Invalid, "Config.ParkTTL is negative")
	case !c.WhenBusy.Known():
		return c, nil, spool.Errorf(spool.Invalid, "Config.WhenBusy has no policy of the name %q", c.WhenBusy)
	case summarizer != "" && c.Models[summarizer] == nil:
		return c, nil, spool.Errorf(spool.Invalid, "Config.Context.CompactionModel is %q, which Config.Models lacks",
			summarizer)
	}
	for name := range c.ModelAccess {
		if c.Models[name] == nil {
			return c, nil, spool.Errorf(spool.Invalid, "Config.ModelAccess names %q, which Config.Models lacks", name)
		}
	}
	agents, err := registry.New(registry.Config{
		Agents: c.Agents, Models: c.Models, ModelAccess: c.ModelAccess, MaxPromptBytes: c.Limits.PromptBytes,
		OnBudget: c.Budget.OnBudget, WhenBusy: c.WhenBusy, CompactionModel: c.Context.CompactionModel,
		Prices: pricing.Prices{Pricer: c.Pricer, AllowUnpriced: c.Budget.AllowUnpriced, Log: c.Log},
	})
	if err != nil {
		return c, nil, err
	}
	return c, agents, agents.CheckBudgets(c.Budget.Default, c.Budget.Max)
}

func (c Config) rules(agents *registry.Registry) thread.Rules {
	return thread.Rules{
		Lease: c.Worker.Lease, Settles: c.OnSettle != nil, MaxWaiting: c.Limits.Waiting, MaxBudget: c.Budget.Max,
		ParkTTL: c.ParkTTL, ClientToolTTL: c.ClientToolTTL, Retry: c.Retry, Random: random.Source{From: c.Random}, Log: c.Log,
		QueueOf: agents.QueueOf, Parameters: agents.Parameters,
	}
}

// limiter returns what makes model calls wait for the limits of their providers.
func (c Config) limiter(db store.Store, from random.Source) *quota.Limiter {
	groups := make(map[string]quota.Group, len(c.ProviderLimits))
	for model, l := range c.ProviderLimits {
		groups[model] = quota.Group{
			Name: l.Group, Limit: quota.Limit{Concurrent: int64(l.Concurrent), Requests: int64(l.RPM), Tokens: int64(l.TPM)},
		}
	}
	return quota.New(quota.Settings{Store: db, Random: from, Log: c.Log, Lease: c.Worker.Lease}, groups)
}
