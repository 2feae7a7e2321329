package driver

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/spoolhq/spool/rest/internal/opt"
)

// Model describes the logical fields and relations of a struct type. There is one for each
// type. It is safe for concurrent use.
//
// An exported field is a column if its type is a scalar, a pointer to one, or a type with its
// own form in the database. A struct or a pointer to one is a to-one relation; a slice of
// structs is a to-many relation. Embedded structs are flattened, also fields that bun or gorm
// embeds. The tags bun:"-" and gorm:"-" leave a field out. A column type given to bun (type:)
// or gorm (type:, serializer:) makes a struct or a list a column. A rest.Opt is neither: no
// database stores it.
type Model struct {
	typ    reflect.Type
	names  []string
	fields map[string]*Field
	rels   map[string]*Relation
	key    []*Field
}

// Field is one column of a model.
type Field struct {
	// Name is the logical name: the Go name in snake_case.
	Name string
	// Go is the field's Go name, for messages.
	Go string
	// Index is the index of the field in the model's struct, through embedded structs.
	Index []int
	// Type is the Go type, including its pointer.
	Type reflect.Type
	// Kind is the kind of the field's values.
	Kind Kind
	// Nullable is true when the field can hold null.
	Nullable bool
	// Format is the value of the tag format: "date" for a time that is sent as a date.
	Format string

	scalar   scalar
	zeroNull bool
}

// Relation is a relation from one model to another.
type Relation struct {
	// Name is the logical name.
	Name string
	// Go is the field's Go name, for messages.
	Go string
	// Index is the index of the field in the model's struct.
	Index []int
	// Many is true for a to-many relation, and false if there is at most one related row.
	Many bool

	elem  reflect.Type
	model func() *Model
}

// Model returns the model at the end of the relation.
func (r *Relation) Model() *Model { return r.model() }

var models sync.Map // reflect.Type -> *Model

// ModelOf returns the model of t, or of the type that t points to. If it is not a struct, the
// model has no fields.
func ModelOf(t reflect.Type) *Model {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if m, ok := models.Load(t); ok {
		return m.(*Model) //nolint:errcheck // only models are stored
	}
	m := &Model{typ: t, fields: map[string]*Field{}, rels: map[string]*Relation{}}
	if t.Kind() == reflect.Struct {
		m.add(t, nil, "", false)
		m.findKey(t)
	}
	kept, _ := models.LoadOrStore(t, m)
	return kept.(*Model) //nolint:errcheck // only models are stored
}

// Type returns the struct type.
func (m *Model) Type() reflect.Type { return m.typ }

// Field returns the field with the logical name, or nil.
func (m *Model) Field(name string) *Field { return m.fields[name] }

// FieldAt returns the field at an index of the struct, or nil.
func (m *Model) FieldAt(index []int) *Field {
	for _, f := range m.fields {
		if slices.Equal(f.Index, index) {
			return f
		}
	}
	return nil
}

// Relation returns the relation with the logical name, or nil.
func (m *Model) Relation(name string) *Relation { return m.rels[name] }

// Names returns the logical names of fields and relations in the order of the struct. The
// caller must not change it.
func (m *Model) Names() []string { return m.names }

// Key returns the fields that identify a row: those tagged as primary key for bun or gorm, or
// else the field ID, or else none. The caller must not change it.
func (m *Model) Key() []*Field { return m.key }

// String returns the name of the struct type, for messages.
func (m *Model) String() string { return m.typ.String() }

func (m *Model) add(t reflect.Type, index []int, prefix string, null bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int(nil), index...), i)
		if excluded(f) || !f.IsExported() && !f.Anonymous || isOpt(f.Type) {
			continue
		}
		s, column := scalarOf(f.Type)
		struc, pointer := structOf(f.Type)
		flat, sub := embedded(f)
		switch {
		case flat && struc != nil && !column:
			m.add(struc, at, prefix+sub, null || pointer)
		case !f.IsExported():
		case column || typed(f):
			m.addField(f, s, column, at, prefix, null)
		default:
			m.addRelation(f, at, prefix)
		}
	}
}

func (m *Model) addField(f reflect.StructField, s scalar, column bool, at []int, prefix string, null bool) {
	if !column {
		s.kind, s.nullable = Opaque, true
	}
	zero := s.zeroNull || hasOption(f.Tag.Get("bun"), "nullzero")
	field := &Field{
		Name: prefix + Snake(f.Name), Go: f.Name, Index: at, Type: f.Type, Kind: s.kind,
		Nullable: s.nullable || zero || null, Format: f.Tag.Get("format"), scalar: s, zeroNull: zero,
	}
	if m.taken(field.Name, at) {
		return
	}
	m.fields[field.Name] = field
	m.names = append(m.names, field.Name)
}

