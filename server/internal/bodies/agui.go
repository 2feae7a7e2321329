package bodies

import (
	"reflect"

	"github.com/spoolhq/spool/server/agui"
)

// AgentEvent is an event of AG-UI.
type AgentEvent struct{}

// Union returns the type with the variants.
func (AgentEvent) Union() reflect.Type { return types().agentEvents }

func (m *schemas) makeAgent() {
	m.agentEvents = m.union("AgentEvent", "An event of AG-UI 1.0, by its type. Ignore a type that you do not know.",
		rowsOf(agui.Kinds()), func(word string) string { return "Agent" + word }, fieldsOf)
	m.agentMessage = m.name("AgentMessage", reflect.StructOf(fieldsOfType(reflect.TypeFor[agui.Message]())))
}

// agentContent is the content of a message: a text, or the parts of a user turn with images.
type agentContent struct{}

// AnyOf implements [rest.Alternatives].
func (agentContent) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]agui.Part]()}
}
