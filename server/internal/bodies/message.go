package bodies

import (
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// content is the content of a message, in one of three forms.
type content struct{}

// AnyOf implements [rest.Alternatives].
func (content) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]Part](), types().summary}
}

// Part is a piece of a message.
type Part struct{}

// Union returns the type with the variants.
func (Part) Union() reflect.Type { return types().parts }

func (m *schemas) makeMessage() {
	// a message has the agent's id, which [spool.Message] writes itself
	m.message = m.name("Message", reflect.StructOf(slices.Concat(
		pick(reflect.TypeFor[spool.Message](), "ID", "ThreadID"),
		[]reflect.StructField{
			{
				Name: "AgentID", Type: reflect.TypeFor[*spool.AgentID](),
				Tag: `doc:"The agent that wrote it, if one did." json:"agentId"`,
			},
		},
		pick(reflect.TypeFor[spool.Message](), "Role", "Content", "CreatedAt", "ClientMessageID", "RunID"),
	)))
	m.parts = m.union("Part", "A piece of a message, by its type. Ignore a part whose type you do not know.",
		[]variant{
			{word: string(spool.PartText), has: []string{"Text"}},
			{word: string(spool.PartReasoning), has: []string{"Text"}},
			{word: string(spool.PartImage), has: []string{"Image!", "MIMEType"}},
			{word: string(spool.PartFile), has: []string{"File!", "FileName", "MIMEType"}},
			{word: string(spool.PartToolCall), has: []string{"ToolCallID!", "ToolName!", "Args", "SentArgs"}},
			{word: string(spool.PartToolResult), has: []string{"ToolCallID!", "ToolName!", "Result"}},
			{word: string(spool.PartSource), has: []string{"URL", "Title", "Spans", "ToolCallID"}},
		}, func(word string) string { return word + "Part" }, func(v variant) []reflect.StructField {
			return pick(reflect.TypeFor[spool.Part](), append(v.has, "Provider")...)
		})
	// the content of a message that replaces older ones for the model
	text := reflect.StructField{
		Name: "Text", Type: reflect.TypeFor[string](), Tag: `doc:"The text of the summary." json:"text,omitempty"`,
	}
	m.summary = m.name("ContextSummary", reflect.StructOf(slices.Concat(
		[]reflect.StructField{constant(string(spool.PartSummary)), text},
		pick(reflect.TypeFor[spool.Part](), "ThroughMessageID", "Provider"))))
}

// pick returns fields of a type by their names in the document. A name with a ! means a required field.
func pick(t reflect.Type, names ...string) (fields []reflect.StructField) {
	for _, name := range names {
		name, always := strings.CutSuffix(name, "!")
		f, _ := t.FieldByName(name)
		if always {
			f.Tag = reflect.StructTag(strings.Replace(string(f.Tag), ",omitempty", "", 1))
		}
		fields = append(fields, copied(t, f))
	}
	return fields
}
