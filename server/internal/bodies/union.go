package bodies

import (
	"reflect"
	"strings"

	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

// variant is a row of a union: its type word, and the Go type that is encoded with it.
type variant struct {
	word  string
	of    reflect.Type
	about string
	has   []string // of a part: the fields
}

// union makes the type of a union for the document: a struct with pointers to its variants, each of which has
// the property type first, then the fields that layout returns. Name makes the name of a component of a word.
func (m *schemas) union(
	name, about string, rows []variant, component func(word string) string, layout func(v variant) []reflect.StructField,
) reflect.Type {
	all := described(about)
	for _, v := range rows {
		of := reflect.StructOf(append(append(described(v.about), constant(v.word)), layout(v)...))
		m.name(component(camel(v.word)), of)
		all = append(all, reflect.StructField{Name: camel(v.word), Type: reflect.PointerTo(of)})
	}
	return m.name(name, reflect.StructOf(all))
}

// constant returns the field that distinguishes a variant.
func constant(word string) reflect.StructField {
	return reflect.StructField{
		Name: "Type", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(`const:"` + word + `" json:"type"`),
	}
}

// described returns the field that has the description of a type.
func described(about string) []reflect.StructField {
	if about == "" {
		return nil
	}
	return []reflect.StructField{
		{Name: "_", PkgPath: "wire", Type: reflect.TypeFor[struct{}](), Tag: reflect.StructTag(`doc:"` + about + `"`)},
	}
}

// within has the types of fields whose Go type does not describe their content.
var within = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[wire.SubagentEvent](): {"Event": reflect.TypeFor[SubagentItem]()},
	reflect.TypeFor[agui.Message]():       {"Content": reflect.TypeFor[*agentContent]()},
}

// fieldsOf returns the encoded fields of a type, including those of embedded types.
func fieldsOf(v variant) []reflect.StructField { return fieldsOfType(v.of) }

func fieldsOfType(t reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		made := copied(t, f)
		if known := within[t][f.Name]; known != nil {
			made.Type = known
		}
		fields = append(fields, made)
	}
	return fields
}

// copied returns a field of t, which is described by the same comment.
func copied(t reflect.Type, f reflect.StructField) reflect.StructField {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	key := t.PkgPath() + "." + name + "." + f.Name
	return reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag + reflect.StructTag(` docOf:"`+key+`"`)}
}

// camel returns a word such as TOOL_CALL_START as ToolCallStart.
func camel(word string) string {
	var name strings.Builder
	for part := range strings.FieldsFuncSeq(strings.ToLower(word), func(r rune) bool { return r == '_' || r == '-' }) {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

func rowsOf[T ~string](kinds []wire.Kind[T]) (rows []variant) {
	for _, k := range kinds {
		rows = append(rows, variant{word: string(k.Type), of: k.Of, about: k.About})
	}
	return rows
}
