// Package demo has a model that is not a language model. It shows and tests threads, tools, approvals,
// streaming and usage without a key or a network: the model repeats its prompt, and calls the tools
// that the prompt names.
//
// The model understands these prompts:
//
//	use <tool> with {json}                                  calls a tool
//	use <tool> with {json} and use <tool> with {json}       calls two tools in one step
//	use <tool> with {json} then use <tool> with {json}      calls the second in a step of its own
//	ask <name> to <brief>                                   spawns a nested run, if the agent may
//	ask <name> to <brief> and ask <name> to <brief>         spawns two nested runs at once
//	slow <n>                                                streams n words, slowly
//	misfit                                                  answers with a value that does not fit the schema
//
// If a request asks for a JSON value, the answer is a small value that fits the schema: "demo" for a text, 1
// for a number. The calls that the prompt asks for come first, unless the request forbids calls.
//
// A summary contains the beginning of each prompt. The model answers every other prompt with the prompt
// itself. The same history always gets the same answer, with the same tool call ids.
package demo

import (
	"context"
	"iter"
	"time"

	"github.com/spoolhq/spool"
)

// Label is at the beginning of every text of the model, except JSON values.
const Label = "(demo model, not a language model)"

// ModelID is the name of the model.
const ModelID = "demo"

const (
	defaultSlowDelay = 200 * time.Millisecond
	defaultWindow    = 32_768
	// usageEvery is the number of words between two usage reports.
	usageEvery = 16
)

// Config configures a [Model]. The zero value works.
type Config struct {
	// ContextWindow is the size of the context window that the model reports, in tokens.
	//
	// Defaults to 32,768.
	ContextWindow int

	// Delay is the pause before each word and each piece of a tool call.
	//
	// Defaults to none.
	Delay time.Duration

	// SlowDelay is the pause before each word of the answer to "slow <n>". It gives a person time to
	// press stop.
	//
	// Defaults to 200 milliseconds, or to Delay if that is longer.
	SlowDelay time.Duration
}

// Model is a [spool.Model] that is not a language model.
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

// Describe implements [spool.Described]. The name of the model is [ModelID].
func (m *Model) Describe() spool.ModelInfo {
	return spool.ModelInfo{Provider: "spool", Model: ModelID, ContextWindow: m.config.ContextWindow}
}

// Stream answers as the package comment describes. Its only error is the error of ctx.
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
