package crud

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// compileDocuments makes struct types of the model's fields: the schemas of what is sent and
// shown are theirs.
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

// rules are the tags that a schema is made of.
var rules = []string{
	"doc", "format", "timeFormat", "encoding", "example", "enum", "const", "nullable", "minimum", "maximum", "exclusiveMinimum",
	"exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "patternDescription", "minItems", "maxItems",
	"uniqueItems", "minProperties", "maxProperties", "deprecated",
}

// document is the field in a document that is sent. A field that is not read stays in it, so
// that what was shown may be sent back.
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

// shown is the field in a document that is answered.
func (f *field) shown(i int) reflect.StructField {
	return f.declare(i, func(add func(tag, value string)) {
		for _, rule := range append([]string{"required", "readOnly"}, rules...) {
			if value, ok := f.decl.Tag.Lookup(rule); ok {
				add(rule, value)
			}
		}
	})
}

// declare makes a field with tags. The number keeps promoted fields of one name apart.
func (f *field) declare(i int, tags func(add func(tag, value string))) reflect.StructField {
	_, options, _ := strings.Cut(f.decl.Tag.Get("json"), ",")
	var b strings.Builder
	add := func(tag, value string) { fmt.Fprintf(&b, "%s:%s ", tag, strconv.Quote(value)) }
	add("json", f.name+","+options)
	tags(add)
	name := f.decl.Name
	if len(f.index) > 1 {
		name += "_" + strconv.Itoa(i)
	}
	return reflect.StructField{Name: name, Type: f.decl.Type, Tag: reflect.StructTag(strings.TrimSpace(b.String()))}
}

// mustModel returns a model that was compiled before.
func mustModel[T any]() *model {
	m, err := modelOf(reflect.TypeFor[T]())
	if err != nil {
		panic("crud: " + err.Error())
	}
	return m
}

// The methods by which the schema generator asks what the documents are.

// Schema returns the schema of a body for create.
func (createBody[T]) Schema(r huma.Registry) *huma.Schema {
	m := mustModel[T]()
	return r.Schema(m.create, true, m.name+"In")
}

// Schema returns the schema of a body for update. It has the name of the one for create when
// they are the same.
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
