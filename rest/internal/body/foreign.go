package body

import (
	"encoding"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/textform"
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
	switch {
	case n.form != textform.None:
		err = textform.Parse(n.form, s.unquoted(raw), reflect.NewAt(n.typ, to).Interface())
	case n.typ == timeType:
		err = (*time.Time)(to).UnmarshalJSON(raw)
	default:
		err = s.plan.opts.Codec.Unmarshal(raw, reflect.NewAt(n.typ, to).Interface())
	}

	if err == nil {
		return true
	}
	if words, own := fault.Own(err, n.typ, view(raw)); own && n.foreign && n.form == textform.None {
		return s.report(fault.Value(s.plan.opts.In, s.where(), words))
	}

	return s.undecoded(n, raw)
}

// tryDecode decodes one value to see whether its type takes it. It only runs after the
// codec refused the document as a whole.
func (s *scanner) tryDecode(n *node, raw []byte) bool {
	if n.kind == kindInteger {
		raw = wholeText(raw)
	}
	if n.form != textform.None {
		s.own = true
		if textform.Parse(n.form, s.unquoted(raw), reflect.New(n.typ).Interface()) != nil {
			return s.undecoded(n, raw)
		}

		return true
	}
	if s.probe == nil || !n.foreign || s.probe.Unmarshal(raw, reflect.New(n.typ).Interface()) == nil {
		return true
	}

	return s.undecoded(n, raw)
}

// undecoded reports a value that its type did not take.
func (s *scanner) undecoded(n *node, raw []byte) bool {
	if name, ok := formNames[n.form]; ok {
		return s.refuse(fault.WithText(fault.Format("", nil, name), s.unquoted(raw)))
	}
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

// formNames are the formats of JSON Schema that the forms are called by.
var formNames = map[textform.Form]string{
	textform.Date: "date", textform.Clock: "time", textform.Span: "duration", textform.Address: "uri", textform.Reference: "uri-reference",
}

// unquoted is the text of a string that was read before.
func (s *scanner) unquoted(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	l := literal{raw: raw[1 : len(raw)-1], ascii: true}
	for _, c := range l.raw {
		l.escaped, l.ascii = l.escaped || c == '\\', l.ascii && c < utf8.RuneSelf
	}

	return string(s.plain(l))
}
