package spool

// ContextCount is the size of an agent's prompt as its provider last counted it. What the
// same agent is asked next is measured by it: see [RunState.Context].
type ContextCount struct {
	// Tokens are those of the prompt, and Answer those of what the model then said. Behind a
	// compaction, Tokens is an estimate and Answer zero.
	Tokens int64 `json:"tokens"`
	Answer int64 `json:"answer,omitempty"`
	// Bytes and Images are what the prompt consisted of.
	Bytes  int64 `json:"bytes"`
	Images int64 `json:"images,omitempty"`
	// Messages counts the messages of the agent when it was asked, those that the prompt had
	// a summary of included, and LastMessageID is the last of them.
	Messages      int       `json:"messages"`
	LastMessageID MessageID `json:"lastMessageId,omitempty"`
}

// ContextCompacted is the payload of [EntryContextCompacted].
type ContextCompacted struct {
	// SummarizedMessages counts the messages that the model sees no more as they were said.
	SummarizedMessages int `json:"summarizedMessages"`
	// MessageID is the message with the summary.
	MessageID MessageID `json:"messageId,omitempty"`
	// AgentID is the nested run whose messages they are. Empty: the run's own agent's.
	AgentID AgentID `json:"agentId,omitempty"`
}
