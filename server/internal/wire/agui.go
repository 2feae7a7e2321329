package wire

import (
	"reflect"

	"github.com/spoolhq/spool/server/agui"
)

// AgentEvent is an event of AG-UI.
type AgentEvent struct{}

// Union returns the type with the variants.
func (AgentEvent) Union() reflect.Type { return agentEvents }

var agentEvents = union("AgentEvent", "An event of AG-UI 1.0, by its type. Ignore a type that you do not know.",
	rowsOf(agui.Kinds()), func(word string) string { return "Agent" + word }, fieldsOf)

// agentMessage is a message of AG-UI for the document.
var agentMessage = func() reflect.Type {
	t := reflect.StructOf(fieldsOfType(reflect.TypeFor[agui.Message]()))
	names[t] = "AgentMessage"
	return t
}()

// agentContent is what a message says: a text, or the parts of a user's turn with images.
type agentContent struct{}

// AnyOf implements [rest.Alternatives].
func (agentContent) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]agui.Part]()}
}
