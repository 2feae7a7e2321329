package schema

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/textform"
)

var durationType = reflect.TypeFor[time.Duration]()

// Param returns the schema of a parameter, with its limits and default. The tags were checked when the
// parameter's plan was compiled.
func (r *Registry) Param(p bind.Param) *huma.Schema {
	f := p.Field
	f.Type = p.Type

	if base(p.Type) == durationType {
		// Parameters have the form 1h30m, and so do their limits, which a schema cannot express. The schema's
		// format "duration" is another form, P1DT2H, which is read as well.
		s := &huma.Schema{Type: huma.TypeString, Format: f.Tag.Get("format")}
		if p.Type.Kind() == reflect.Slice {
			s = &huma.Schema{Type: huma.TypeArray, Items: s}
		}
		s.Description, s.Default, s.Deprecated = p.Doc, defaultOf(p), p.Deprecated
		s.PrecomputeMessages()

		return s
	}

	f.Tag = without(f.Tag, "default", "example", "required", "deprecated", "json")
	s := r.guard(p.Type, func() *huma.Schema { return huma.SchemaFromField(r, f, p.Name) })
	if s != nil && s.Ref == "" {
		s.Default, s.Deprecated = defaultOf(p), p.Deprecated
		if p.Example != "" {
			s.Examples = []any{exampleOf(p)}
		}
	}

	return s
}

// exampleOf returns the example of a parameter in the schema's type.
func exampleOf(p bind.Param) any {
	switch p.Type.Kind() {
	case reflect.Bool, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if json.Valid([]byte(p.Example)) {
			return json.RawMessage(p.Example)
		}
	}

	return p.Example
}

func base(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		return t.Elem()
	}

	return t
}

// defaultOf returns the default as a client would send it.
func defaultOf(p bind.Param) any {
	if p.Default == nil {
		return nil
	}
	v, format := reflect.ValueOf(p.Default), p.Field.Tag.Get("format")
	if v.Kind() != reflect.Slice {
		text, ok := wordOf(p.Default, format)
		if ok {
			return text
		}

		return p.Default
	}

	words := []string{}
	for i := range v.Len() {
		text, ok := wordOf(v.Index(i).Interface(), format)
		if !ok {
			return p.Default
		}
		words = append(words, text)
	}

	return words
}

// wordOf returns the text of a value that encoding/json would write differently.
func wordOf(value any, format string) (string, bool) {
	if d, ok := value.(time.Duration); ok && format == "" {
		return d.String(), true
	}
	form := textform.Of(reflect.TypeOf(value), format)
	if form == textform.None {
		return "", false
	}
	text, err := textform.Text(form, value)

	return text, err == nil
}

// without returns a tag without some of its keys, which huma would read differently.
func without(tag reflect.StructTag, keys ...string) reflect.StructTag {
	for _, key := range keys {
		value, ok := tag.Lookup(key)
		if !ok {
			continue
		}
		// Parts of a tag are quoted as Go strings, mostly without escapes.
		part := key + ":" + strconv.Quote(value)
		before, after, found := strings.Cut(string(tag), part)
		if found && (before == "" || strings.HasSuffix(before, " ")) {
			tag = reflect.StructTag(before + after)
		}
	}

	return tag
}
