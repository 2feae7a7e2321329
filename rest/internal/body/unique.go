package body

import "slices"

// unique adds key to those since base, and reports whether it was not among them. What is
// in keys above the caller's own was taken away before.
func (s *scanner) unique(key []byte, base int) bool {
	const few = 16

	text := view(key)
	if n := len(s.keys) - base; n < few {
		if slices.Contains(s.keys[base:], text) {
			return false
		}
	} else if !s.uniqueOfMany(text, base, n) {
		return false
	}
	s.keys = append(s.keys, text)

	return true
}

// uniqueOfMany is unique for an object or list with many entries, of which it keeps a map:
// comparing each with each would let a large document keep the server busy.
func (s *scanner) uniqueOfMany(text string, base, n int) bool {
	index := s.indexes[base]
	if index == nil {
		index = make(map[string]struct{}, 4*n)
		for _, other := range s.keys[base:] {
			index[other] = struct{}{}
		}
		if s.indexes == nil {
			s.indexes = map[int]map[string]struct{}{}
		}
		s.indexes[base] = index
	}
	if _, again := index[text]; again {
		return false
	}
	index[text] = struct{}{}

	return true
}

// forget takes away the keys from base on.
func (s *scanner) forget(base int) {
	s.keys = s.keys[:base]
	if len(s.indexes) > 0 {
		delete(s.indexes, base)
	}
}
