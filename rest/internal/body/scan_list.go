package body

import (
	"encoding/json"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// list reads a list.
func (s *scanner) list(n *node, to unsafe.Pointer) bool {
	open, rule, keys, count := s.pos, n.list, len(s.keys), 0
	repeated, simple := false, true
	items := n.items(to)
	ok := s.elements(func(i int) bool {
		start := s.pos
		if !s.value(rule.items, items.at(i)) {
			return false
		}
		if rule.unique && simple && !repeated {
			raw := s.data[start:s.pos]
			simple = isSimple(raw)
			repeated = simple && !s.unique(raw, keys)
		}
		count++
		return true
	})
	s.forget(keys)
	items.end(count, rule)

	if !ok || !s.count(count, rule.min, rule.max, false) {
		return false
	}
	if rule.unique && (repeated || !simple && repeats(s.data[open:s.pos])) {
		return s.report(fault.ListUnique(fault.Body, s.where()))
	}

	return true
}

// isSimple reports whether two values are equal exactly if their texts are. Other values can be written in
// several ways.
func isSimple(raw []byte) bool {
	if raw[0] == '{' || raw[0] == '[' || string(raw) == "-0" {
		return false
	}
	text := raw[0] == '"'
	for _, c := range raw {
		if text && (c == '\\' || c >= 0x80) || !text && (c == '.' || c == 'e' && raw[0] <= '9' || c == 'E') {
			return false
		}
	}

	return true
}

// repeats reports whether a list has an item twice. It is for lists of values that are not simple, and
// decodes the list.
func repeats(list []byte) bool {
	var items []any
	if json.Unmarshal(list, &items) != nil {
		return false
	}

	found := make(map[string]struct{}, len(items))
	for _, item := range items {
		text, err := json.Marshal(item)
		if err != nil {
			return false
		}
		if _, again := found[string(text)]; again {
			return true
		}
		found[string(text)] = struct{}{}
	}

	return false
}
