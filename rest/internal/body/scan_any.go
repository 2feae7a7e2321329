package body

import "github.com/spoolhq/spool/rest/internal/fault"

// use says how a value without a known type is used.
type use uint8

const (
	ignored use = iota
	kept        // its text reaches the program: keys must not be repeated in it
	decoded     // its numbers become float64 as well
)

// any reads a value that can be any JSON.
func (s *scanner) any(use use) bool {
	if s.pos >= len(s.data) {
		return s.syntax("unexpected end of the text")
	}

	switch c := s.data[s.pos]; {
	case c == '"':
		l, ok := s.quoted()
		if ok && s.refused(l.flaw) != flawless {
			return s.report(l.flaw.fault(fault.Body, s.where()))
		}

		return ok
	case c == '{':
		return s.anyObject(use)
	case c == '[':
		return s.anyList(use)
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case c == '-' || '0' <= c && c <= '9':
		num, ok := s.numeral()
		if ok && use == decoded && (num.exponent || num.long) {
			if _, fits := num.float(); !fits {
				return s.report(fault.FloatOverflow(fault.Body, s.where(), 64))
			}
		}

		return ok
	}

	return s.syntax("expected a value")
}

func (s *scanner) anyObject(use use) bool {
	keys := len(s.keys)
	ok := s.members(func(key []byte, flaw flaw) bool {
		s.push(key)
		defer s.pop()
		switch {
		case flaw != flawless:
			return s.flawed(flaw)
		case use == ignored || s.unique(key, keys):
			return s.any(use)
		default:
			return s.report(fault.DuplicateKey(fault.Body, s.where())) && s.any(ignored)
		}
	})
	s.forget(keys)

	return ok
}

func (s *scanner) anyList(use use) bool {
	return s.elements(func(int) bool { return s.any(use) })
}

// members reads an object; each reads the value after a key.
func (s *scanner) members(each func(key []byte, flaw flaw) bool) bool {
	if !s.enter() {
		return false
	}
	for more := !s.empty('}'); more; {
		key, flaw, ok := s.key()
		if !ok || !each(key, flaw) {
			return false
		}
		if more, ok = s.next('}'); !ok {
			return false
		}
	}

	return s.leave()
}

// elements reads a list: each reads the item of an index.
func (s *scanner) elements(each func(i int) bool) bool {
	if !s.enter() {
		return false
	}
	s.path = append(s.path, step{})
	for more, i := !s.empty(']'), 0; more; i++ {
		s.path[len(s.path)-1].index = i
		if !each(i) {
			return false
		}
		var ok bool
		if more, ok = s.next(']'); !ok {
			return false
		}
	}
	s.pop()

	return s.leave()
}
