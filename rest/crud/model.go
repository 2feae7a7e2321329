package crud

import (
	sqldriver "database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/comment"
	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/valid"
	"github.com/spoolhq/spool/rest/internal/wire"
	"github.com/spoolhq/spool/rest/query/driver"
)

// model describes a struct type. There is one for each type.
type model struct {
	typ     reflect.Type
	name    string
	logical *driver.Model
	columns []*driver.Field
	key     *driver.Field
	given   bool // the client chooses the key
	version *driver.Field
	parents []*driver.Field

	valid  *valid.Tree // nil if no value in a row has a method Validate
	fields []*field    // the JSON fields
	// The types of bodies and answers, made from the model's fields. shown is nil if nothing
	// is hidden.
	create, update, patch, shown reflect.Type
	shownFields                  []*field
}

type field struct {
	name     string
	key      string // of its comment
	index    []int
	decl     reflect.StructField
	column   *driver.Field // nil if it is not stored
	onCreate bool          // create reads the field
	onUpdate bool
	hidden   bool // never shown
	nullable bool
	fallback json.RawMessage // the default, if there is one
}

var (
	models    sync.Map // reflect.Type -> modelOrError
	errStruct = errors.New("a model is a struct")
)

type modelOrError struct {
	model *model
	err   error
}

func modelOf(t reflect.Type) (*model, error) {
	if known, ok := models.Load(t); ok {
		m := known.(modelOrError) //nolint:errcheck // nothing else is stored
		return m.model, m.err
	}
	m, err := compile(t)
	if err != nil {
		err = fmt.Errorf("model %v: %w", t, err)
	}
	models.Store(t, modelOrError{m, err})
	return m, err
}

func compile(t reflect.Type) (*model, error) {
	if t.Kind() != reflect.Struct {
		return nil, errStruct
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	m := &model{typ: t, name: name, logical: driver.ModelOf(t)}
	for _, name := range m.logical.Names() {
		if f := m.logical.Field(name); f != nil {
			m.columns = append(m.columns, f)
		}
	}
	if key := m.logical.Key(); len(key) == 1 {
		m.key = key[0]
	} else {
		return nil, fmt.Errorf("its key has %d fields: it has to be one, tagged as primary key for bun or gorm or named ID",
			len(key))
	}
	if err := m.readTags(); err != nil {
		return nil, err
	}
	for _, f := range body.Fields(t) {
		if err := m.addField(f); err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Field.Name, err)
		}
	}
	m.compileDocuments()
	tree, err := valid.Document(t)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the type
	}
	m.valid = tree
	return m, nil
}

// readTags reads the crud tags of columns: which one is given, version or parent.
func (m *model) readTags() error {
	for _, f := range m.columns {
		decl := m.typ.FieldByIndex(f.Index)
		for word := range strings.SplitSeq(decl.Tag.Get("crud"), ",") {
			switch strings.TrimSpace(word) {
			case "", "readonly", "writeonly":
			case "given":
				if f != m.key {
					return fmt.Errorf("field %s: the tag crud:%q is for the key", f.Go, word)
				}
				m.given = true
			case "version":
				if m.version != nil || f.Kind != driver.Int && f.Kind != driver.Time || decl.Type.Kind() == reflect.Pointer {
					return fmt.Errorf("field %s: the tag crud:%q is for one field, a whole number or a time", f.Go, word)
				}
				m.version = f
			case "parent":
				m.parents = append(m.parents, f)
			default:
				return fmt.Errorf(
					"field %s: the tag crud:%q is not known; there are readonly, writeonly, given, version and parent", f.Go, word,
				)
			}
		}
	}
	return nil
}

