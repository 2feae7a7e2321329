package agui

import (
	"reflect"

	"github.com/spoolhq/spool/wire"
)

// Kinds returns the kinds of event that the package emits. Each has the type of the fields that follow the
// event's type in its JSON form.
func Kinds() []wire.Kind[Type] {
	return []wire.Kind[Type]{
		of[RunStarted](TypeRunStarted), of[RunFinished](TypeRunFinished), of[RunError](TypeRunError),
		of[StepStarted](TypeStepStarted), of[StepFinished](TypeStepFinished),
		of[TextStart](TypeTextStart), of[Delta](TypeTextContent), of[Mark](TypeTextEnd),
		of[Mark](TypeReasoningStart), of[ReasoningMessageStart](TypeReasoningMessageStart), of[Delta](TypeReasoningContent),
		of[Mark](TypeReasoningMessageEnd), of[Mark](TypeReasoningEnd),
		of[ToolStart](TypeToolStart), of[ToolArgs](TypeToolArgs), of[ToolEnd](TypeToolEnd), of[ToolResult](TypeToolResult),
		of[messagesSnapshot](TypeMessages), of[StateSnapshot](TypeStateSnapshot), of[StateDelta](TypeStateDelta),
		of[Custom](TypeCustom),
	}
}

// TypeOf returns the type of an event.
func TypeOf(e Event) Type {
	switch e := e.(type) { // most events are deltas
	case Delta:
		return e.kind
	case Mark:
		return e.kind
	case ToolArgs:
		return TypeToolArgs
	case Messages:
		return TypeMessages
	default:
		return types[reflect.TypeOf(e)]
	}
}

var types = func() map[reflect.Type]Type {
	all := make(map[reflect.Type]Type)
	for _, k := range Kinds() {
		all[k.Of] = k.Type
	}
	return all
}()

func (RunStarted) event()            {}
func (RunFinished) event()           {}
func (RunError) event()              {}
func (StepStarted) event()           {}
func (StepFinished) event()          {}
func (TextStart) event()             {}
func (Delta) event()                 {}
func (Mark) event()                  {}
func (ReasoningMessageStart) event() {}
func (ToolStart) event()             {}
func (ToolArgs) event()              {}
func (ToolEnd) event()               {}
func (ToolResult) event()            {}
func (Messages) event()              {}
func (StateSnapshot) event()         {}
func (StateDelta) event()            {}
func (Custom) event()                {}

func of[Fields any](t Type) wire.Kind[Type] {
	return wire.Kind[Type]{Type: t, Of: reflect.TypeFor[Fields]()}
}

// messagesSnapshot are the fields of [Messages], whose JSON clients share.
type messagesSnapshot struct {
	Messages []Message `json:"messages"` // All messages. They replace the client's.
}
