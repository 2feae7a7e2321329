package actor

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// For every call, a foreign thread reads as if it did not exist, and takes no write.
func TestForeignThreadIsAsNone(t *testing.T) {
	t.Parallel()

	db := memory.New(nil).Store
	key := spool.ThreadKey{Tenant: "acme", ID: "theirs"}
	err := db.Update(t.Context(), key, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{Thread: &wire.Thread{Tenant: key.Tenant, ID: key.ID, Owner: "bob", State: wire.Idle}})
	})
	if err != nil {
		t.Fatal(err)
	}
	ann := With(t.Context(), wire.Actor{Tenant: "acme", Subject: "ann", OwnOnly: true})
	views := reflect.TypeFor[store.View]()
	none := make(map[string][]any)
	read := func(v store.View) {
		for m := range views.Methods() {
			got := answer(reflect.ValueOf(v), m.Name)
			if want, ok := none[m.Name]; ok && m.Name != "Now" {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-none +foreign):\n%s", m.Name, diff)
				}
			}
			none[m.Name] = got
		}
	}
	view := func(v store.View) error { read(v); return nil }
	if err := db.View(t.Context(), spool.ThreadKey{Tenant: "acme", ID: "none"}, view); err != nil {
		t.Fatal(err)
	}
	if err := (Store{db}).View(ann, key, view); err != nil {
		t.Fatal(err)
	}
	err = Store{db}.Update(ann, key, 0, func(tx store.Tx) error { read(tx); return nil })
	if err != nil {
		t.Fatal(err)
	}

	foreign := reflect.ValueOf(foreignTx{})
	for m := range foreign.Type().Methods() {
		name := m.Name
		if _, reads := views.MethodByName(name); reads {
			continue
		}
		results := call(foreign, name)
		if err, _ := results[len(results)-1].(error); !errors.Is(err, errForeignThread) {
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
