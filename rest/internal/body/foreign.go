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
		return s.report(fault.Value(fault.Body, s.where(), words))
	}

	return s.undecoded(n, raw)
}

// tryDecode reads a value that is not stored, to see whether it has the form of its type.
func (s *scanner) tryDecode(n *node, raw []byte) bool {
	if n.form != textform.None && textform.Parse(n.form, s.unquoted(raw), reflect.New(n.typ).Interface()) != nil {
		return s.undecoded(n, raw)
	}

	return true
}

// undecoded reports a value that its type refused.
func (s *scanner) undecoded(n *node, raw []byte) bool {
	if name, ok := formNames[n.form]; ok {
		return s.refuse(fault.WithText(fault.Format("", nil, name), s.unquoted(raw)))
	}
	if n.text != nil && n.text.format != nil {
		return s.refuse(fault.WithText(n.text.formatFault, strings.Trim(view(raw), `"`)))
	}

	return s.report(fault.Unreadable(fault.Body, s.where()))
}

// tryKey reads the key of a map whose type reads its own text.
func (s *scanner) tryKey(rule *dictRule, key []byte) bool {
	target, ok := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.New(rule.key))
	if !ok || target.UnmarshalText(key) == nil {
		return true
	}

	return s.report(fault.Value(fault.Body, s.where(), "has a key that cannot be read"))
}

// formNames are the formats of JSON Schema that the forms are called by.
var formNames = map[textform.Form]string{
	textform.Date: "date", textform.Clock: "time", textform.Span: "duration", textform.Address: "uri",
	textform.Reference: "uri-reference",
}

// unquoted is the text of a string that was read before.
func (x *lexer) unquoted(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	l := literal{raw: raw[1 : len(raw)-1], ascii: true}
	for _, c := range l.raw {
		l.escaped, l.ascii = l.escaped || c == '\\', l.ascii && c < utf8.RuneSelf
	}

	return string(x.plain(l))
}
