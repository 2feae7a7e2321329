package body

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// filler is the default of a field.
type filler struct {
	text   json.RawMessage
	value  reflect.Value
	shared bool // value may stand in many places at once
	format string
}

var timeType = reflect.TypeFor[time.Time]()

func newFiller(t reflect.Type, format string, text json.RawMessage) (*filler, error) {
	value := reflect.New(t)
	if err := Unmarshal(text, value.Interface(), format); err != nil {
		return nil, fmt.Errorf("its default does not fit its type: %w", err)
	}
	k := t.Kind()

	return &filler{
		text: text, value: value.Elem(), format: format,
		shared: k == reflect.String || k >= reflect.Bool && k <= reflect.Float64 || t == timeType,
	}, nil
}

// set writes the default. The text was decoded once before, so it decodes.
func (f *filler) set(field reflect.Value) {
	if f.shared {
		field.Set(f.value)
		return
	}
	_ = Unmarshal(f.text, field.Addr().Interface(), f.format)
}

// frame is a value of the document that has something to fill, or that leads to one. A
// frame comes after its parent. The first frame is the top of the document.
type frame struct {
	parent int
	step   step
	value  reflect.Value

	// Entries of a map cannot be written to: value is inside of entry, which is a copy
	// that outer gets back under key.
	outer, key, entry reflect.Value
}

// fill is a field to be written once the codec is done: with its default, or with its
// zero value when it has none.
type fill struct {
	frame int
	prop  *property
}

// later notes that the property of the current value gets its default.
func (s *scanner) later(p *property) {
	s.fills = append(s.fills, fill{frame: s.frame(len(s.path)), prop: p})
}

// drop notes that the property which is being read is to be cleared.
func (s *scanner) drop(p *property) {
	s.fills = append(s.fills, fill{frame: s.frame(len(s.path) - 1), prop: p})
}

// frame returns the frame of the value to which the first n steps lead, and makes those
// that are not there yet.
func (s *scanner) frame(n int) int {
	if len(s.frames) == 0 {
		s.frames = append(s.frames, frame{})
	}

	made := n
	for made > 0 && s.path[made-1].frame == 0 {
		made--
	}
	parent := 0
	if made > 0 {
		parent = s.path[made-1].frame
	}

	for i := made; i < n; i++ {
		s.path[i].frame = len(s.frames)
		s.frames = append(s.frames, frame{parent: parent, step: s.path[i]})
		parent = s.path[i].frame
	}

	return parent
}

// fill writes what was noted while reading into the decoded value.
func (s *scanner) fill(top reflect.Value) {
	s.frames[0].value = settle(top)
	for i := 1; i < len(s.frames); i++ {
		f := &s.frames[i]
		if parent := s.frames[f.parent].value; parent.IsValid() {
			f.enter(parent)
		}
	}

	for _, fill := range s.fills {
		object := s.frames[fill.frame].value
		if !object.IsValid() || object.Kind() != reflect.Struct {
			continue
		}
		field := fieldAt(object, fill.prop.index)
		if fill.prop.filler != nil {
			fill.prop.filler.set(field)
		} else {
			field.SetZero()
		}
	}

	// Inner maps stand in the copies that outer ones get back.
	for i := len(s.frames) - 1; i > 0; i-- {
		if f := &s.frames[i]; f.outer.IsValid() {
			f.outer.SetMapIndex(f.key, f.entry)
		}
	}
}

// enter finds the value of the frame below its parent's.
func (f *frame) enter(parent reflect.Value) {
	switch {
	case f.step.prop != nil:
		if parent.Kind() == reflect.Struct && f.step.prop.index != nil {
			f.value = settle(fieldAt(parent, f.step.prop.index))
		}
	case f.step.index >= 0:
		if k := parent.Kind(); (k == reflect.Slice || k == reflect.Array) && f.step.index < parent.Len() {
			f.value = settle(parent.Index(f.step.index))
		}
	case parent.Kind() == reflect.Map:
		f.enterMap(parent)
	}
}

func (f *frame) enterMap(parent reflect.Value) {
	key := mapKey(parent.Type().Key(), f.step.name)
	if !key.IsValid() {
		return
	}
	entry := parent.MapIndex(key)
	if !entry.IsValid() {
		return
	}
	if entry.Kind() == reflect.Pointer {
		f.value = settle(entry)
		return
	}

	f.outer, f.key, f.entry = parent, key, reflect.New(entry.Type()).Elem()
	f.entry.Set(entry)
	f.value = settle(f.entry)
}

// mapKey reads a key as encoding/json does.
func mapKey(t reflect.Type, name string) reflect.Value {
	key := reflect.New(t)
	if text, ok := reflect.TypeAssert[encoding.TextUnmarshaler](key); ok {
		if text.UnmarshalText([]byte(name)) != nil {
			return reflect.Value{}
		}

		return key.Elem()
	}

	switch k := t.Kind(); {
	case k == reflect.String:
		key.Elem().SetString(strings.Clone(name))
	case isInt(k):
		n, err := strconv.ParseInt(name, 10, t.Bits())
		if err != nil {
			return reflect.Value{}
		}
		key.Elem().SetInt(n)
	case isUint(k):
		n, err := strconv.ParseUint(name, 10, t.Bits())
		if err != nil {
			return reflect.Value{}
		}
		key.Elem().SetUint(n)
	}

	return key.Elem()
}

// settle goes through pointers and Opt to the value inside, which is invalid when there
// is none.
func settle(v reflect.Value) reflect.Value {
	for v.IsValid() {
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
			continue
		}
		if !v.CanAddr() || v.Kind() != reflect.Struct {
			break
		}
		inside, ok := reflect.TypeAssert[interface{ Inside() any }](v.Addr())
		if !ok {
			break
		}
		v = reflect.ValueOf(inside.Inside())
	}

	return v
}

// fieldAt is the field at index, through embedded pointers that are made when nil.
func fieldAt(v reflect.Value, index []int) reflect.Value {
	for i, at := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}

	return v
}
