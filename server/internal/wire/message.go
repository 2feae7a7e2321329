package wire

import (
	"reflect"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// message is a message of a thread for the document: it has the agent's id, which [spool.Message] writes itself.
var message = func() reflect.Type {
	t := reflect.StructOf(slices.Concat(
		pick(reflect.TypeFor[spool.Message](), "ID", "ThreadID"),
		[]reflect.StructField{{Name: "AgentID", Type: reflect.TypeFor[*spool.AgentID](), Tag: `doc:"The agent that wrote it, if one did." json:"agentId"`}},
		pick(reflect.TypeFor[spool.Message](), "Role", "Content", "CreatedAt", "ClientMessageID", "RunID"),
	))
	names[t] = "Message"
	return t
}()

// content is what a message says: one of three forms.
type content struct{}

// AnyOf implements [rest.Alternatives].
func (content) AnyOf() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[[]Part](), summary}
}

// Part is a piece of a message.
type Part struct{}

// Union returns the type with the variants.
func (Part) Union() reflect.Type { return parts }

var parts = union("Part", "A piece of a message, by its type. Ignore a part whose type you do not know.",
	[]variant{
		{word: string(spool.PartText), has: []string{"Text"}},
		{word: string(spool.PartReasoning), has: []string{"Text"}},
		{word: string(spool.PartImage), has: []string{"Image!", "MIMEType"}},
		{word: string(spool.PartToolCall), has: []string{"ToolCallID!", "ToolName!", "Args"}},
		{word: string(spool.PartToolResult), has: []string{"ToolCallID!", "ToolName!", "Result"}},
	}, func(word string) string { return word + "Part" }, func(v variant) []reflect.StructField {
		return pick(reflect.TypeFor[spool.Part](), append(v.has, "Provider")...)
	})

// summary is the content of a message that stands for older ones.
var summary = func() reflect.Type {
	text := reflect.StructField{Name: "Text", Type: reflect.TypeFor[string](), Tag: `doc:"What was said before, in short." json:"text,omitempty"`}
	t := reflect.StructOf(slices.Concat([]reflect.StructField{constant(string(spool.PartSummary)), text}, pick(reflect.TypeFor[spool.Part](), "ThroughMessageID", "Provider")))
	names[t] = "ContextSummary"
	return t
}()

// pick returns fields of a type by their names, as the document has them. One with a ! is always there.
func pick(t reflect.Type, names ...string) (fields []reflect.StructField) {
	for _, name := range names {
		name, always := strings.CutSuffix(name, "!")
		f, _ := t.FieldByName(name)
		if always {
			f.Tag = reflect.StructTag(strings.Replace(string(f.Tag), ",omitempty", "", 1))
		}
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
	}
	return fields
}
