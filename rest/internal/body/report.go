package body

import (
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
)

const (
	// maxFaults is how many faults are listed before reading stops.
	maxFaults = 100
	// usualFaults is the initial capacity for faults.
	usualFaults = 4
)

// faultList has the faults of a document, and the path to the current value.
type faultList struct {
	path   []step
	faults []fault.Fault
}

// step is one part of the path from the top to the current value.
type step struct {
	name  string // of a key; may lie in the document
	prop  *property
	index int // of an item, -1 for keys
}

// report adds a fault. It returns false if there are enough.
func (l *faultList) report(f fault.Fault) bool {
	if len(l.faults) >= maxFaults {
		l.faults = append(l.faults, fault.TooManyFaults(fault.Body, maxFaults))
		return false
	}
	if l.faults == nil {
		l.faults = make([]fault.Fault, 0, usualFaults)
	}
	l.faults = append(l.faults, f)

	return true
}

// refuse adds a fault without a place, at the current value.
func (l *faultList) refuse(f fault.Fault) bool {
	f.In, f.Path = fault.Body, l.where()

	return l.report(f)
}

// where returns a copy of the path to the current value, which a fault can keep.
func (l *faultList) where() []any {
	if len(l.path) == 0 {
		return nil
	}

	path := make([]any, len(l.path), len(l.path)+1)
	for i, step := range l.path {
		switch {
		case step.prop != nil:
			path[i] = step.prop.boxed
		case step.index >= 0:
			path[i] = step.index
		default:
			path[i] = shown(step.name)
		}
	}

	return path
}

// maxShown bounds the bytes of a key in a fault, because the client chooses the key. A document
// has up to a hundred faults below one key, and each fault names the key twice.
const maxShown = 100

// shown returns a copy of a key, which a fault can keep.
func shown(key string) string {
	if strings.IndexByte(key, 0) >= 0 {
		key = strings.ReplaceAll(key, "\x00", string(utf8.RuneError))
	}
	if len(key) <= maxShown {
		return strings.Clone(key)
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(key[end]) {
		end--
	}

	return key[:end] + "…"
}

// mismatch reports that the value at pos has another type than n requires.
func (s *scanner) mismatch(n *node) bool {
	in, path := fault.Body, s.where()
	text := s.data[s.pos] == '"'
	number := func(f fault.Fault) bool {
		if text {
			f = fault.Parsed(f)
		}
		return s.report(f)
	}

	switch n.kind {
	case kindBool:
		if c := s.data[s.pos]; text || c == '-' || '0' <= c && c <= '9' {
			return s.report(fault.Parsed(fault.BoolType(in, path)))
		}
		return s.report(fault.BoolType(in, path))
	case kindString, kindBytes:
		return s.report(n.text.noString(fault.StringType(in, path)))
	case kindList:
		return s.report(fault.ListType(in, path))
	case kindObject:
		return s.report(fault.WithMissing(fault.ModelType(in, path, n.class), n.object.needed()))
	case kindDict:
		return s.report(fault.DictType(in, path))
	case kindInt, kindUint, kindInteger:
		return number(fault.IntType(in, path))
	}

	return number(fault.FloatType(in, path))
}

// noString adds the expected form to the fault of a value that is not a string.
func (r *textRule) noString(f fault.Fault) fault.Fault {
	switch {
	case r == nil:
		return f
	case r.enum != nil:
		return fault.WithRule(f, r.enumFault)
	case r.format != nil:
		return fault.WithRule(f, r.formatFault)
	}

	return f
}

// needed returns the names of the required properties.
func (o *object) needed() []string {
	names := []string{}
	for i := range o.props {
		if o.required[i/64]>>(i%64)&1 != 0 {
			names = append(names, o.props[i].name)
		}
	}

	return names
}

// Needed are the names of the fields that an object must have.
func (p *Plan) Needed() []string {
	if p.root.object == nil {
		return nil
	}

	return p.root.object.needed()
}

func (l *faultList) push(key []byte) {
	l.path = append(l.path, step{name: view(key), index: -1})
}

func (l *faultList) pop() { l.path = l.path[:len(l.path)-1] }

// count checks the number of items, or of entries of an object, against its limits.
func (l *faultList) count(n, least, most int, dict bool) bool {
	short, long := fault.ListTooShort, fault.ListTooLong
	if dict {
		short, long = fault.DictTooShort, fault.DictTooLong
	}
	if n < least && !l.report(short(fault.Body, l.where(), least, n)) {
		return false
	}
	if most >= 0 && n > most {
		return l.report(long(fault.Body, l.where(), most, n))
	}

	return true
}

// missing reports that the current object lacks the property.
func (l *faultList) missing(p *property) bool {
	return l.report(fault.Missing(fault.Body, append(l.where(), p.boxed)))
}

// foreignFaults reports faults that a validator outside of this package found at the current value.
func (l *faultList) foreignFaults(faults []fault.Fault) bool {
	for _, f := range faults {
		f.In = fault.Body
		f.Path = append(l.where(), f.Path...)
		if !l.report(f) {
			return false
		}
	}

	return true
}
