// Package fault describes what can be wrong with a request: the place, the kind of the fault, and a message
// for a person. Readers of bodies and of parameters create faults, and renderers of errors turn them into the
// API's form.
//
// A message is a predicate in plain English, such as "must be a whole number"; the place of the fault is its
// subject. [Fault.Pydantic] says the same in the words of Pydantic, for clients of an API that was written in
// Python.
package fault

import (
	"reflect"
	"strconv"
)

// The places that [Fault.In] can name.
const (
	Path   = "path"
	Query  = "query"
	Header = "header"
	Cookie = "cookie"
	Body   = "body"
	Form   = "form"
	File   = "file"
)

// Fault is one fault of a request. It never has the sent value, so it can always be logged and sent to the
// client.
type Fault struct {
	// In is the part of the request: one of [Path], [Query], [Header], [Cookie], [Body], [Form] and [File].
	In string

	// Path leads from In to the value: names are string, indexes of lists are int. The
	// second tag of a body is {"tags", 1}. Empty means In as a whole.
	Path []any

	// Kind is a stable word for programs, such as "missing" or "string_too_short".
	Kind string

	// Message is for a person. It has no subject, because the place is the subject: "is required".
	Message string

	// Limits are the limits that the value breaks, such as {"min_length": 2}. Nil: none. Faults share it, so
	// it must not be changed.
	Limits map[string]any

	// said is the message that this package wrote. If a fault has another message, it is the program's, and
	// every renderer passes it on.
	said string

	// python is Pydantic's kind and text, if they do not follow from Kind.
	python *python
}

// Equal reports whether two faults say the same about the same place.
func (f Fault) Equal(other Fault) bool {
	return f.In == other.In && f.Kind == other.Kind && f.Message == other.Message &&
		len(f.Path) == len(other.Path) && (len(f.Path) == 0 || reflect.DeepEqual(f.Path, other.Path)) &&
		len(f.Limits) == len(other.Limits) && (len(f.Limits) == 0 || reflect.DeepEqual(f.Limits, other.Limits))
}

// Location returns the place of the fault as one readable word, such as "body.tags[1]".
func (f Fault) Location() string { return string(AppendLocation(nil, &f)) }

// AppendLocation appends the location of a fault.
func AppendLocation(to []byte, f *Fault) []byte {
	start := len(to)
	to = append(to, f.In...)

	for _, step := range f.Path {
		switch step := step.(type) {
		case string:
			if len(to) > start {
				to = append(to, '.')
			}
			to = append(to, step...)
		case int:
			to = append(to, '[')
			to = strconv.AppendInt(to, int64(step), 10)
			to = append(to, ']')
		}
	}

	return to
}

// Pointer returns the place of the fault below In as a JSON pointer (RFC 6901), such as "/tags/1". It is
// empty for In as a whole.
func (f Fault) Pointer() string { return string(AppendPointer(nil, &f)) }

// AppendPointer appends the pointer of a fault.
func AppendPointer(to []byte, f *Fault) []byte {
	for _, step := range f.Path {
		to = append(to, '/')

		switch step := step.(type) {
		case string:
			for i := range len(step) {
				switch c := step[i]; c {
				case '~':
					to = append(to, '~', '0')
				case '/':
					to = append(to, '~', '1')
				default:
					to = append(to, c)
				}
			}
		case int:
			to = strconv.AppendInt(to, int64(step), 10)
		}
	}

	return to
}
