package agui

import (
	"reflect"

	"github.com/spoolhq/spool"
)

// Kinds returns the kinds of event that the package emits, each with the type of the fields that are encoded
// behind its type.
func Kinds() []spool.Kind[Type] {
	return []spool.Kind[Type]{
		of[RunStarted](TypeRunStarted), of[RunFinished](TypeRunFinished), of[RunError](TypeRunError),
		of[StepStarted](TypeStepStarted), of[StepFinished](TypeStepFinished),
		of[TextStart](TypeTextStart), of[Delta](TypeTextContent), of[Mark](TypeTextEnd),
		of[Mark](TypeReasoningStart), of[ReasoningMessageStart](TypeReasoningMessageStart), of[Delta](TypeReasoningContent),
		of[Mark](TypeReasoningMessageEnd), of[Mark](TypeReasoningEnd),
		of[ToolStart](TypeToolStart), of[ToolArgs](TypeToolArgs), of[ToolEnd](TypeToolEnd), of[ToolResult](TypeToolResult),
		of[messagesSnapshot](TypeMessages), of[StateSnapshot](TypeStateSnapshot), of[StateDelta](TypeStateDelta), of[Custom](TypeCustom),
	}
}

func of[Fields any](t Type) spool.Kind[Type] {
	return spool.Kind[Type]{Type: t, Of: reflect.TypeFor[Fields]()}
}

// messagesSnapshot are the fields of [Messages], whose JSON is made of what clients share.
type messagesSnapshot struct {
	Messages []Message `doc:"All messages, in place of those that the client has." json:"messages"`
}
