package body

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// filler is the default of a field.
type filler struct {
	text   json.RawMessage
	value  reflect.Value
	shared bool // several documents may share value
	format string
}

var timeType = reflect.TypeFor[time.Time]()

func newFiller(t reflect.Type, format string, text json.RawMessage) (*filler, error) {
	value := reflect.New(t)
	if err := Unmarshal(text, value.Interface(), format); err != nil {
		return nil, fmt.Errorf("its default does not fit its type: %w", err)
	}
	k := t.Kind()

	return &filler{
		text: text, value: value.Elem(), format: format,
		shared: k == reflect.String || k >= reflect.Bool && k <= reflect.Float64 || t == timeType,
	}, nil
}

// set writes the default. The text was decoded once before, so it decodes.
func (f *filler) set(field reflect.Value) {
	if f.shared {
		field.Set(f.value)
		return
	}
	_ = Unmarshal(f.text, field.Addr().Interface(), f.format)
}

// mapKey reads a key as encoding/json does.
func mapKey(t reflect.Type, name string) reflect.Value {
	key := reflect.New(t)
	if text, ok := reflect.TypeAssert[encoding.TextUnmarshaler](key); ok {
		if text.UnmarshalText([]byte(name)) != nil {
			return reflect.Value{}
		}

		return key.Elem()
	}

	switch k := t.Kind(); {
	case k == reflect.String:
		key.Elem().SetString(strings.Clone(name))
	case isInt(k):
		n, err := strconv.ParseInt(name, 10, t.Bits())
		if err != nil {
			return reflect.Value{}
		}
		key.Elem().SetInt(n)
	case isUint(k):
		n, err := strconv.ParseUint(name, 10, t.Bits())
		if err != nil {
			return reflect.Value{}
		}
		key.Elem().SetUint(n)
	}

	return key.Elem()
}
