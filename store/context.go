package store

import (
	"github.com/spoolhq/spool"
)

// ContextCount is the size of an agent's prompt as its provider last counted it. The estimate of the
// agent's next prompt starts from it: see [RunState.Context].
type ContextCount struct {
	// Tokens are the tokens of the prompt, and Answer those of the model's answer. After a
	// compaction, Tokens is an estimate and Answer is zero.
	Tokens int64 `json:"tokens"`
	Answer int64 `json:"answer,omitempty"`
	// Bytes and Images are the size of the prompt. Bytes counts three for each token that a text is estimated to have.
	Bytes  int64 `json:"bytes"`
	Images int64 `json:"images,omitempty"`
	// Messages counts the agent's messages at the time of the request, including those that a summary stood
	// for. LastMessageID is the last of them.
	Messages      int             `json:"messages"`
	LastMessageID spool.MessageID `json:"lastMessageId,omitempty"`
}
