// Package strictjson finds keys of JSON objects that two readers may understand differently: a
// key that an object has twice, and a key that has a field's name in other letter case.
//
// [encoding/json] takes both. It keeps the last of several values, and matches names without
// regard to case. A check that looks at one spelling then lets the value of the other pass.
package strictjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
)

// Check returns a [spool.Invalid] error that names the first doubtful key of text, which has to
// be valid JSON. into is the value, or a pointer to the value, that text is decoded into. In a
// struct, names of fields and their other spellings are compared; in a map, exact keys are.
// Check does not look into values that decode themselves, such as a [json.RawMessage], and keys
// that a struct does not know are not compared.
func Check(text []byte, into any) error {
	s := scanner{text: text}
	return s.value(reflect.TypeOf(into), "")
}

// scanner walks over valid JSON. It keeps nothing of the values.
type scanner struct {
	text []byte
	at   int
}

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// value walks over one value, which is decoded into t and is called path. A nil t: nobody
// decodes it.
func (s *scanner) value(t reflect.Type, path string) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && reflect.PointerTo(t).Implements(decodesItself) {
		t = nil
	}
	s.space()
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

// field is what a key stands for.
type field struct {
	name string
	kind reflect.Type
}

// known are the fields of a struct by its type, which are the same for as long as the program
// runs.
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

// fieldOf returns the field of t that encoding/json takes the key for. It reports false where
// there is none.
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

// key reads the string that stands here.
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

// skip passes one value, whatever is in it.
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
			if depth == 0 { // the end of what a number stands in
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
