// Package strictjson finds keys of JSON objects that two readers may understand differently: a key that
// occurs twice in an object, and a key that has a field's name in another letter case. [Decode] is for JSON
// from outside what [json.Unmarshal] is for saved JSON.
//
// [encoding/json] accepts both. It keeps the last of several values, and matches names without regard
// to case. So if a check looks at one spelling, the value of the other spelling is not checked.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
)

// Check returns a [spool.Invalid] error that names the first doubtful key of text, which must be valid
// JSON. Into is the value that text is decoded into, or a pointer to it. In a struct, Check compares
// the names of fields without regard to case; in a map, it compares exact keys. It ignores the contents
// of values that decode themselves, such as [json.RawMessage], and keys that a struct does not know.
func Check(text []byte, into any) error {
	s := scanner{text: text}
	return s.value(reflect.TypeOf(into), "")
}

// Decode decodes text into the value that into points to. It returns a [spool.Invalid] error that names the
// first value of a wrong type below path, and the first key that [Check] refuses. On an error, the value is
// not changed.
func Decode(path string, text []byte, into any) error {
	if !json.Valid(text) {
		return spool.Errorf(spool.Invalid, "%s is not JSON", path)
	}
	s := scanner{text: text, types: true}
	if err := s.value(reflect.TypeOf(into), path); err != nil {
		return err
	}
	if json.Unmarshal(text, into) != nil {
		return spool.Errorf(spool.Invalid, "%s is not valid", path)
	}
	return nil
}

// IsObject reports whether text, which must be valid JSON, is an object.
func IsObject(text []byte) bool {
	s := scanner{text: text}
	s.space()
	return s.peek() == '{'
}

// scanner walks over valid JSON. It stores no values.
type scanner struct {
	text []byte
	at   int
	// types is true if values of wrong types are refused.
	types bool
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// value walks over one value, which is decoded into t and has the given path. A nil t means that the
// value is not decoded.
func (s *scanner) value(t reflect.Type, path string) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(decodesItself) {
		t = nil
	}
	s.space()
	if want := s.wrong(t); want != "" {
		return spool.Errorf(spool.Invalid, "%s must be %s", path, want)
	}
	switch c := s.peek(); {
	case c == '{' && t != nil && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		return s.object(t, path)
	case c == '[' && t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		return s.array(t.Elem(), path)
	default:
		s.skip()
		return nil
	}
}

// wrong returns what the value at the current position must be, or "" if [json.Unmarshal] takes it for t.
func (s *scanner) wrong(t reflect.Type) string {
	c := s.peek()
	if !s.types || t == nil || c == 'n' {
		return ""
	}
	number := c == '-' || '0' <= c && c <= '9'
	switch t.Kind() {
	case reflect.String:
		return unless(c == '"', "a string")
	case reflect.Bool:
		return unless(c == 't' || c == 'f', "true or false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		end := scanner{text: s.text, at: s.at}
		end.skip()
		_, err := strconv.ParseInt(string(s.text[s.at:end.at]), 10, t.Bits())
		return unless(number && err == nil, "an integer")
	case reflect.Struct, reflect.Map:
		return unless(c == '{', "an object")
	case reflect.Slice, reflect.Array:
		return unless(c == '[', "an array")
	default:
		return ""
	}
}

func unless(right bool, want string) string {
	if right {
		return ""
	}
	return want
}

func (s *scanner) object(t reflect.Type, path string) error {
	s.at++
	seen := make(map[string]bool)
	for s.space(); s.peek() != '}' && s.more(); s.space() {
		key := s.key()
		child, known := fieldOf(t, key)
		name := child.name
		if path != "" {
			name = path + "." + name
		}
		switch {
		case known && key != child.name:
			return spool.Errorf(spool.Invalid, "%s must be spelled exactly so, not %q", name, key)
		case known && seen[key]:
			return spool.Errorf(spool.Invalid, "%s is there twice", name)
		}
		if known {
			seen[key] = true
		}
		s.space()
		s.at++ // the colon
		if err := s.value(child.kind, name); err != nil {
			return err
		}
		s.space()
		if s.peek() == ',' {
			s.at++
		}
	}
	s.at++
	return nil
}

func (s *scanner) array(of reflect.Type, path string) error {
	s.at++
	s.space()
	for i := 0; s.peek() != ']' && s.more(); i++ {
		if err := s.value(of, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
		s.space()
		if s.peek() == ',' {
			s.at++
		}
		s.space()
	}
	s.at++
	return nil
}

// field is the struct field or map entry for a key.
type field struct {
	name string
	kind reflect.Type
}

// known caches the fields of struct types.
var known sync.Map // of reflect.Type to []field

func fieldsOf(t reflect.Type) []field {
	if found, ok := known.Load(t); ok {
		return found.([]field) //nolint:forcetypeassert,errcheck // nothing else is stored
	}
	var all []field
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || f.Anonymous && name == "" {
			continue
		}
		all = append(all, field{cmp.Or(name, f.Name), f.Type})
	}
	known.Store(t, all)
	return all
}

// fieldOf returns the field of t that encoding/json uses for the key, or false if t has none.
func fieldOf(t reflect.Type, key string) (field, bool) {
	if t.Kind() == reflect.Map {
		return field{key, t.Elem()}, true
	}
	var found field
	for _, f := range fieldsOf(t) {
		if f.name == key {
			return f, true
		}
		if found.kind == nil && strings.EqualFold(f.name, key) {
			found = f
		}
	}
	return found, found.kind != nil
}

// key reads the string at the current position.
func (s *scanner) key() string {
	from := s.at
	s.skip()
	raw := s.text[from:s.at]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(bytes.Trim(raw, `"`))
	}
	var text string
	_ = json.Unmarshal(raw, &text) // the whole text is valid
	return text
}

// skip passes one value.
func (s *scanner) skip() {
	depth, quoted := 0, false
	for ; s.more(); s.at++ {
		c := s.text[s.at]
		switch {
		case quoted && c == '\\':
			s.at++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c == '{', c == '[':
			depth++
			continue
		case c == '}', c == ']':
			if depth == 0 { // the end of the object or array that contains a number
				return
			}
			depth--
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return
		default:
			continue
		}
		if depth == 0 && !quoted {
			s.at++
			return
		}
	}
}

func (s *scanner) space() {
	for s.more() && strings.IndexByte(" \t\r\n", s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *scanner) more() bool { return s.at < len(s.text) }

func (s *scanner) peek() byte {
	if !s.more() {
		return 0
	}
	return s.text[s.at]
}
