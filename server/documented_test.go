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
	"github.com/spoolhq/spool/server/internal/wire"
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
		doc.check(t, name, map[string]any{"$ref": componentRef + name}, got)
	}
}

// components returns the types that the document describes, by their names.
func components(t *testing.T) interface{ TypeFromRef(ref string) reflect.Type } {
	t.Helper()

	e, err := engine.New(memory.New(nil), engine.Config{
		Agents: []engine.Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": demo.New(demo.Config{})},
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

// entryPayloads are the payloads of entries and notices, and itemFields the fields of items, that
// their variants in the document embed.
func TestVariantsAreOfTheirTypes(t *testing.T) {
	t.Parallel()

	for f := range reflect.TypeFor[wire.Event]().Fields() {
		if f.Type.Kind() != reflect.Pointer {
			continue
		}
		payload, _ := f.Type.Elem().FieldByName("Payload")
		if pkg := payload.Type.PkgPath(); !strings.HasSuffix(pkg, "/spool") && payload.Type != reflect.TypeFor[wire.Message]() {
			t.Errorf("%s has a payload of its own: %v", f.Name, payload.Type)
		}
	}
}

const componentRef = "#/components/schemas/"

// openDocument is what the tests look at in the server's document.
type openDocument struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct {
				Schema map[string]any `json:"schema"`
			} `json:"content"`
		} `json:"responses"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
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
	for _, operations := range d.Paths {
		for _, op := range operations {
			for _, answer := range op.Responses {
				if ref, ok := answer.Content["application/json"].Schema["$ref"].(string); ok {
					names[strings.TrimPrefix(ref, componentRef)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// check holds a value against its schema: all properties are there, and nothing else.
func (d openDocument) check(t *testing.T, at string, schema map[string]any, value any) {
	t.Helper()

	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[strings.TrimPrefix(ref, componentRef)]
		if schema == nil {
			t.Errorf("%s: there is no schema %s", at, ref)
		}
	}
	if value == nil || schema["oneOf"] != nil || schema["discriminator"] != nil { // a variant is checked by itself
		return
	}
	if forms, ok := schema["anyOf"].([]any); ok {
		for _, one := range forms {
			one, _ := one.(map[string]any)
			if kind, _ := one["type"].(string); one["$ref"] != nil && isObject(value) || kind == "array" && !isObject(value) {
				d.check(t, at, one, value)
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
			d.check(t, at+"."+name, property, one)
		}
		for name := range properties {
			if _, there := value[name]; !there {
				t.Errorf("%s.%s is documented, and not there", at, name)
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for _, one := range value {
			d.check(t, at+"[]", items, one)
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
	case spool.Item:
		v.Set(reflect.ValueOf(spool.Item{Data: json.RawMessage(`{"type":"RUN_STARTED"}`)}))
		return
	}
	switch v.Kind() { //nolint:exhaustive // answers have no others
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
