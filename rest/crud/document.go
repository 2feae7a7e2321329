package crud

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/comment"
)

// compileDocuments makes struct types from the model's fields. Their schemas document the
// bodies and answers.
func (m *model) compileDocuments() {
	var create, update, patch, shown []reflect.StructField
	for i, f := range m.fields {
		if !m.isRelation(f) {
			create = append(create, f.document(i, f.onCreate, false))
			update = append(update, f.document(i, f.onUpdate, false))
			patch = append(patch, f.document(i, f.onUpdate, true))
		}
		if !f.hidden {
			shown = append(shown, f.shown(i))
			m.shownFields = append(m.shownFields, f)
		}
	}
	m.create, m.update, m.patch = reflect.StructOf(create), reflect.StructOf(update), reflect.StructOf(patch)
	if len(shown) < len(m.fields) {
		m.shown = reflect.StructOf(shown)
	}
}

// rules are the tags that a schema is made from.
var rules = []string{
	"doc", "format", "timeFormat", "encoding", "example", "enum", "const", "nullable", "minimum", "maximum",
	"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "patternDescription",
	"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "deprecated",
}

// document returns the field in a request body. A field that is not read is still allowed, so
// that a client may send back what it was shown.
func (f *field) document(i int, read, optional bool) reflect.StructField {
	return f.declare(i, func(add func(tag, value string)) {
		for _, rule := range rules {
			if value, ok := f.decl.Tag.Lookup(rule); ok {
				add(rule, value)
			}
		}
		switch {
		case !read:
			add("readOnly", "true")
			add("required", "false")
		case optional:
			add("required", "false")
		default:
			for _, rule := range []string{"required", "default"} {
				if value, ok := f.decl.Tag.Lookup(rule); ok {
					add(rule, value)
				}
			}
		}
		if read && f.hidden {
			add("writeOnly", "true")
		}
	})
}

// shown returns the field in an answer.
func (f *field) shown(i int) reflect.StructField {
	return f.declare(i, func(add func(tag, value string)) {
		for _, rule := range append([]string{"required", "readOnly"}, rules...) {
			if value, ok := f.decl.Tag.Lookup(rule); ok {
				add(rule, value)
			}
		}
	})
}

// declare returns a struct field with tags. The number i keeps the names of promoted fields
// different.
func (f *field) declare(i int, tags func(add func(tag, value string))) reflect.StructField {
	_, options, _ := strings.Cut(f.decl.Tag.Get("json"), ",")
	var b strings.Builder
	add := func(tag, value string) { fmt.Fprintf(&b, "%s:%s ", tag, strconv.Quote(value)) }
	add("json", f.name+","+options)
	add(comment.OfField, f.key)
	tags(add)
	name := f.decl.Name
	if len(f.index) > 1 {
		name += "_" + strconv.Itoa(i)
	}
	return reflect.StructField{Name: name, Type: f.decl.Type, Tag: reflect.StructTag(strings.TrimSpace(b.String()))}
}

func mustModel[T any]() *model {
	m, err := modelOf(reflect.TypeFor[T]())
	if err != nil {
		panic("crud: " + err.Error())
	}
	return m
}

// The schema generator calls these methods.

// Schema returns the schema of a body for create.
func (createBody[T]) Schema(r huma.Registry) *huma.Schema {
	m := mustModel[T]()
	return r.Schema(m.create, true, m.name+"In")
}

// Schema returns the schema of a body for update. If it is the same as for create, it has the
// same name.
func (updateBody[T]) Schema(r huma.Registry) *huma.Schema {
	m := mustModel[T]()
	if m.update == m.create {
		return r.Schema(m.create, true, m.name+"In")
	}
	return r.Schema(m.update, true, m.name+"Update")
}

// Schema returns the schema of a body for patch.
func (patchBody[T]) Schema(r huma.Registry) *huma.Schema {
	m := mustModel[T]()
	return r.Schema(m.patch, true, m.name+"Patch")
}

// Schema returns the schema of an answer.
func (shown[T]) Schema(r huma.Registry) *huma.Schema {
	m := mustModel[T]()
	return r.Schema(m.shown, true, m.name)
}
