package body

import (
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// syntax reports text that is not JSON.
func (s *scanner) syntax(reason string) bool {
	f := fault.JSON(s.plan.opts.In, s.pos, reason)
	s.broken = &f

	return false
}

// usualFaults is for how many faults there is room at first.
const usualFaults = 4

// report lists a fault. It returns false when there were enough.
func (s *scanner) report(f fault.Fault) bool {
	if limit := s.plan.opts.MaxFaults; len(s.faults) >= limit {
		s.faults = append(s.faults, fault.TooManyFaults(s.plan.opts.In, limit))
		return false
	}
	if s.faults == nil {
		s.faults = make([]fault.Fault, 0, usualFaults)
	}
	s.faults = append(s.faults, f)

	return true
}

// refuse lists a fault that was made without a place, at the current value.
func (s *scanner) refuse(f fault.Fault) bool {
	f.In, f.Path = s.plan.opts.In, s.where()

	return s.report(f)
}

// where is the way to the current value, for a fault to keep.
func (s *scanner) where() []any {
	if len(s.path) == 0 {
		return nil
	}

	path := make([]any, len(s.path), len(s.path)+1)
	for i, step := range s.path {
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

// maxShown is how many bytes of a key of the client's choice a fault tells. A document has
// up to a hundred faults below one key, and each names it twice.
const maxShown = 100

// shown is a key for a fault to keep.
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

// mismatch reports that the value at pos has another type than n asks for.
func (s *scanner) mismatch(n *node) bool {
	in, path := s.plan.opts.In, s.where()
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

// noString adds to the fault of a value that is no string what it should have been.
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

// needed are the names of the required properties.
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
