package wire

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool"
)

// Kind is a kind of entry, notice or item.
type Kind[T ~string] struct {
	Type T
	// Of is the type of the payload of an entry or notice, or of the fields of an item.
	Of reflect.Type
	// About is a description for documents.
	About string
}

// EntryKinds returns the kinds of entry and then those of notice, each with the type of its payload.
func EntryKinds() []Kind[EntryType] {
	return []Kind[EntryType]{
		kind[RunStarted](EntryRunStarted, "A worker claimed the run: a reader moves to the stream."),
		kind[RunEnded](EntryRunEnded, "The segment is over."),
		kind[InputRequired](EntryInputRequired, "A call waits for an answer."),
		kind[InputExpiring](EntryInputExpiring, "The time to answer is nearly over."),
		kind[InputExtended](EntryInputExtended, "Nobody answered in time, and the question gets more time."),
		kind[InputExpired](EntryInputExpired, "Nobody answered in time."),
		kind[CallPending](EntryCallPending, "The work of a call goes on elsewhere, or there is news about it."),
		kind[HITLResponse](EntryHITLResponse, "An answer was accepted."),
		kind[MessagesDropped](EntryMessagesDropped, "Clients no longer show this message and all messages after it."),
		kind[MessagesRestored](EntryMessagesRestored, "The messages of a branch are shown again, behind all others."),
		kind[Steered](EntrySteered, "A message was put into the active run."),
		kind[ContextCompacted](EntryContextCompacted, "A summary replaces older messages in prompts to the model."),
		kind[TokenBudgetExhausted](EntryTokenBudgetExhausted, "The run has used up its tokens."),
		kind[CostBudgetExhausted](EntryCostBudgetExhausted, "The run has used up its money."),
		kind[ToolCallBudgetExhausted](EntryToolCallBudgetExhausted, "The run has used up its tool calls."),
		kind[TimeBudgetExhausted](EntryTimeBudgetExhausted, "The run has used up its time."),
		kind[TimeLimitReached](EntryTimeLimitReached, "The run executed for as long as any run may."),
		kind[StorageLimitReached](EntryStorageLimitReached, "The tenant stores as many bytes as it may."),
		kind[OutputRejected](EntryOutputRejected, "An answer does not fit the schema of the run."),
		kind[ModelFallback](EntryModelFallback, "A model failed, and the run goes on with another one."),
		kind[FileDropped](EntryFileDropped, "The model does not get a file of the run, and reads a text in its place."),
		kind[HandedOver](EntryHandedOver, "Another agent has taken the thread over."),
		kind[RunRefused](EntryRunRefused, "A worker claimed a run and refused it."),
		kind[StateChange](NoticeStateChange, "The state of the thread. A notice."),
		kind[spool.Message](NoticeMessageAppended, "A turn of the user. A notice."),
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
		kind[ToolResulted](ItemToolResult, "The result of a tool call."),
		kind[FileShown](ItemFile, "An image or another file of the answer."),
		kind[spool.Source](ItemSource, "A source of the answer."),
		kind[StepFinished](ItemStepFinished, "Everything that its agent said before is saved."),
		kind[InputRequired](ItemInputRequired, "A call waits for an answer."),
		kind[SubagentStarted](ItemSubagentStarted, "A nested run begins or continues."),
		kind[SubagentEvent](ItemSubagentEvent, "An item of a nested run."),
		kind[SubagentFinished](ItemSubagentFinished, "A nested run has ended."),
		kind[ProviderWait](ItemProviderWait, "The next answer of the model waits for a limit of its provider."),
		kind[Custom](ItemCustom, "An application's own live event."),
		kind[StreamFinished](ItemRunFinished, "The segment finished, parked or was stopped. The last item."),
		kind[StreamFailed](ItemRunError, "The segment failed or was lost. The last item."),
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

// mustBe panics if [EntryKinds] or [ItemKinds] has another type of value for this kind. It accepts nil, which
// has no fields, and JSON, which was encoded from a checked value.
func mustBe(want reflect.Type, t string, payload any) {
	if got := reflect.TypeOf(payload); want != nil && got != want && got != nil && got != encoded &&
		got != reflect.PointerTo(want) {
		panic(fmt.Sprintf("spool: a %s has a %v, not a %v", t, want, got))
	}
}
