package option

import (
	"cmp"

	"github.com/spoolhq/spool"
)

// maxTailShare is the largest TailShare with which a compaction still shortens a prompt clearly.
const maxTailShare = 0.5

// Context say how the engine keeps histories within the context windows of models.
type Context struct {
	// Ceiling bounds the tokens of a prompt and its answer if the model's window is larger or unknown.
	// Defaults to 265,000.
	Ceiling int
	// CompactionModel names the model that summarises older messages when a history gets too long.
	// Defaults to the model of the run.
	CompactionModel string
	// CompactionTrigger is the share of a prompt's room at which the engine summarises older messages.
	// If it is negative, the engine never does, and a context overflow fails the run. Defaults to 0.8.
	CompactionTrigger float64
	// OutputReserve is how many tokens of a window are kept for the answer, unless the agent has a
	// MaxOutputTokens. It is never more than a quarter of the window. Defaults to 16,000.
	OutputReserve int
	// TailShare is the share of a prompt's room that the newest messages may take without being
	// summarised. Defaults to 0.25.
	TailShare float64
	// Windows maps names of the engine's models to window sizes in tokens, for models whose
	// ContextWindow is unknown. Defaults to the sizes that adapters know for well-known models
	// ([spool.ModelInfo.KnownWindow]).
	Windows map[string]int
}

func (o *Context) fill() error {
	o.CompactionTrigger = cmp.Or(o.CompactionTrigger, 0.8)
	o.TailShare = cmp.Or(o.TailShare, 0.25)
	switch {
	case o.CompactionTrigger > 1 || o.CompactionTrigger != o.CompactionTrigger:
		return spool.Errorf(spool.Invalid, "Config.Context.CompactionTrigger is more than 1")
	case !(o.TailShare > 0 && o.TailShare <= maxTailShare):
		return spool.Errorf(spool.Invalid, "Config.Context.TailShare is not between 0 and %g", maxTailShare)
	case o.CompactionTrigger > 0 && o.TailShare >= o.CompactionTrigger:
		return spool.Errorf(spool.Invalid, "Config.Context.TailShare is not less than CompactionTrigger")
	}
	for name, window := range o.Windows {
		if window <= 0 {
			return spool.Errorf(spool.Invalid, "Config.Context.Windows[%q] is not positive", name)
		}
	}
	return cmp.Or(
		or("Context.Ceiling", &o.Ceiling, 265_000),
		or("Context.OutputReserve", &o.OutputReserve, 16_000),
	)
}
