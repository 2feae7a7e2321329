package wire

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Append appends the text that the standard codec writes for the value of [Plan.Prepare], without HTML escapes and
// without a last line break. It takes one step for both, and no codec: it knows plain types, which are texts, numbers,
// flags and times, and the structs, lists and pointers of them. It returns false for all other types, and for values
// that have no JSON. What it has appended is then of no use.
func (p Plan) Append(to []byte, v any) (text []byte, ok bool) {
	t := reflect.TypeOf(v)
	if t == nil {
		return to, false
	}
	a := appender{plan: p, to: to}
	ok = a.value(p.nodeOf(t), reflect.ValueOf(v))

	return a.to, ok
}

// appender appends values of plain types. Its methods return false if they cannot.
type appender struct {
	plan  Plan
	to    []byte
	depth int
}

var timeType = reflect.TypeFor[time.Time]()

// isPlain reports whether an appender knows a type without others in it.
func isPlain(t reflect.Type) bool {
	k := t.Kind()

	return t == timeType || !marshals(t) &&
		(reflect.Bool <= k && k <= reflect.Float64 && k != reflect.Uintptr || k == reflect.String)
}

// knows reports whether an appender knows the node, if it knows those below.
func (n *node) knows() bool {
	switch n.kind {
	case plain:
		return isPlain(n.typ)
	case object:
		for i := range n.named {
			if !n.named[i].isPlain() || !n.named[i].node.direct {
				return false
			}
		}

		return true
	case list, array, pointer:
		return n.elem != nil && n.elem.direct
	case dynamic:
		return n.typ.NumMethod() == 0
	default:
		return false
	}
}

// isPlain reports whether an appender knows the options and the name of a field. Times apart, it does not ask a type
// whether its value is zero.
func (f *named) isPlain() bool {
	t := f.Field.Field.Type
	zeroes := t != timeType && reflect.PointerTo(t).Implements(reflect.TypeFor[zeroer]())

	return !f.Quoted && (!f.OmitZero || !zeroes) && string(f.key) == string(appendText(nil, f.Name))+":"
}

func (a *appender) value(n *node, v reflect.Value) bool {
	if !n.direct {
		return false
	}
	if n.kind == plain {
		return a.scalar(v)
	}
	if a.depth++; a.depth > maxDepth {
		return false // the codec reports values that lead back to themselves
	}
	ok := a.inside(n, v)
	a.depth--

	return ok
}

func (a *appender) inside(n *node, v reflect.Value) bool {
	switch n.kind {
	case object:
		return a.object(n, v)
	case list, array:
		return a.list(n, v)
	}
	switch {
	case v.IsNil():
		a.to = append(a.to, "null"...)
		return true
	case n.kind == dynamic:
		v = v.Elem()
		return a.value(a.plan.nodeOf(v.Type()), v)
	default:
		return a.value(n.elem, v.Elem())
	}
}

func (a *appender) object(n *node, v reflect.Value) bool {
	a.to = append(a.to, '{')
	for i := range n.named {
		f := &n.named[i]
		field, ok := f.of(v)
		if !ok || f.OmitEmpty && isEmpty(field) || f.OmitZero && isZero(field) {
			continue
		}
		a.to = append(a.to, f.key...)
		if f.nullable && isNilList(field) {
			a.to = append(a.to, "null"...)
		} else if !a.value(f.node, field) {
			return false
		}
		a.to = append(a.to, ',')
	}
	a.close('}')

	return true
}

// of returns the field of a struct, and false if it is in an embedded pointer that is nil.
func (f *named) of(v reflect.Value) (reflect.Value, bool) {
	for i, at := range f.Index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(at)
	}

	return v, true
}

func (a *appender) list(n *node, v reflect.Value) bool {
	a.to = append(a.to, '[')
	for i := range v.Len() {
		item := v.Index(i)
		if n.strict && item.IsNil() || !a.value(n.elem, item) {
			return false
		}
		a.to = append(a.to, ',')
	}
	a.close(']')

	return true
}

// close ends an object or a list, in the place of a comma after its last value.
func (a *appender) close(end byte) {
	if last := len(a.to) - 1; a.to[last] == ',' {
		a.to = a.to[:last]
	}
	a.to = append(a.to, end)
}

func (a *appender) scalar(v reflect.Value) bool {
	switch k := v.Kind(); {
	case k == reflect.String:
		a.to = appendText(a.to, v.String())
	case k == reflect.Bool:
		a.to = strconv.AppendBool(a.to, v.Bool())
	case v.CanInt():
		a.to = strconv.AppendInt(a.to, v.Int(), 10)
	case v.CanUint():
		a.to = strconv.AppendUint(a.to, v.Uint(), 10)
	case k == reflect.Struct:
		return a.moment(v)
	default:
		return a.float(v.Float(), v.Type().Bits())
	}

	return true
}

// moment appends a time. One that RFC 3339 does not have is left to the codec, which says so.
func (a *appender) moment(v reflect.Value) bool {
	at, ok := reflect.TypeAssert[time.Time](v)
	if !ok {
		return false
	}
	var err error
	a.to, err = at.AppendText(append(a.to, '"'))
	a.to = append(a.to, '"')

	return err == nil
}

// float appends a number. One with an exponent is rare, and encoding/json knows its form.
func (a *appender) float(f float64, bits int) bool {
	if size := math.Abs(f); size == 0 || 1e-6 <= size && size < 1e21 {
		a.to = strconv.AppendFloat(a.to, f, 'f', -1, bits)
		return true
	}
	var number any = f
	if bits == 32 {
		number = float32(f)
	}
	text, err := json.Marshal(number)
	a.to = append(a.to, text...)

	return err == nil
}

// appendText appends a text in quotes.
func appendText(to []byte, text string) []byte {
	to = append(to, '"')
	done := 0
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		c, size := utf8.DecodeRuneInString(text[i:])
		if c < utf8.RuneSelf || c == utf8.RuneError && size == 1 || c == '\u2028' || c == '\u2029' {
			to = appendEscape(append(to, text[done:i]...), c)
			done = i + size
		}
		i += size
	}

	return append(append(to, text[done:]...), '"')
}

// appendEscape appends the escape of a character, or of one that is not UTF-8, which is read as U+FFFD.
func appendEscape(to []byte, c rune) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(to, '\\', byte(c))
	case '\b', '\t', '\n', '\f', '\r':
		return append(to, '\\', "btn?fr"[c-'\b'])
	default:
		return append(to, '\\', 'u', hex[c>>12], hex[c>>8&0xf], hex[c>>4&0xf], hex[c&0xf])
	}
}
