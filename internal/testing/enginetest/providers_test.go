package enginetest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// TestProviders does random campaigns whose models are the adapters of all providers, over strict fakes that answer
// 400 if an answer comes back stripped, moved or to another model. See [runSeeds] for its variables.
func TestProviders(t *testing.T) {
	t.Parallel()

	var all tally
	runSeeds(t, 1000, 15*time.Second, func(t *testing.T, seed uint64, rest func()) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c, p := providerCampaign(newEngineTest(t, inMemory), seed, rest, nil)
			for _, why := range p.refusals() {
				t.Errorf("a provider answers 400: %s", why)
			}
			if t.Failed() {
				t.Logf("the thread: %s", asJSON(c.history.Threads))
				t.Logf("again: SPOOL_SEED=%d go test ./internal/testing/enginetest -run '^TestProviders$' -v", seed)
			}
			all.add(c.history, p.asked())
		})
	})
	t.Cleanup(func() {
		all.report(t, "changes of the model between turns", "branches", "parks", "lost segments", "nested runs",
			"entries STEERED",
			"entries CONTEXT_COMPACTED", "entries MODEL_FALLBACK", "entries MESSAGES_DROPPED", "entries HITL_RESPONSE")
	})
}

// providerCampaign does one campaign. Wrap may replace the models; nil: they stay as they are.
func providerCampaign(
	s *engineTest, seed uint64, rest func(), wrap func(name string, m spool.Model) spool.Model,
) (*campaign, *peers) {
	s.Helper()
	c := newCampaign(s, engine.Config{}, seed, seed%2 == 0)
	s.Cleanup(func() { c.trace.report(s.T, seed) })
	if !raceDetector {
		c.inTurns(rest, rest != nil || os.Getenv("SPOOL_TRACE") != "")
	}
	p := newPeers(c)
	if wrap != nil {
		for name, m := range p.models {
			p.models[name] = wrap(name, m)
		}
	}
	if seed/2%4 == 0 {
		c.config = nestedTest{s}.treeConfig(nil, c.tools()...)
		c.config.Agents[0].Spawn.MaxConcurrent, c.config.Agents[0].Spawn.MaxDepth = 1+c.n(3), 1+c.n(2)
	} else {
		c.config = s.config(nil, c.tools()...)
	}
	c.config.Models = p.models
	base := c.config.Agents[0]
	c.config.Agents = nil
	for i := range 4 { // one agent for each provider
		a := base
		a.Name, a.Model = fmt.Sprintf("a%d", i), p.names[2*i+c.n(2)]
		for n := range c.n(4) {
			if name := p.names[(2*i+2+n*3+c.n(2))%len(p.names)]; name != a.Model && !slices.Contains(a.Fallbacks, name) {
				a.Fallbacks = append(a.Fallbacks, name)
			}
		}
		c.config.Agents = append(c.config.Agents, a)
	}
	c.choose = func(r *wire.StartRequest) {
		r.Agent = c.config.Agents[c.n(4)].Name
		if c.n(3) == 0 {
			r.Model = p.names[c.n(len(p.names))]
		}
	}
	if seed%5 < 3 {
		c.config.Context.Windows = make(map[string]int)
		for _, name := range p.names {
			c.config.Context.Windows[name] = 300 + 200*c.n(4)
		}
	}
	c.config.Retry.Deaths, c.config.ParkTTL = 1000, 2*time.Minute
	c.wander()
	return c, p
}
