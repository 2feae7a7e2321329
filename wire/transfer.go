package wire

import (
	"github.com/spoolhq/spool"
)

// HandedOver is the payload of [EntryHandedOver].
type HandedOver struct {
	// Step is the step whose call handed the thread over, from 1.
	Step int    `json:"step"`
	From string `json:"from"` // The agent that had the thread.
	To   string `json:"to"`   // The agent that has it from now on.
	// History is what the other agent sees of the thread.
	History spool.TransferHistory `enum:"all,brief" json:"history"`
}
