package wire

import (
	"github.com/spoolhq/spool"
)

// ContextCompacted is the payload of [EntryContextCompacted].
type ContextCompacted struct {
	// SummarizedMessages counts the messages that the summary replaces for the model.
	SummarizedMessages int `json:"summarizedMessages"`
	// MessageID is the message with the summary.
	MessageID spool.MessageID `json:"messageId,omitempty"`
	// AgentID is the nested run whose messages they are. Left out: the run's own agent's.
	AgentID spool.AgentID `json:"agentId,omitempty"`
}