func (m *Model) addRelation(f reflect.StructField, at []int, prefix string) {
	elem, _ := structOf(f.Type)
	many := elem == nil
	if many {
		elem, _ = structOf(through(f.Type).Elem())
	}
	rel := &Relation{
		Name: prefix + Snake(f.Name), Go: f.Name, Index: at, Many: many, elem: elem,
		model: sync.OnceValue(func() *Model { return ModelOf(elem) }),
	}
	if m.taken(rel.Name, at) {
		return
	}
	m.rels[rel.Name] = rel
	m.names = append(m.names, rel.Name)
}

// taken reports whether an existing field or relation keeps the name: as in Go, the less
// deeply embedded one wins. If the new one wins, taken removes the old one.
func (m *Model) taken(name string, at []int) bool {
	var old []int
	switch {
	case m.fields[name] != nil:
		old = m.fields[name].Index
	case m.rels[name] != nil:
		old = m.rels[name].Index
	default:
		return false
	}
	if len(old) <= len(at) {
		return true
	}
	delete(m.fields, name)
	delete(m.rels, name)
	for i, n := range m.names {
		if n == name {
			m.names = append(m.names[:i], m.names[i+1:]...)
			break
		}
	}
	return false
}

func (m *Model) findKey(t reflect.Type) {
	for _, name := range m.names {
		f := m.fields[name]
		if f == nil {
			continue
		}
		tag := t.FieldByIndex(f.Index).Tag
		gorm := strings.ToLower(strings.ReplaceAll(tag.Get("gorm"), "_", ""))
		if hasOption(tag.Get("bun"), "pk") || hasSetting(gorm, "primarykey") {
			m.key = append(m.key, f)
		}
	}
	if id := m.fields["id"]; len(m.key) == 0 && id != nil && id.Go == "ID" {
		m.key = []*Field{id}
	}
	for _, f := range m.key {
		f.Nullable = f.scalar.nullable
		f.zeroNull = false
	}
}

// structOf returns the struct type that t is or points to, or nil, and whether t is a pointer.
func structOf(t reflect.Type) (struc reflect.Type, pointer bool) {
	for t.Kind() == reflect.Pointer {
		t, pointer = t.Elem(), true
	}
	if t.Kind() != reflect.Struct {
		return nil, pointer
	}
	return t, pointer
}

func through(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isOpt reports whether t is a rest.Opt, which no database stores: it is for inputs.
func isOpt(t reflect.Type) bool {
	_, ok := opt.ElemOf(through(t))
	return ok
}

func excluded(f reflect.StructField) bool {
	bun, _, _ := strings.Cut(f.Tag.Get("bun"), ",")
	gorm := f.Tag.Get("gorm")
	return bun == "-" || gorm == "-" || gorm == "-:all"
}

// embedded reports whether the field's struct is flattened into the outer one, and its name
// prefix.
func embedded(f reflect.StructField) (flat bool, prefix string) {
	if f.Anonymous {
		return true, ""
	}
	if strings.Contains(f.Tag.Get("bun"), "embed:") || hasSetting(strings.ToLower(f.Tag.Get("gorm")), "embedded") {
		return true, Snake(f.Name) + "_"
	}
	return false, ""
}

// typed reports whether a tag makes the field a column.
func typed(f reflect.StructField) bool {
	gorm := strings.ToLower(f.Tag.Get("gorm"))
	return strings.Contains(f.Tag.Get("bun"), "type:") ||
		hasSetting(gorm, "type") || hasSetting(gorm, "serializer")
}

func hasOption(tag, option string) bool {
	_, rest, _ := strings.Cut(tag, ",")
	for part := range strings.SplitSeq(rest, ",") {
		if strings.TrimSpace(part) == option {
			return true
		}
	}
	return false
}

func hasSetting(tag, setting string) bool {
	for part := range strings.SplitSeq(tag, ";") {
		name, _, _ := strings.Cut(part, ":")
		if strings.TrimSpace(name) == setting {
			return true
		}
	}
	return false
}

// Snake returns the logical name of a Go name: author_id for AuthorID, http_server for
// HTTPServer.
func Snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && runes[i-1] != '_' {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(runes[i-1]) || after {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
