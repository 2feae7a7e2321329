package body

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Field is a field of a struct as encoding/json sees it. Promoted fields of embedded structs are included,
// shadowed ones are not.
type Field struct {
	// Name is the key in JSON.
	Name string

	// Index is the path from the struct to the field, through embedded structs.
	Index []int

	// Field is the declaration.
	Field reflect.StructField

	TagOptions

	tagged bool
}

// TagOptions are the options of a json tag: omitempty, omitzero and string.
type TagOptions struct {
	OmitEmpty bool
	OmitZero  bool
	Quoted    bool
}

// Fields lists the fields that encoding/json reads and writes for the struct type t, in
// the order of their declaration. Callers share the list, and must not change it.
func Fields(t reflect.Type) []Field {
	known, ok := knownFields.Load(t)
	if !ok {
		known, _ = knownFields.LoadOrStore(t, dominant(candidates(t)))
	}
	fields, _ := known.([]Field)

	return fields
}

// knownFields has the lists of [Fields] by type. The schema of a type, its decoder, its encoder and their checks
// each ask for its fields, and each type that embeds it does so again.
var knownFields sync.Map

// candidates lists the fields of t and of its embedded structs. One that shares a name with another may come
// twice.
func candidates(t reflect.Type) []Field {
	var all []Field

	level := []embedded{{typ: t}}
	seen := map[reflect.Type]bool{}

	for len(level) > 0 {
		var next []embedded
		count := map[reflect.Type]int{}
		for _, e := range level {
			count[e.typ]++
		}

		for _, e := range level {
			if seen[e.typ] {
				continue
			}
			fields, deeper := e.fields()
			all = append(all, fields...)
			next = append(next, deeper...)
			if count[e.typ] > 1 {
				// The same type twice on one level hides its own fields.
				all = append(all, fields...)
			}
		}

		for _, e := range level {
			seen[e.typ] = true
		}
		level = next
	}

	return all
}

type embedded struct {
	typ   reflect.Type
	index []int
}

// fields returns the fields that e itself declares, and the structs that it embeds.
func (e embedded) fields() ([]Field, []embedded) {
	var fields []Field
	var deeper []embedded

	for f := range e.typ.Fields() {
		typ := f.Type
		if typ.Kind() == reflect.Pointer && typ.Name() == "" {
			typ = typ.Elem()
		}
		if !f.IsExported() && (!f.Anonymous || typ.Kind() != reflect.Struct) {
			continue
		}

		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		index := slices.Clip(slices.Concat(e.index, f.Index)) // callers share it

		if f.Anonymous && name == "" && typ.Kind() == reflect.Struct {
			deeper = append(deeper, embedded{typ: typ, index: index})
			continue
		}

		fields = append(fields, newField(f, name, options, index))
	}

	return fields, deeper
}

func newField(f reflect.StructField, name, options string, index []int) Field {
	field := Field{Name: name, Index: index, Field: f, TagOptions: tagOptions(options), tagged: name != ""}
	if name == "" {
		field.Name = f.Name
	}

	return field
}

// OptionsOf returns the options of the json tag of a field.
func OptionsOf(f reflect.StructField) TagOptions {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")

	return tagOptions(options)
}

func tagOptions(text string) TagOptions {
	var options TagOptions
	for option := range strings.SplitSeq(text, ",") {
		switch option {
		case "omitempty":
			options.OmitEmpty = true
		case "omitzero":
			options.OmitZero = true
		case "string":
			options.Quoted = true
		}
	}

	return options
}

// dominant chooses between fields with one name: the least deep one, or among several of that depth the only
// one with a name in its tag, or none.
func dominant(all []Field) []Field {
	var fields []Field
	for _, same := range named(all) {
		if !tied(same) {
			fields = append(fields, same[0])
		}
	}

	slices.SortFunc(fields, func(a, b Field) int { return slices.Compare(a.Index, b.Index) })

	return fields
}

// named groups fields by their names. The field that encoding/json would choose comes first.
func named(all []Field) map[string][]Field {
	byName := map[string][]Field{}
	for _, f := range all {
		byName[f.Name] = append(byName[f.Name], f)
	}
	for _, same := range byName {
		slices.SortStableFunc(same, func(a, b Field) int {
			switch {
			case len(a.Index) != len(b.Index):
				return len(a.Index) - len(b.Index)
			case a.tagged == b.tagged:
				return 0
			case a.tagged:
				return -1
			default:
				return 1
			}
		})
	}

	return byName
}

// tied reports whether encoding/json leaves out all fields of a name, because it prefers none of them.
func tied(same []Field) bool {
	return len(same) > 1 && len(same[0].Index) == len(same[1].Index) && same[0].tagged == same[1].tagged
}

// validName reports whether encoding/json accepts a name in a tag.
func validName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}

	return name != ""
}

// Tied returns an error if several fields of a struct have one name in JSON and encoding/json prefers none of
// them, so that it leaves out all of them.
func Tied(t reflect.Type) error {
	for name, same := range named(candidates(t)) {
		if tied(same) {
			return fmt.Errorf("%v: the fields %s and %s have one name in JSON, %q, and so are left out of it",
				t, nameAt(t, same[0].Index), nameAt(t, same[1].Index), name)
		}
	}

	return nil
}

// nameAt returns the name of a field with those of the embedded structs around it.
func nameAt(t reflect.Type, index []int) string {
	names := make([]string, len(index))
	for i := range index {
		names[i] = t.FieldByIndex(index[:i+1]).Name
	}

	return strings.Join(names, ".")
}
