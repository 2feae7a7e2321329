package wire_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// A field that Equal forgets would not be saved.
func TestThreadEqual(t *testing.T) {
	t.Parallel()

	for i := range reflect.TypeFor[wire.Thread]().NumField() {
		a, b := wire.Thread{}, wire.Thread{}
		switch f := reflect.ValueOf(&b).Elem().Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(time.Unix(1, 0)))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"k": "v"}))
		case wire.Expired:
			f.Set(reflect.ValueOf(wire.Expired{Questions: 1}))
		case int64:
			f.SetInt(1)
		default:
			f.SetString("x")
		}
		if c := b; a.Equal(b) || !b.Equal(c) {
			t.Errorf("%s makes no difference", reflect.TypeFor[wire.Thread]().Field(i).Name)
		}
	}
}

func TestCheckLabels(t *testing.T) {
	t.Parallel()

	many := make(map[string]string)
	for i := range 17 {
		many[strings.Repeat("k", i+1)] = "v"
	}
	for name, c := range map[string]struct {
		labels map[string]string
		ok     bool
	}{
		"None":     {nil, true},
		"Some":     {map[string]string{"team": "sales", "app.example/v1_x-y": "a: b, ä"}, true},
		"Many":     {many, false},
		"NoKey":    {map[string]string{"": "v"}, false},
		"Colon":    {map[string]string{"a:b": "v"}, false},
		"LongKey":  {map[string]string{strings.Repeat("k", 64): "v"}, false},
		"NoValue":  {map[string]string{"k": ""}, false},
		"Long":     {map[string]string{"k": strings.Repeat("v", 257)}, false},
		"Line":     {map[string]string{"k": "a\nb"}, false},
		"NotUTF8":  {map[string]string{"k": "\xff"}, false},
		"DashHead": {map[string]string{"-k": "v"}, false},
	} {
		if err := wire.CheckLabels(c.labels); (err == nil) != c.ok || err != nil && spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if wire.CheckTitle(strings.Repeat("ä", 200)) != nil || wire.CheckTitle(strings.Repeat("ä", 201)) == nil ||
		wire.CheckTitle("a\x1bb") == nil {
		t.Error("titles")
	}
}
