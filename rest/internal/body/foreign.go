package body

import (
	"encoding"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// foreignFaults reports what a validator outside of this package found at the current value.
func (s *scanner) foreignFaults(faults []fault.Fault) bool {
	for _, f := range faults {
		f.In = s.plan.opts.In
		f.Path = append(s.where(), f.Path...)
		if !s.report(f) {
			return false
		}
	}

	return true
}

// decode has the codec store a value.
func (s *scanner) decode(n *node, raw []byte, to unsafe.Pointer) bool {
	var err error
	if n.kind == kindInteger {
		raw = wholeText(raw)
	}
	if n.typ == timeType {
		err = (*time.Time)(to).UnmarshalJSON(raw)
	} else {
		err = s.plan.opts.Codec.Unmarshal(raw, reflect.NewAt(n.typ, to).Interface())
	}

	return err == nil || s.undecoded(n, raw)
}

// tryDecode decodes one value to see whether its type takes it. It only runs after the
// codec refused the document as a whole.
func (s *scanner) tryDecode(n *node, raw []byte) bool {
	if n.kind == kindInteger {
		raw = wholeText(raw)
	}
	if s.probe == nil || !n.foreign || s.probe.Unmarshal(raw, reflect.New(n.typ).Interface()) == nil {
		return true
	}

	return s.undecoded(n, raw)
}

// undecoded reports a value that its type did not take.
func (s *scanner) undecoded(n *node, raw []byte) bool {
	if n.text != nil && n.text.format != nil {
		return s.refuse(fault.WithText(n.text.formatFault, strings.Trim(view(raw), `"`)))
	}

	return s.report(fault.Unreadable(s.plan.opts.In, s.where()))
}

// tryKey is tryDecode for a key of a map.
func (s *scanner) tryKey(rule *dictRule, key []byte) bool {
	if s.probe == nil && s.codec {
		return true
	}
	target, ok := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.New(rule.key))
	if !ok || target.UnmarshalText(key) == nil {
		return true
	}

	return s.report(fault.Value(s.plan.opts.In, s.where(), "has a key that cannot be read"))
}
