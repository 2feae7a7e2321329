package server

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/bodies"
	"github.com/spoolhq/spool/wire"
)

// The bodies of answers are what the document says: each field that a body can have is documented, and
// each documented property is in the JSON of a body that has everything.
func TestAnswersAreDocumented(t *testing.T) {
	t.Parallel()

	doc, known := documentOf(t), components(t)
	for _, name := range doc.answers() {
		typ := known.TypeFromRef(componentRef + name)
		if typ == nil {
			t.Fatalf("the answer %s has no type", name)
		}
		value := reflect.New(typ).Elem()
		fill(value)
		text, err := json.Marshal(value.Interface())
		if err != nil {
			t.Fatal(name, err)
		}
		var got any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(name, err)
		}
		doc.check(t, name, map[string]any{"$ref": componentRef + name}, got, true)
	}
}

// components returns the types that the document describes, by their names.
func components(t *testing.T) interface{ TypeFromRef(ref string) reflect.Type } {
	t.Helper()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := New(e, Config{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.api.Huma().OpenAPI().Components.Schemas
}

// What is encoded under a type has each field that the document has for it, and no other.
func TestKindsAreDocumented(t *testing.T) {
	t.Parallel()

	doc := documentOf(t)
	check := func(component string, of reflect.Type, encode func(v any) any) {
		value := reflect.New(of).Elem()
		fill(value)
		text, err := json.Marshal(encode(value.Interface()))
		var got any
		if err != nil || json.Unmarshal(text, &got) != nil {
			t.Fatalf("%s: %s, %v", of, text, err)
		}
		doc.check(t, component, map[string]any{"$ref": componentRef + component}, got, true)
	}
	for _, k := range wire.EntryKinds() {
		check("Event", k.Of, func(v any) any {
			e := wire.NewEntry(k.Type, "r", v)
			e.ThreadID, e.Seq = "t", 1
			return e
		})
	}
	for _, k := range wire.ItemKinds() {
		check("Item", k.Of, func(v any) any {
			if k.Type == wire.ItemSubagentEvent {
				v = wire.WrapItem("a", wire.ItemToolStart, wire.ToolStarted{ToolCallID: "c", ToolName: "t"})
			}
			return wire.NewItem(k.Type, wire.Offset{Fence: 1, N: 1}, 0, v)
		})
	}
	for _, k := range agui.Kinds() {
		check("AgentEvent", k.Of, func(v any) any {
			fields := make(map[string]any)
			text, err := json.Marshal(v)
			if e, ok := v.(agui.Event); ok {
				text, err = agui.Encode(e)
			}
			if err != nil || json.Unmarshal(text, &fields) != nil {
				t.Fatalf("%s: %s, %v", k.Type, text, err)
			}
			// a type of several kinds has no type of its own
			if fields["type"] != string(k.Type) && fields["type"] != "" && fields["type"] != nil {
				t.Errorf("%v is written as %v, and documented as %s", k.Of, fields["type"], k.Type)
			}
			fields["type"] = k.Type
			return fields
		})
	}
	check("ApplicationEvent", reflect.TypeFor[bodies.ApplicationEvent](), func(v any) any { return v })
	check("Message", reflect.TypeFor[spool.Message](), func(v any) any { return v })
	for _, p := range []spool.Part{ // each with what parts of its type have
		{Type: spool.PartText, Text: "a"},
		{Type: spool.PartReasoning, Text: "a"},
		{Type: spool.PartImage, Image: "a", MIMEType: "a"},
		{
			Type: spool.PartToolCall, ToolCallID: "c", ToolName: "t", Args: json.RawMessage(`{}`),
			SentArgs: json.RawMessage(`{}`),
		},
		{Type: spool.PartToolResult, ToolCallID: "c", ToolName: "t", Result: json.RawMessage(`{}`)},
	} {
		p.Provider = json.RawMessage(`{}`)
		check("Part", reflect.TypeFor[spool.Part](), func(any) any { return p })
	}
	for _, kind := range []wire.FrameKind{wire.FrameThread, wire.FrameStream, wire.FrameSnapshot} {
		check("Frame", reflect.TypeFor[wire.Frame](), func(v any) any {
			f, _ := v.(wire.Frame)
			f.Kind, f.Event = kind, wire.NewEntry(wire.EntryMessagesDropped, "r", wire.MessagesDropped{FromMessageID: "m"})
			return f
		})
	}
}

const componentRef = "#/components/schemas/"

// openDocument is what the tests look at in the server's document.
type openDocument struct {
	Paths map[string]map[string]struct {
		Responses openAnswers `json:"responses"`
	} `json:"paths"`
	Components struct {
		Responses openAnswers               `json:"responses"` // which operations refer to
		Schemas   map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

type openAnswers map[string]struct {
	Content map[string]struct {
		Schema map[string]any `json:"schema"`
	} `json:"content"`
}

func documentOf(t *testing.T) openDocument {
	t.Helper()

	text, err := os.ReadFile("../spec/openapi.json") // which is what the server says, by a test there
	if err != nil {
		t.Fatal(err)
	}
	var doc openDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// answers returns the names of the schemas of JSON answers.
func (d openDocument) answers() []string {
	names := map[string]bool{}
	add := func(all openAnswers) {
		for _, answer := range all {
			if ref, ok := answer.Content["application/json"].Schema["$ref"].(string); ok {
				names[strings.TrimPrefix(ref, componentRef)] = true
			}
		}
	}
	add(d.Components.Responses)
	for _, operations := range d.Paths {
		for _, op := range operations {
			add(op.Responses)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// check holds a value against its schema: all properties are there, or those that have to be, and nothing else.
func (d openDocument) check(t *testing.T, at string, schema map[string]any, value any, all bool) {
	t.Helper()

	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[strings.TrimPrefix(ref, componentRef)]
		if schema == nil {
			t.Errorf("%s: there is no schema %s", at, ref)
		}
	}
	if value == nil {
		return
	}
	if by, ok := schema["discriminator"].(map[string]any); ok {
		property, _ := by["propertyName"].(string)
		word, _ := value.(map[string]any)[property].(string)
		mapping, _ := by["mapping"].(map[string]any)
		if mapping[word] != nil {
			d.check(t, at+" "+word, map[string]any{"$ref": mapping[word]}, value, all)
		} else if !all {
			t.Errorf("%s: %s %q is not documented", at, property, word)
		}
		return
	}
	if forms, ok := schema["anyOf"].([]any); ok {
		for _, one := range forms {
			one, _ := one.(map[string]any)
			if kind, _ := one["type"].(string); one["$ref"] != nil && isObject(value) || kind == "array" && !isObject(value) {
				d.check(t, at, one, value, all)
				return
			}
		}
		return
	}
	switch value := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		if properties == nil {
			return // a map, or any JSON
		}
		for name, one := range value {
			property, known := properties[name].(map[string]any)
			if !known {
				t.Errorf("%s.%s is not documented", at, name)
				continue
			}
			d.check(t, at+"."+name, property, one, all)
		}
		required, _ := schema["required"].([]any)
		for name := range properties {
			if _, there := value[name]; !there && (all || slices.Contains(required, any(name))) {
				t.Errorf("%s.%s is documented, and not there", at, name)
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, one := range value {
			d.check(t, at+"[]", items, one, all)
		}
	}
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}

// fillFields fills the fields of a struct, also those of embedded structs that are not exported.
func fillFields(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.CanSet():
			fill(f)
		case v.Type().Field(i).Anonymous:
			fillFields(f)
		}
	}
}

// fill gives everything in a value something that is not zero.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000+int64(v.Addr().Pointer()%1000), 0).UTC()))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(`{"a":1}`)))
		return
	case spool.Content:
		v.Set(reflect.ValueOf(spool.Content{{Type: spool.PartText, Text: "a", Provider: json.RawMessage(`{}`)}}))
		return
	case wire.Item:
		v.Set(reflect.ValueOf(wire.NewItem(wire.ItemToolStart, wire.Offset{Fence: 1, N: 1}, 0,
			wire.ToolStarted{ToolCallID: "c", ToolName: "t"})))
		return
	}
	switch v.Kind() { //nolint:exhaustive // answers have no others
	case reflect.Interface:
		v.Set(reflect.ValueOf("a"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		fillFields(v)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(7_000_000)
	}
}
