package driver

import (
	"database/sql/driver"
	"encoding"
	"reflect"
	"time"
)

// Kind is the kind of a field's values. It decides which lookups and values the field takes.
type Kind uint8

// The kinds of fields.
const (
	// Opaque is a field that is stored but cannot be compared, such as a map. It takes only
	// the lookup isnull.
	Opaque Kind = iota
	// Bool is false or true, in that order.
	Bool
	// Int is a whole number of any size, signed or not.
	Int
	// Float is a floating point number.
	Float
	// String is text.
	String
	// Time is a moment.
	Time
	// Bytes is binary data.
	Bytes
	// Other is a type with its own form in the database or as text, such as a UUID. It can be
	// ordered if it has a method Compare or Cmp, or has 16 bytes.
	Other
)

// String returns the name of k for messages.
func (k Kind) String() string {
	return [...]string{"opaque", "bool", "int", "float", "text", "time", "bytes", "custom"}[k]
}

var (
	timeType   = reflect.TypeFor[time.Time]()
	valuerType = reflect.TypeFor[driver.Valuer]()
	textType   = reflect.TypeFor[encoding.TextMarshaler]()
	bytesOf    = reflect.TypeFor[byte]()
)

// scalar describes how the values of a type are read: through pointers, and through structs
// that pair a value with a flag for null, such as those of database/sql.
type scalar struct {
	kind     Kind
	nullable bool
	// inner is the index of the value in such a struct, and valid the index of the flag.
	inner, valid int
	// zeroNull is true for a struct around a time whose zero value is null, such as
	// bun.NullTime.
	zeroNull bool
	// typ is the type of the value itself.
	typ reflect.Type
	// compare is the index of the method Compare or Cmp of an Other type, or -1.
	compare int
	// bytes is true for an Other type of 16 bytes, such as a UUID. It is ordered by its bytes.
	bytes bool
}

// ordered reports whether values of an Other type can be ordered.
func (s *scalar) ordered() bool { return s.compare >= 0 || s.bytes }

// scalarOf describes t, which may be a pointer. It returns false if t is not a column type: a
// plain struct or a list of structs.
func scalarOf(t reflect.Type) (scalar, bool) {
	s := scalar{inner: -1, valid: -1, compare: -1}
	for t.Kind() == reflect.Pointer {
		s.nullable, t = true, t.Elem()
	}
	if inner, valid, ok := paired(t); ok {
		s.nullable, s.inner, s.valid = true, inner, valid
		t = t.Field(inner).Type
	}
	if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous && t.Field(0).Type == timeType {
		s.nullable, s.inner, s.zeroNull = true, 0, true
		t = timeType
	}
	s.typ = t
	kind, ok := kindOf(t)
	s.kind = kind
	switch kind {
	case Other:
		s.compare = comparer(t)
		s.bytes = t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
		s.nullable = s.nullable || t.Kind() == reflect.Struct || t.Kind() == reflect.Slice
	case Bytes, Opaque:
		s.nullable = true
	}
	return s, ok
}

// paired returns the indexes of the value and the flag in a struct such as sql.NullString.
func paired(t reflect.Type) (inner, valid int, ok bool) {
	if t.Kind() != reflect.Struct || t.NumField() != 2 {
		return 0, 0, false
	}
	for i := range 2 {
		f := t.Field(i)
		if f.Name == "Valid" && f.Type.Kind() == reflect.Bool && t.Field(1-i).IsExported() &&
			reflect.PointerTo(t).Implements(valuerType) {
			return 1 - i, i, true
		}
	}
	return 0, 0, false
}

func kindOf(t reflect.Type) (Kind, bool) {
	if t == timeType {
		return Time, true
	}
	own := implements(t, valuerType)
	if !own && implements(t, textType) {
		own = t.Kind() == reflect.Struct || t.Kind() == reflect.Array || t.Kind() == reflect.Slice
	}
	if own {
		return Other, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return Bool, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Int, true
	case reflect.Float32, reflect.Float64:
		return Float, true
	case reflect.String:
		return String, true
	case reflect.Struct:
		return sameTime(t)
	case reflect.Slice:
		return listKind(t)
	default:
		return Opaque, true
	}
}

// sameTime returns Time for a struct type that is convertible to time.Time.
func sameTime(t reflect.Type) (Kind, bool) {
	if t.ConvertibleTo(timeType) {
		return Time, true
	}
	return Opaque, false
}

func listKind(t reflect.Type) (Kind, bool) {
	if t.Elem() == bytesOf {
		return Bytes, true
	}
	elem := t.Elem()
	for elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	if elem.Kind() != reflect.Struct {
		return Opaque, true
	}
	_, ok := kindOf(elem)
	return Opaque, ok
}

func implements(t, face reflect.Type) bool {
	return t.Implements(face) || reflect.PointerTo(t).Implements(face)
}

// comparer returns the index of a method that orders values of t, Compare or Cmp with another
// t, or -1.
func comparer(t reflect.Type) int {
	for _, name := range []string{"Compare", "Cmp"} {
		m, ok := t.MethodByName(name)
		if ok && m.Type.NumIn() == 2 && m.Type.In(1) == t && m.Type.NumOut() == 1 && m.Type.Out(0).Kind() == reflect.Int {
			return m.Index
		}
	}
	return -1
}
