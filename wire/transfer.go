package wire

import (
	"github.com/spoolhq/spool"
)

// HandedOver is the payload of [EntryHandedOver].
type HandedOver struct {
	// Step is the step whose call handed the thread over.
	Step int    `doc:"The step whose call handed the thread over, from 1." json:"step"`
	From string `doc:"The agent that had the thread."                      json:"from"`
	To   string `doc:"The agent that has it from now on."                  json:"to"`
	// History is what the agent To sees of the thread.
	History spool.TransferHistory `doc:"What the other agent sees of the thread." enum:"all,brief" json:"history"`
}
