package wire

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// Event is an entry of a thread's record, or a notice. Each type has a payload of its own.
type Event struct {
	_ struct{} `doc:"An entry of a thread's record, or a notice, by its type. An application's own entries and notices have other types (ApplicationEvent). Ignore a type that you do not know."`

	RunStarted              *runStartedEvent
	RunEnded                *runEndedEvent
	InputRequired           *inputRequiredEvent
	InputExpiring           *inputExpiringEvent
	InputExtended           *inputExtendedEvent
	InputExpired            *inputExpiredEvent
	HITLResponse            *hitlResponseEvent
	MessagesDropped         *messagesDroppedEvent
	MessagesRestored        *messagesRestoredEvent
	ContextCompacted        *contextCompactedEvent
	TokenBudgetExhausted    *tokenBudgetExhaustedEvent
	CostBudgetExhausted     *costBudgetExhaustedEvent
	ToolCallBudgetExhausted *toolCallBudgetExhaustedEvent
	TimeBudgetExhausted     *timeBudgetExhaustedEvent
	TimeLimitReached        *timeLimitReachedEvent
	StorageLimitReached     *storageLimitReachedEvent
	RunRefused              *runRefusedEvent
	StateChange             *stateChangeEvent
	MessageAppended         *messageAppendedEvent
	ThreadDeleted           *threadDeletedEvent
}

// envelope is what all events have.
type envelope struct {
	ThreadID  spool.ThreadID `doc:"Its thread."                                                                                     json:"threadId"`
	Seq       int64          `doc:"Its number in the thread's record, from 1 without a gap. Zero: a notice, which is in no record." json:"seq"`
	CreatedAt time.Time      `doc:"When it happened."                                                                               json:"createdAt"`
	RunID     spool.RunID    `doc:"The run that it belongs to, if any."                                                             json:"runId,omitempty"`
}

// ApplicationEvent is an event that an application has published.
type ApplicationEvent struct {
	Type spool.EntryType `doc:"What the application calls it: none of the types of Event." example:"INVOICE_PAID" json:"type"`
	envelope

	Payload         json.RawMessage `doc:"Any JSON."                         json:"payload"`
	PublishedBy     string          `doc:"The subject who published it."     json:"publishedBy,omitempty"`
	PublishedByTool string          `doc:"The tool whose call published it." json:"publishedByTool,omitempty"`
}

// EventOf returns an event that an application has published.
func EventOf(e spool.Entry) ApplicationEvent {
	return ApplicationEvent{e.Type, envelope{e.ThreadID, e.Seq, e.CreatedAt, e.RunID}, e.Payload, e.PublishedBy, e.PublishedByTool}
}

