package body

import (
	"reflect"
	"strconv"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// flawed reports that the current key has invalid text, and skips its value.
func (s *scanner) flawed(flaw flaw) bool {
	return s.report(flaw.fault(fault.Body, s.where())) && s.any(ignored)
}

// object reads an object with named keys.
func (s *scanner) object(n *node, to unsafe.Pointer) bool {
	o, extras := n.object, len(s.keys)
	sets := objectSets{scanner: s, object: o, base: len(s.bits), to: to}
	for range 2 * o.words {
		s.bits = append(s.bits, 0)
	}

	count, next := 0, 0
	ok := s.members(func(key []byte, flaw flaw) bool {
		count++
		i := o.find(key, next)
		switch {
		case flaw != flawless:
			s.push(key)
			defer s.pop()
			return s.flawed(flaw)
		case i >= 0:
			next = i + 1
			return s.property(o, i, sets)
		default:
			return s.unknown(o, key, extras)
		}
	})
	s.forget(extras)
	if !ok || !s.count(count, o.min, o.max, true) || !sets.finish() {
		return false
	}
	s.bits = s.bits[:sets.base]

	return true
}

// find returns the index of the property, or -1. It tries the next property first, because keys mostly come
// in the order of the declaration.
func (o *object) find(key []byte, next int) int {
	if next < len(o.props) && o.props[next].name == string(key) {
		return next
	}
	if i, ok := o.index[string(key)]; ok {
		return i
	}

	return -1
}

// property reads the value of a known key.
func (s *scanner) property(o *object, i int, sets objectSets) bool {
	p := &o.props[i]
	s.path = append(s.path, step{name: p.name, prop: p, index: -1})
	to := p.in(sets.to)
	if p.readOnly {
		to = nil
	}

	var ok bool
	switch {
	case p.blocked:
		ok = s.report(fault.Extra(fault.Body, s.where())) && s.any(ignored)
	case sets.mark(seen, i):
		ok = s.report(fault.DuplicateKey(fault.Body, s.where())) && s.any(ignored)
	case (p.nullOK || s.plan.opts.Loose) && s.pos < len(s.data) && s.data[s.pos] == 'n':
		ok = s.null(p.node, to)
	default:
		if !p.readOnly {
			sets.mark(valued, i)
		}
		ok = s.value(p.node, to)
	}
	s.path = s.path[:len(s.path)-1]

	return ok
}

// unknown reads the value of a key without a property.
func (s *scanner) unknown(o *object, key []byte, extras int) bool {
	s.folding = fold(s.folding[:0], key)
	i, folded := o.folded[string(s.folding)]
	if !folded && o.values == nil && !o.closed {
		return s.any(ignored)
	}

	s.push(key)
	defer s.pop()

	if folded && !o.props[i].blocked {
		return s.report(fault.KeyCase(fault.Body, s.where(), o.props[i].name)) && s.any(ignored)
	}
	if folded || o.values == nil {
		return s.report(fault.Extra(fault.Body, s.where())) && s.any(ignored)
	}
	if !s.unique(key, extras) {
		return s.report(fault.DuplicateKey(fault.Body, s.where())) && s.any(ignored)
	}

	return s.value(o.values, nil)
}

// dictionary reads an object for a map.
func (s *scanner) dictionary(n *node, to unsafe.Pointer) bool {
	keys, count, entries := len(s.keys), 0, n.entries(to)
	ok := s.members(func(key []byte, flaw flaw) bool {
		count++
		s.push(key)
		defer s.pop()
		switch {
		case flaw != flawless:
			return s.flawed(flaw)
		case s.unique(key, keys):
			return s.checkKey(n.dict, key) && s.value(n.dict.values, entries.next()) && s.keep(entries, key)
		default:
			return s.report(fault.DuplicateKey(fault.Body, s.where())) && s.any(ignored)
		}
	})
	s.forget(keys)

	return ok && s.count(count, n.dict.min, n.dict.max, true)
}

// checkKey checks a key against the key type of the map.
func (s *scanner) checkKey(rule *dictRule, key []byte) bool {
	kind, in := rule.keyKind, fault.Body

	switch {
	case kind == reflect.String:
		return true
	case kind == reflect.Invalid:
		return s.tryKey(rule, key)
	case isInt(kind):
		if _, err := strconv.ParseInt(view(key), 10, rule.key.Bits()); err != nil {
			return s.report(fault.IntParsing(in, s.where()))
		}
	default:
		if _, err := strconv.ParseUint(view(key), 10, rule.key.Bits()); err != nil {
			return s.report(fault.IntParsing(in, s.where()))
		}
	}

	return true
}
