package driver

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"
)

var errNull = errors.New("a value is null: use the lookup isnull")

// value converts v, which is not a pointer, to the form of [Test.Values] for f.
func (f *Field) value(v reflect.Value) (any, error) {
	switch f.Kind {
	case Bool:
		return toBool(v)
	case Int:
		return toInt(v)
	case Float:
		return toFloat(v)
	case String:
		return toText(v)
	case Time:
		return toTime(v)
	case Bytes:
		return toBytes(v)
	case Other:
		return f.toOwn(v)
	default:
		return nil, fmt.Errorf("%s cannot be compared", f.Type)
	}
}

func concrete(v reflect.Value) (reflect.Value, error) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return v, errNull
	}
	return v, nil
}

func toBool(v reflect.Value) (any, error) {
	if v.Kind() != reflect.Bool {
		return nil, wrongValue(v, "bool")
	}
	return v.Bool(), nil
}

func toInt(v reflect.Value) (any, error) {
	switch {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), nil //nolint:gosec // the bound was just checked
	case v.CanUint():
		return v.Uint(), nil
	}
	return nil, wrongValue(v, "int")
}

// maxExact is the limit up to which a float64 holds every whole number exactly.
const maxExact = 1 << 53

func toFloat(v reflect.Value) (any, error) {
	switch {
	case v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return nil, errors.New("a value is not a finite number")
	case v.CanFloat():
		return v.Float(), nil
	case v.CanInt() && v.Int() >= -maxExact && v.Int() <= maxExact:
		return float64(v.Int()), nil
	case v.CanUint() && v.Uint() <= maxExact:
		return float64(v.Uint()), nil
	}
	return nil, wrongValue(v, "float")
}

func toText(v reflect.Value) (any, error) {
	if v.Kind() != reflect.String {
		return nil, wrongValue(v, "text")
	}
	text := v.String()
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return nil, errors.New("a text has a NUL")
	case !utf8.ValidString(text):
		return nil, errors.New("a text is not UTF-8")
	}
	return text, nil
}

// maxFolded is the maximum length in characters of a text that is compared without case. A
// database gets such a text as a pattern of several times its length, and patterns are
// limited.
const maxFolded = 1000

func toFolded(v reflect.Value) (any, error) {
	text, err := toText(v)
	if s, ok := text.(string); ok && utf8.RuneCountInString(s) > maxFolded {
		return nil, fmt.Errorf("a text has more than %d characters", maxFolded)
	}
	return text, err
}

func toTime(v reflect.Value) (any, error) {
	if v.Type() != timeType && !v.CanConvert(timeType) {
		return nil, wrongValue(v, "time")
	}
	at, _ := reflect.TypeAssert[time.Time](v.Convert(timeType))
	at = at.UTC().Truncate(time.Microsecond)
	if at.Before(minTime) || at.After(maxTime) {
		return nil, errors.New("a time is not of the years 1 to 9999")
	}
	return at, nil
}

// toDate converts a time, or a text like 2006-01-02, to the start of its day in UTC.
func toDate(v reflect.Value) (any, error) {
	if v.Kind() == reflect.String {
		day, err := time.Parse(time.DateOnly, v.String())
		if err != nil || day.Before(minTime) {
			return nil, errors.New("a text is not a date like 2006-01-02")
		}
		return day, nil
	}
	at, err := toTime(v)
	if err != nil {
		return nil, err
	}
	moment, _ := at.(time.Time)
	return time.Date(moment.Year(), moment.Month(), moment.Day(), 0, 0, 0, 0, time.UTC), nil
}

func toBytes(v reflect.Value) (any, error) {
	if v.Kind() != reflect.Slice || v.Type().Elem() != bytesOf {
		return nil, wrongValue(v, "[]byte")
	}
	if v.IsNil() {
		return nil, errNull
	}
	return v.Bytes(), nil
}

// toOwn converts a value of the field's own type, or a text that this type can parse.
func (f *Field) toOwn(v reflect.Value) (any, error) {
	if v.Type() == f.scalar.typ {
		return v.Interface(), nil
	}
	own := reflect.New(f.scalar.typ)
	reader, ok := reflect.TypeAssert[encoding.TextUnmarshaler](own)
	if v.Kind() != reflect.String || !ok {
		return nil, wrongValue(v, f.scalar.typ.String())
	}
	if reader.UnmarshalText([]byte(v.String())) != nil {
		return nil, fmt.Errorf("a text is no %s", f.scalar.typ)
	}
	return own.Elem().Interface(), nil
}

func wrongValue(v reflect.Value, want string) error {
	return fmt.Errorf("a value is %s, and is compared with %s", v.Type(), want)
}

// accepts reports whether values of type t can be compared with f, judged by the types only.
func (f *Field) accepts(t reflect.Type) bool {
	t = through(t)
	switch f.Kind {
	case Bool:
		return t.Kind() == reflect.Bool
	case Int:
		return isWhole(t)
	case Float:
		return isWhole(t) || t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64
	case String:
		return t.Kind() == reflect.String
	case Time:
		return t == timeType || t.ConvertibleTo(timeType)
	case Bytes:
		return t.Kind() == reflect.Slice && t.Elem() == bytesOf
	case Other:
		return t == f.scalar.typ ||
			t.Kind() == reflect.String && reflect.PointerTo(f.scalar.typ).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	default:
		return false
	}
}

func isWhole(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr
}