type (
	runStartedEvent struct {
		_ struct{} `doc:"A worker picked the run up: a reader moves to the stream."`

		Type spool.EntryType `const:"RUN_STARTED" json:"type"`
		envelope

		Payload spool.RunStarted `json:"payload"`
	}

	runEndedEvent struct {
		_ struct{} `doc:"The segment is over."`

		Type spool.EntryType `const:"RUN_ENDED" json:"type"`
		envelope

		Payload spool.RunEnded `json:"payload"`
	}

	inputRequiredEvent struct {
		_ struct{} `doc:"A call waits for an answer."`

		Type spool.EntryType `const:"INPUT_REQUIRED" json:"type"`
		envelope

		Payload spool.InputRequired `json:"payload"`
	}

	inputExpiringEvent struct {
		_ struct{} `doc:"The time to answer is nearly over."`

		Type spool.EntryType `const:"INPUT_EXPIRING" json:"type"`
		envelope

		Payload spool.InputExpiring `json:"payload"`
	}

	inputExtendedEvent struct {
		_ struct{} `doc:"Nobody answered in time, and there is more."`

		Type spool.EntryType `const:"INPUT_EXTENDED" json:"type"`
		envelope

		Payload spool.InputExtended `json:"payload"`
	}

	inputExpiredEvent struct {
		_ struct{} `doc:"Nobody answered in time."`

		Type spool.EntryType `const:"INPUT_EXPIRED" json:"type"`
		envelope

		Payload spool.InputExpired `json:"payload"`
	}

	hitlResponseEvent struct {
		_ struct{} `doc:"An answer was accepted."`

		Type spool.EntryType `const:"HITL_RESPONSE" json:"type"`
		envelope

		Payload spool.HITLResponse `json:"payload"`
	}

	messagesDroppedEvent struct {
		_ struct{} `doc:"This message and all behind it are not shown any more."`

		Type spool.EntryType `const:"MESSAGES_DROPPED" json:"type"`
		envelope

		Payload spool.MessagesDropped `json:"payload"`
	}

	messagesRestoredEvent struct {
		_ struct{} `doc:"The messages of a branch are shown again, behind all others."`

		Type spool.EntryType `const:"MESSAGES_RESTORED" json:"type"`
		envelope

		Payload spool.MessagesRestored `json:"payload"`
	}

	contextCompactedEvent struct {
		_ struct{} `doc:"A summary stands for older messages in what the model is asked."`

		Type spool.EntryType `const:"CONTEXT_COMPACTED" json:"type"`
		envelope

		Payload spool.ContextCompacted `json:"payload"`
	}

	tokenBudgetExhaustedEvent struct {
		_ struct{} `doc:"The run has used its tokens up."`

		Type spool.EntryType `const:"TOKEN_BUDGET_EXHAUSTED" json:"type"`
		envelope

		Payload spool.TokenBudgetExhausted `json:"payload"`
	}

	costBudgetExhaustedEvent struct {
		_ struct{} `doc:"The run has used its money up."`

		Type spool.EntryType `const:"COST_BUDGET_EXHAUSTED" json:"type"`
		envelope

		Payload spool.CostBudgetExhausted `json:"payload"`
	}

	toolCallBudgetExhaustedEvent struct {
		_ struct{} `doc:"The run has used its tool calls up."`

		Type spool.EntryType `const:"TOOL_CALL_BUDGET_EXHAUSTED" json:"type"`
		envelope

		Payload spool.ToolCallBudgetExhausted `json:"payload"`
	}

	timeBudgetExhaustedEvent struct {
		_ struct{} `doc:"The run has used its time up."`

		Type spool.EntryType `const:"TIME_BUDGET_EXHAUSTED" json:"type"`
		envelope

		Payload spool.TimeBudgetExhausted `json:"payload"`
	}

	timeLimitReachedEvent struct {
		_ struct{} `doc:"The run was carried for as long as any run may be."`

		Type spool.EntryType `const:"TIME_LIMIT_REACHED" json:"type"`
		envelope

		Payload spool.TimeLimitReached `json:"payload"`
	}

	storageLimitReachedEvent struct {
		_ struct{} `doc:"The tenant stores as much as it may."`

		Type spool.EntryType `const:"STORAGE_LIMIT_REACHED" json:"type"`
		envelope

		Payload spool.StorageLimitReached `json:"payload"`
	}

	runRefusedEvent struct {
		_ struct{} `doc:"A run was refused when a worker picked it up."`

		Type spool.EntryType `const:"RUN_REFUSED" json:"type"`
		envelope

		Payload spool.RunRefused `json:"payload"`
	}

	stateChangeEvent struct {
		_ struct{} `doc:"The state of the thread. A notice."`

		Type spool.EntryType `const:"STATE_CHANGE" json:"type"`
		envelope

		Payload spool.StateChange `json:"payload"`
	}

	messageAppendedEvent struct {
		_ struct{} `doc:"A turn of the user. A notice."`

		Type spool.EntryType `const:"MESSAGE_APPENDED" json:"type"`
		envelope

		Payload Message `json:"payload"`
	}

	threadDeletedEvent struct {
		_ struct{} `doc:"The thread is gone. A notice, and the last frame."`

		Type spool.EntryType `const:"THREAD_DELETED" json:"type"`
		envelope

		Payload spool.ThreadDeleted `json:"payload"`
	}
)
