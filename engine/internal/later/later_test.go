package later

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// fill sets each field to a value that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)))
			return
		}
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":[1]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	default:
		panic(fmt.Sprint("no value for a ", v.Kind()))
	}
}

// What a start asked for is read as it was stored, whatever it has.
func TestAsked(t *testing.T) {
	t.Parallel()
	var full Asked
	fill(reflect.ValueOf(&full).Elem())
	for run, want := range map[spool.RunID]Asked{"empty": {}, "full": full} {
		db := memory.New(nil).Store
		c, err := New("t", Start{DelayedStart: wire.DelayedStart{RunID: run}, KeyRow: KeyRow("k")}, want, "hash")
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(t.Context(), spool.ThreadKey{Tenant: "t"}, 0, func(tx store.Tx) error { return tx.Write(c) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := Store{db}.Asked(t.Context(), "t", run)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", run, err, diff)
		}
		if key, err := (Store{db}).Key(t.Context(), "t", "k"); err != nil || key.RunID != run || key.Hash != "hash" {
			t.Errorf("%s: the key has %+v, %v", run, key, err)
		}
	}
}
