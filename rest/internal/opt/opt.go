// Package opt has a value that knows whether it was sent: absent, null, or set. It is for
// inputs where leaving a field out, and sending null for it, mean different things.
package opt

import (
	"encoding/json"
	"reflect"
)

type state uint8

const (
	absent state = iota
	null
	set
)

// Opt is a T that is absent, null or set. The zero Opt is absent.
//
// In JSON an absent Opt is left out by `omitzero`, and is null without it. Decoding leaves
// an Opt absent when its key is not in the document.
type Opt[T any] struct {
	value T
	state state
}

// Some is an Opt that is set to value.
func Some[T any](value T) Opt[T] { return Opt[T]{value: value, state: set} }

// Null is an Opt that was given as null.
func Null[T any]() Opt[T] { return Opt[T]{state: null} }

// Get returns the value and whether it is set. The value is T's zero when it is not.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == set }

// Or returns the value when it is set, and def when it is absent or null.
func (o Opt[T]) Or(def T) T {
	if o.state == set {
		return o.value
	}

	return def
}

// IsSet reports whether there is a value.
func (o Opt[T]) IsSet() bool { return o.state == set }

// IsNull reports whether null was given.
func (o Opt[T]) IsNull() bool { return o.state == null }

// IsAbsent reports whether nothing was given.
func (o Opt[T]) IsAbsent() bool { return o.state == absent }

// IsZero is [Opt.IsAbsent], under the name that encoding/json asks for with `omitzero`.
func (o Opt[T]) IsZero() bool { return o.state == absent }

// MarshalJSON writes the value, or null when there is none.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != set {
		return []byte("null"), nil
	}

	return json.Marshal(o.value)
}

// UnmarshalJSON reads null as null and everything else as T. When T refuses the text, o
// stays as it was.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*o = Null[T]()
		return nil
	}

	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	*o = Some(value)

	return nil
}

// Elem is the type of the value, for code that sees the Opt through reflection.
func (Opt[T]) Elem() reflect.Type { return reflect.TypeFor[T]() }

// Inside is a *T that points to the value in o, or nil when none is set. It is for code
// that sees the Opt through reflection.
func (o *Opt[T]) Inside() any {
	if o.state != set {
		return nil
	}

	return &o.value
}

// Open sets o and returns a *T to fill, for code that sees the Opt through reflection.
func (o *Opt[T]) Open() any {
	o.state = set

	return &o.value
}

// SetNull makes o null.
func (o *Opt[T]) SetNull() { *o = Null[T]() }

// SetText sets o from text that the caller parses: parse gets a *T to fill. When parse
// fails, its error is returned and o stays as it was.
func (o *Opt[T]) SetText(parse func(dst any) error) error {
	var value T
	if err := parse(&value); err != nil {
		return err
	}
	*o = Some(value)

	return nil
}

// Text is what a reader of parameters needs to know of an Opt whose T it cannot name. A
// *Opt[T] is one for every T.
type Text interface {
	// Elem is the type that parse of SetText is given a pointer to.
	Elem() reflect.Type

	// SetText calls parse with a pointer to a new value, and sets the Opt to that value
	// when parse returns nil.
	SetText(parse func(dst any) error) error
}

// Target is what a reader of bodies needs to know of an Opt whose T it cannot name. A
// *Opt[T] is one for every T.
type Target interface {
	// Open sets the Opt and returns a pointer to its value, which is to be filled.
	Open() any

	// SetNull makes the Opt null.
	SetNull()
}

var textType = reflect.TypeFor[Text]()

// ElemOf returns the T of the type Opt[T], and false for every other type.
func ElemOf(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct || t.PkgPath() != textType.PkgPath() || !reflect.PointerTo(t).Implements(textType) {
		return nil, false
	}

	text, ok := reflect.TypeAssert[Text](reflect.New(t))
	if !ok {
		return nil, false
	}

	return text.Elem(), true
}
