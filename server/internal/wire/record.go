package wire

import (
	"reflect"
	"slices"

	"github.com/spoolhq/spool"
)

// Event is an entry of a thread's record, or a notice. Each type has a payload of its own.
type Event struct{}

// Union returns the type with the variants.
func (Event) Union() reflect.Type { return events }

// ApplicationEvent is an event that an application has published.
type ApplicationEvent spool.Entry

// applicationEvent is the same for the document: as an event, with the type first.
var applicationEvent = func() reflect.Type {
	t := reflect.StructOf(append(append(entryFields("Type"), envelope...), entryFields("Payload", "PublishedBy", "PublishedByTool")...))
	names[t] = "ApplicationEvent"
	return t
}()

// envelope is what all events have.
var envelope = entryFields("ThreadID", "Seq", "CreatedAt", "RunID")

func entryFields(names ...string) []reflect.StructField {
	return pick(reflect.TypeFor[spool.Entry](), names...)
}

var events = union("Event",
	"An entry of a thread's record, or a notice, by its type. An application's own entries and notices have other types (ApplicationEvent). Ignore a type that you do not know.",
	rowsOf(spool.EntryKinds()), func(word string) string { return word + "Event" },
	func(v variant) []reflect.StructField {
		return append(slices.Clone(envelope), reflect.StructField{Name: "Payload", Type: v.of, Tag: `json:"payload"`})
	})

// Item is what a run says. Each type has fields of its own.
type Item struct{}

// Union returns the type with the variants.
func (Item) Union() reflect.Type { return items }

var items = union("Item", "What a run says, by its type. Ignore a type that you do not know.",
	rowsOf(spool.ItemKinds()), func(word string) string { return word + "Item" },
	func(v variant) []reflect.StructField {
		return append(fieldsOf(v), reflect.StructField{
			Name: "Offset", Type: reflect.TypeFor[string](), Tag: `doc:"Where it stands in its stream: two numbers that grow." example:"7-1" json:"offset"`,
		})
	})

// SubagentItem is what a nested run says.
type SubagentItem struct{}

// Union returns the type with the variants.
func (SubagentItem) Union() reflect.Type { return subagentItems }

var subagentItems = union("SubagentItem", "What a nested run says, by its type: as an item, without an offset.",
	rowsOf(slices.DeleteFunc(spool.ItemKinds(), func(k spool.Kind[spool.ItemType]) bool {
		return !k.Type.Content() || k.Type == spool.ItemSubagentEvent
	})), func(word string) string { return word }, fieldsOf)
