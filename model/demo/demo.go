// Package demo is not a language model. It stands in for one, so that threads, tools,
// approvals, streaming and usage can be seen and tested without a key or a network: it
// repeats what it was told and calls the tools it was told to call.
//
// What it understands in the last message of the user:
//
//	use <tool> with {json}                                  calls a tool
//	use <tool> with {json} and use <tool> with {json}       calls two tools in one step
//	use <tool> with {json} then use <tool> with {json}      calls the second in a step of its own
//	ask <name> to <brief>                                   spawns a nested run, if it may
//	ask <name> to <brief> and ask <name> to <brief>         spawns two that work at once
//	slow <n>                                                streams n words, slowly
//
// Where it is to summarise, it says how each prompt began. To everything else it answers with the prompt. The same history always gets the same
// answer, tool call ids included.
package demo

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
)

// Label is in every text that the model writes.
const Label = "(demo model, not a language model)"

// ModelID is the name by which the model reports itself.
const ModelID = "demo"

const (
	defaultSlowDelay = 200 * time.Millisecond
	defaultWindow    = 32_768
	// usageEvery is after how many words the usage is told again.
	usageEvery = 16
)

// Config configures a [Model]. The zero value works.
type Config struct {
	// ContextWindow is how many tokens the model pretends to have room for.
	//
	// Defaults to 32,768.
	ContextWindow int

	// Delay is the pause before each word and each piece of a tool call.
	//
	// Defaults to none.
	Delay time.Duration

	// SlowDelay is the pause before each word of the answer to "slow <n>". It is long
	// enough for a person to press stop.
	//
	// Defaults to 200 milliseconds, or Delay where that is longer.
	SlowDelay time.Duration
}

// Model is a [spool.Model] that is no language model.
type Model struct{ config Config }

var _ spool.Model = (*Model)(nil)

// New returns a model.
func New(config Config) *Model {
	if config.SlowDelay == 0 {
		config.SlowDelay = max(defaultSlowDelay, config.Delay)
	}
	if config.ContextWindow == 0 {
		config.ContextWindow = defaultWindow
	}
	return &Model{config: config}
}

// Describe returns "spool" and [ModelID].
func (m *Model) Describe() (provider, model string) { return "spool", ModelID }

// ContextWindow returns the tokens that the model pretends to have room for.
func (m *Model) ContextWindow() int { return m.config.ContextWindow }

// Stream answers as the package comment says. Its only error is ctx's.
func (m *Model) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		w := &writer{
			ctx:   ctx,
			yield: yield,
			delay: m.config.Delay,
			left:  r.MaxOutputTokens,
			usage: promptUsage(r),
		}
		p := answer(r)
		if p.slow {
			w.delay = m.config.SlowDelay
		}
		if err := w.plan(p); err != nil && !w.stopped {
			yield(nil, err)
		}
	}
}
