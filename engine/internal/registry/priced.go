package registry

import (
	"context"
	"maps"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Caller is a start for which [Registry.CheckPrices] checks an agent.
type Caller struct {
	// Model is the name of the run's model.
	Model  string
	Tenant spool.Tenant
	Scopes []string
}

// CheckBudgets returns an [spool.Invalid] error for an agent whose runs have a budget of money by their
// configuration, and can reach a model that the budget does not bound.
func (r *Registry) CheckBudgets(each, most spool.Budget) error {
	for _, a := range r.Agents {
		err := r.CheckPrices(context.Background(), r.byName[a.Name], a.Budget.Or(each).Within(most), nil)
		if err != nil {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q: %s", a.Name, spool.MessageOf(err))
		}
	}
	return nil
}

// CheckPrices returns an [spool.Invalid] error if a run of the agent can reach a model that its budget of money does
// not bound, because the model has no price or one in another currency. A nil caller may use every agent, and has the
// agent's own model. A model that an agent names when it spawns a run is checked before its first call.
func (r *Registry) CheckPrices(ctx context.Context, a *Agent, b spool.Budget, by *Caller) error {
	if b.CostMicros == 0 || r.Prices.AllowUnpriced {
		return nil
	}
	reached := reach{registry: r, by: by}
	if by == nil {
		reached.agent(a, a.Model)
	} else {
		reached.agent(a, by.Model)
	}
	currency, first := b.Currency, ""
	for _, use := range reached.uses {
		its, ok := r.Prices.Currency(ctx, use.agent, use.model, r.Models[use.model])
		switch {
		case !ok:
			return spool.Errorf(spool.Invalid, "costBudgetMicros cannot be kept, because the model %q has no price: "+
				"set prices.%s, or budget.unpriced to allow", use.model, use.model)
		case its == "":
		case currency == "":
			currency, first = its, use.model
		case its != currency && first == "":
			return spool.Errorf(spool.Invalid,
				"costBudgetMicros cannot be kept, because the model %q has its price in %s and not in %s: "+
					"set prices.%s, or budget.unpriced to allow", use.model, its, currency, use.model)
		case its != currency:
			return spool.Errorf(spool.Invalid,
				"costBudgetMicros cannot be kept, because the model %q has its price in %s, and %q in %s: "+
					"set prices.%s, or budget.unpriced to allow", use.model, its, first, currency, use.model)
		}
	}
	return nil
}

// modelUse is a model that an agent can reach.
type modelUse struct{ agent, model string }

// reach collects the models that a run can reach.
type reach struct {
	registry *Registry
	by       *Caller
	uses     []modelUse
	seen     []reachedAgent
}

type reachedAgent struct {
	*Agent

	model string
}

// agent adds what an agent reaches whose run has the given model: fallbacks, the model that summarises, the runs that
// it can spawn, and the agents that it can hand the thread to.
func (r *reach) agent(a *Agent, model string) {
	if slices.Contains(r.seen, reachedAgent{a, model}) {
		return
	}
	r.seen = append(r.seen, reachedAgent{a, model})
	for _, name := range append([]string{model, r.registry.CompactionModel}, a.Fallbacks...) {
		if use := (modelUse{a.Name, name}); name != "" && !slices.Contains(r.uses, use) {
			r.uses = append(r.uses, use)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.profiles)) {
		if p := a.profiles[name]; p.InheritModel {
			r.agent(p, model)
		} else {
			r.agent(p, p.Model)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Transfers)) {
		to := r.registry.byName[name]
		if r.by != nil {
			to, _ = r.registry.Successor(a, store.RunRow{
				Run:      wire.Run{Tenant: r.by.Tenant},
				RunState: store.RunState{Scopes: r.by.Scopes},
			}, name)
		}
		if to != nil {
			r.agent(to, to.Model)
		}
	}
}
