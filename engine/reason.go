package engine

import "github.com/spoolhq/spool"

// The reasons of a refused start, stop, answer, deletion, restore or redrive.
const (
	ReasonActiveRun        = spool.ReasonActiveRun
	ReasonQueueFull        = spool.ReasonQueueFull
	ReasonRunIDUsed        = spool.ReasonRunIDUsed
	ReasonKeyReused        = spool.ReasonKeyReused
	ReasonNotFound         = spool.ReasonNotFound
	ReasonNotEditable      = spool.ReasonNotEditable
	ReasonNotRestorable    = spool.ReasonNotRestorable
	ReasonNotActive        = spool.ReasonNotActive
	ReasonMovedOn          = spool.ReasonMovedOn
	ReasonNoPark           = spool.ReasonNoPark
	ReasonAnswered         = spool.ReasonAnswered
	ReasonSameApprover     = spool.ReasonSameApprover
	ReasonChanged          = spool.ReasonChanged
	ReasonCompacting       = spool.ReasonCompacting
	ReasonNothingToCompact = spool.ReasonNothingToCompact
)
