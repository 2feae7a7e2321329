package actor

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
)

// A foreign thread reads as one that does not exist, whatever is asked, and takes no write.
func TestForeignThreadIsAsNone(t *testing.T) {
	t.Parallel()

	views := reflect.TypeFor[spool.View]()
	foreign := reflect.ValueOf(foreignTx{foreignView{time.Now()}})
	key := spool.ThreadKey{Tenant: "acme", ID: "none"}
	err := memory.New(nil).Store.View(t.Context(), key, func(v spool.View) error {
		for m := range views.Methods() {
			name := m.Name
			if name == "Now" {
				continue
			}
			got, want := answer(foreign, name), answer(reflect.ValueOf(v), name)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-none +foreign):\n%s", name, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	for m := range foreign.Type().Methods() {
		name := m.Name
		if _, reads := views.MethodByName(name); reads {
			continue
		}
		results := call(foreign, name)
		if err, _ := results[len(results)-1].(error); !errors.Is(err, errTaken) {
			t.Errorf("%s returns %v", name, err)
		}
	}
}

// answer calls a method of a view. It returns what the method does, with the code of an error, and an
// empty list as none.
func answer(of reflect.Value, method string) []any {
	results := call(of, method)
	for i, r := range results {
		err, failed := r.(error)
		switch v := reflect.ValueOf(r); {
		case failed:
			results[i] = spool.CodeOf(err)
		case v.Kind() == reflect.Slice && v.Len() == 0:
			results[i] = nil
		}
	}
	return results
}

// call calls a method with zero arguments.
func call(of reflect.Value, method string) (results []any) {
	m := of.MethodByName(method)
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		if !m.Type().IsVariadic() || i < m.Type().NumIn()-1 {
			args = append(args, reflect.Zero(m.Type().In(i)))
		}
	}
	for _, r := range m.Call(args) {
		results = append(results, r.Interface())
	}
	return results
}
