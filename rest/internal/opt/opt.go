// Package opt has a value that knows whether it was sent: it is absent, null or set. It is for inputs where
// leaving a field out and sending null mean different things.
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

// Some returns an Opt that is set to value.
func Some[T any](value T) Opt[T] { return Opt[T]{value: value, state: set} }

// Null returns an Opt that is null.
func Null[T any]() Opt[T] { return Opt[T]{state: null} }

// Get returns the value and whether it is set. If it is not set, the value is T's zero.
func (o Opt[T]) Get() (T, bool) { return o.value, o.state == set }

// Or returns the value if it is set, and def if it is absent or null.
func (o Opt[T]) Or(def T) T {
	if o.state == set {
		return o.value
	}

	return def
}

// IsSet reports whether there is a value.
func (o Opt[T]) IsSet() bool { return o.state == set }

// IsNull reports whether the Opt is null.
func (o Opt[T]) IsNull() bool { return o.state == null }

// IsAbsent reports whether the Opt is absent.
func (o Opt[T]) IsAbsent() bool { return o.state == absent }

// IsZero is [Opt.IsAbsent]. It has the name that encoding/json needs for `omitzero`.
func (o Opt[T]) IsZero() bool { return o.state == absent }

// MarshalJSON writes the value, or null when there is none.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if o.state != set {
		return []byte("null"), nil
	}

	return json.Marshal(o.value)
}

// UnmarshalJSON reads null as null and everything else as T. If T refuses the text, o does not change.
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

// Elem returns the type of the value, for code that sees the Opt through reflection.
func (Opt[T]) Elem() reflect.Type { return reflect.TypeFor[T]() }

// Inside returns a *T that points to the value in o, or nil if o is not set. It is for code that sees the Opt
// through reflection.
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

// SetText sets o from a text that the caller parses: parse gets a *T to fill. If parse fails, SetText returns
// its error, and o does not change.
func (o *Opt[T]) SetText(parse func(dst any) error) error {
	var value T
	if err := parse(&value); err != nil {
		return err
	}
	*o = Some(value)

	return nil
}

// Text is the interface of an Opt for readers of parameters, which do not know T. Every *Opt[T] implements
// it.
type Text interface {
	// Elem returns the type of the value. SetText gives parse a pointer to it.
	Elem() reflect.Type

	// SetText calls parse with a pointer to a new value, and sets the Opt to that value
	// when parse returns nil.
	SetText(parse func(dst any) error) error
}

// Target is the interface of an Opt for readers of bodies, which do not know T. Every *Opt[T] implements it.
type Target interface {
	// Open sets the Opt and returns a pointer to its value, for the caller to fill.
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
