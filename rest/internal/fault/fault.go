// Package fault is the vocabulary of what can be wrong with a request: where it is, what
// kind of wrong it is, and words for a person. Readers of bodies and of parameters make
// faults, renderers of errors turn them into the shape that an API answers with.
//
// A message is a predicate in plain English, such as "must be a whole number": the place of
// the fault is its subject. [Fault.Pydantic] says the same in the words of Pydantic, for
// clients of an API that was written in Python.
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

// Fault is one thing that is wrong with a request. It never holds the value that was
// sent, so it may be logged and answered with whatever the value was.
type Fault struct {
	// In is where the value was looked for: one of [Path], [Query], [Header], [Cookie],
	// [Body], [Form] and [File].
	In string

	// Path leads from In to the value: names are string, indexes of lists are int. The
	// second tag of a body is {"tags", 1}. Empty means In as a whole.
	Path []any

	// Kind is a stable word for programs, such as "missing" or "string_too_short".
	Kind string

	// Message is for a person. It has no subject, as the place is one: "is required".
	Message string

	// Limits are what the value was held against, such as {"min_length": 2}. It is nil
	// when there is nothing to say, and shared between faults: it must not be written to.
	Limits map[string]any

	// said is the message as this package wrote it. A fault with another message has words
	// of the program, which every renderer passes on.
	said string

	// python is what Pydantic says when that does not follow from the kind.
	python *python
}

// Equal reports whether two faults say the same about the same place.
func (f Fault) Equal(other Fault) bool {
	return f.In == other.In && f.Kind == other.Kind && f.Message == other.Message &&
		len(f.Path) == len(other.Path) && (len(f.Path) == 0 || reflect.DeepEqual(f.Path, other.Path)) &&
		len(f.Limits) == len(other.Limits) && (len(f.Limits) == 0 || reflect.DeepEqual(f.Limits, other.Limits))
}

// Location is the place of the fault in one readable word, such as "body.tags[1]".
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

// Pointer is the place of the fault below In as a JSON pointer (RFC 6901), such as
// "/tags/1". It is empty for In as a whole.
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
