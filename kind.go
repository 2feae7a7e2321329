package spool

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Kind is a kind of entry, notice or item: a value on the wire that its type tells apart.
type Kind[T ~string] struct {
	Type T
	// Of is what is encoded: the payload of an entry or notice, the fields of an item.
	Of reflect.Type
	// About is what it tells, for documents.
	About string
}

// EntryKinds returns the kinds of entry and then those of notice, each with the type of its payload.
func EntryKinds() []Kind[EntryType] {
	return []Kind[EntryType]{
		kind[RunStarted](EntryRunStarted, "A worker picked the run up: a reader moves to the stream."),
		kind[RunEnded](EntryRunEnded, "The segment is over."),
		kind[InputRequired](EntryInputRequired, "A call waits for an answer."),
		kind[InputExpiring](EntryInputExpiring, "The time to answer is nearly over."),
		kind[InputExtended](EntryInputExtended, "Nobody answered in time, and there is more."),
		kind[InputExpired](EntryInputExpired, "Nobody answered in time."),
		kind[HITLResponse](EntryHITLResponse, "An answer was accepted."),
		kind[MessagesDropped](EntryMessagesDropped, "This message and all behind it are not shown any more."),
		kind[MessagesRestored](EntryMessagesRestored, "The messages of a branch are shown again, behind all others."),
		kind[ContextCompacted](EntryContextCompacted, "A summary stands for older messages in what the model is asked."),
		kind[TokenBudgetExhausted](EntryTokenBudgetExhausted, "The run has used its tokens up."),
		kind[CostBudgetExhausted](EntryCostBudgetExhausted, "The run has used its money up."),
		kind[ToolCallBudgetExhausted](EntryToolCallBudgetExhausted, "The run has used its tool calls up."),
		kind[TimeBudgetExhausted](EntryTimeBudgetExhausted, "The run has used its time up."),
		kind[TimeLimitReached](EntryTimeLimitReached, "The run was carried for as long as any run may be."),
		kind[StorageLimitReached](EntryStorageLimitReached, "The tenant stores as much as it may."),
		kind[RunRefused](EntryRunRefused, "A run was refused when a worker picked it up."),
		kind[StateChange](NoticeStateChange, "The state of the thread. A notice."),
		kind[Message](NoticeMessageAppended, "A turn of the user. A notice."),
		kind[ThreadDeleted](NoticeThreadDeleted, "The thread is gone. A notice, and the last frame."),
	}
}

// ItemKinds returns the kinds of run stream item, each with the type of its fields.
func ItemKinds() []Kind[ItemType] {
	return []Kind[ItemType]{
		kind[StreamStarted](ItemRunStarted, "The stream opens."),
		kind[Block](ItemTextStart, "A text begins."),
		kind[Delta](ItemTextContent, "A piece of a text."),
		kind[Block](ItemTextEnd, "A text ends."),
		kind[Block](ItemReasoningStart, "Reasoning begins."),
		kind[Delta](ItemReasoningContent, "A piece of reasoning."),
		kind[Block](ItemReasoningEnd, "Reasoning ends."),
		kind[ToolStarted](ItemToolStart, "A call begins."),
		kind[ToolArgs](ItemToolArgs, "A piece of the arguments, as JSON text."),
		kind[ToolEnded](ItemToolEnd, "A call is complete."),
		kind[ToolResulted](ItemToolResult, "What the call gave."),
		kind[StepFinished](ItemStepFinished, "All that its agent said before is saved."),
		kind[InputRequired](ItemInputRequired, "A call waits for an answer."),
		kind[SubagentStarted](ItemSubagentStarted, "A nested run begins, or goes on."),
		kind[SubagentEvent](ItemSubagentEvent, "What a nested run says."),
		kind[SubagentFinished](ItemSubagentFinished, "A nested run has ended."),
		kind[Custom](ItemCustom, "An application's own live event."),
		kind[StreamFinished](ItemRunFinished, "The segment came to its end. The last item."),
		kind[StreamFailed](ItemRunError, "The segment did not come to its end. The last item."),
	}
}

func kind[Of any, T ~string](t T, about string) Kind[T] {
	return Kind[T]{Type: t, Of: reflect.TypeFor[Of](), About: about}
}

var entryTypes, itemTypes = typesOf(EntryKinds()), typesOf(ItemKinds())

func typesOf[T ~string](kinds []Kind[T]) map[T]reflect.Type {
	types := make(map[T]reflect.Type, len(kinds))
	for _, k := range kinds {
		types[k.Type] = k.Of
	}
	return types
}

var encoded = reflect.TypeFor[json.RawMessage]()

// mustBe panics when a value is encoded under a type of this package that has other fields. Nil has none,
// and JSON is of a value that was encoded before.
func mustBe(want reflect.Type, t string, payload any) {
	if got := reflect.TypeOf(payload); want != nil && got != want && got != nil && got != encoded && got != reflect.PointerTo(want) {
		panic(fmt.Sprintf("spool: a %s has a %v, not a %v", t, want, got))
	}
}
