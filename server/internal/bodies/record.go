package bodies

import (
	"reflect"
	"slices"

	"github.com/spoolhq/spool/wire"
)

// Event is an entry of a thread's record, or a notice. Each type has a payload of its own.
type Event struct{}

// Union returns the type with the variants.
func (Event) Union() reflect.Type { return types().events }

// ApplicationEvent is an event that an application has published.
type ApplicationEvent wire.Entry

// Item is an item of a run stream. Each type has its own fields.
type Item struct{}

// Union returns the type with the variants.
func (Item) Union() reflect.Type { return types().items }

// SubagentItem is an item of a nested run.
type SubagentItem struct{}

// Union returns the type with the variants.
func (SubagentItem) Union() reflect.Type { return types().subagentItems }

func (m *schemas) makeRecord() {
	// all events have the fields of the envelope
	envelope := entryFields("ThreadID", "Seq", "CreatedAt", "RunID")
	m.events = m.union("Event",
		"An entry of a thread's record, or a notice, by its type. An application's own entries and notices have other types and the mark published (ApplicationEvent). Ignore a type that you do not know.",
		rowsOf(wire.EntryKinds()), func(word string) string { return word + "Event" },
		func(v variant) []reflect.StructField {
			return append(slices.Clone(envelope), reflect.StructField{Name: "Payload", Type: v.of, Tag: `json:"payload"`})
		})
	// an event of an application, with the type first
	mark := reflect.StructField{
		Name: "Published", Type: reflect.TypeFor[bool](), Tag: `doc:"Always true. No other event has it." json:"published"`,
	}
	m.applicationEvent = m.name("ApplicationEvent", reflect.StructOf(slices.Concat(
		entryFields("Type"), envelope, entryFields("Payload"), []reflect.StructField{mark},
		entryFields("PublishedBy", "PublishedByTool"))))
	m.items = m.union("Item", "An item of a run stream, by its type. Ignore a type that you do not know.",
		rowsOf(wire.ItemKinds()), func(word string) string { return word + "Item" },
		func(v variant) []reflect.StructField {
			return append(fieldsOf(v), reflect.StructField{
				Name: "Offset", Type: reflect.TypeFor[string](),
				Tag: `doc:"The item's position in its stream: two numbers that grow." example:"7-1" json:"offset"`,
			})
		})
	m.subagentItems = m.union("SubagentItem", "An item of a nested run, by its type. It has no offset.",
		rowsOf(slices.DeleteFunc(wire.ItemKinds(), func(k wire.Kind[wire.ItemType]) bool {
			return !k.Type.Content() || k.Type == wire.ItemSubagentEvent
		})), func(word string) string { return word }, fieldsOf)
}

func entryFields(names ...string) []reflect.StructField {
	return pick(reflect.TypeFor[wire.Entry](), names...)
}