func (m *model) addField(from body.Field) error {
	if from.Quoted {
		return errors.New(`the option "string" of its json tag is not supported`)
	}
	f := &field{
		name: from.Name, key: comment.Key(comment.Owner(m.typ, from.Index), from.Field), index: from.Index, decl: from.Field,
		nullable: takesNull(from.Field),
	}
	if _, ok := opt.ElemOf(through(from.Field.Type)); ok {
		return errors.New("it is a rest.Opt, which is for inputs: no database stores it. Write a pointer, and take the Opt in an Input")
	}
	if _, err := reflect.Zero(m.typ).FieldByIndexErr(f.index); err != nil {
		return errors.New("it stands in an embedded pointer; embed the struct itself")
	}
	f.column = m.logical.FieldAt(f.index)
	tag := from.Field.Tag
	f.hidden = isWriteOnly(from.Field)
	f.onCreate = !isReadOnly(from.Field) && !m.isRelation(f) && !m.isOurs(f)
	f.onUpdate = f.onCreate && (f.column != m.key || f.column == nil)
	if text, ok := tag.Lookup("default"); ok {
		f.fallback = json.RawMessage(text)
		if quoted, err := json.Marshal(text); err == nil &&
			body.Unmarshal(f.fallback, reflect.New(f.decl.Type).Interface(), f.format()) != nil {
			f.fallback = quoted
		}
	}
	m.fields = append(m.fields, f)
	return nil
}

// checkJSON returns an error if the model cannot be a document.
func (m *model) checkJSON() error {
	for _, f := range m.fields {
		if t := through(f.decl.Type); isPair(t) {
			return fmt.Errorf("model %v: field %s: JSON has a %v as an object with the field Valid: write a pointer, hide it with json:\"-\", "+
				"or set Create, Update, Patch and Out of the config", m.typ, f.decl.Name, t)
		}
	}
	if err := wire.Check(m.typ); err != nil {
		return fmt.Errorf("model %w", err)
	}
	return nil
}

// isPair reports whether t is a value with a flag for null, such as sql.NullString, without a
// JSON of its own.
func isPair(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || !t.Implements(reflect.TypeFor[sqldriver.Valuer]()) {
		return false
	}
	_, flagged := t.FieldByName("Valid")
	return flagged && !t.Implements(reflect.TypeFor[json.Marshaler]()) &&
		!t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// format returns the tag format, which says how a time or a duration is written.
func (f *field) format() string { return f.decl.Tag.Get("format") }

func (m *model) isRelation(f *field) bool {
	return slices.ContainsFunc(m.logical.Names(), func(name string) bool {
		r := m.logical.Relation(name)
		return r != nil && slices.Equal(r.Index, f.index)
	})
}

// isOurs reports whether no client may set the field.
func (m *model) isOurs(f *field) bool {
	return f.column != nil && (f.column == m.key && !m.given || f.column == m.version ||
		slices.Contains(m.parents, f.column))
}

// takesNull reports whether null is a value of the field.
func takesNull(f reflect.StructField) bool {
	if f.Tag.Get("nullable") == "true" {
		return true
	}
	_, optional := opt.ElemOf(f.Type)
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map:
		return true
	case reflect.Struct:
		_, flagged := f.Type.FieldByName("Valid")
		return optional || flagged
	default:
		return false
	}
}

// jsonName returns the JSON name of a column.
func (m *model) jsonName(logical string) string {
	for _, f := range m.fields {
		if f.column != nil && f.column.Name == logical {
			return f.name
		}
	}
	return logical
}

func at(row reflect.Value, index []int) reflect.Value { return row.FieldByIndex(index) }

// changed returns the logical names of the columns in which two rows differ.
func (m *model) changed(before, after reflect.Value) []string {
	var names []string
	for _, f := range m.columns {
		if f != m.key && !same(at(before, f.Index), at(after, f.Index)) {
			names = append(names, f.Name)
		}
	}
	return names
}

func same(a, b reflect.Value) bool {
	if a.Kind() == reflect.Pointer && (a.IsNil() || b.IsNil()) { // the methods of a time must not be called then
		return a.IsNil() == b.IsNil()
	}
	if equal, ok := reflect.TypeAssert[interface{ UnixNano() int64 }](a); ok {
		if other, ok := reflect.TypeAssert[interface{ UnixNano() int64 }](b); ok {
			return equal.UnixNano() == other.UnixNano()
		}
	}
	if a.Comparable() && a.Kind() != reflect.Pointer && a.Kind() != reflect.Interface {
		return a.Equal(b)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
