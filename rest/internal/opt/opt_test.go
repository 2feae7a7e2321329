package opt_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/opt"
)

type patch struct {
	Title opt.Opt[string]   `json:"title,omitzero"`
	Tags  opt.Opt[[]string] `json:"tags,omitzero"`
}

func TestJSON(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		text string
		want patch
	}{
		{`{}`, patch{}},
		{`{"title":null}`, patch{Title: opt.Null[string]()}},
		{`{"title":"","tags":[]}`, patch{Title: opt.Some(""), Tags: opt.Some([]string{})}},
	} {
		var got patch
		if err := json.Unmarshal([]byte(tc.text), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s is %+v, want %+v", tc.text, got, tc.want)
		}

		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != tc.text {
			t.Errorf("%s became %s", tc.text, text)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		opt               opt.Opt[int]
		set, null, absent bool
	}{
		{opt.Opt[int]{}, false, false, true},
		{opt.Null[int](), false, true, false},
		{opt.Some(0), true, false, false},
	} {
		if tc.opt.IsSet() != tc.set || tc.opt.IsNull() != tc.null || tc.opt.IsAbsent() != tc.absent ||
			tc.opt.IsZero() != tc.absent {
			t.Errorf("%+v is set %v, null %v, absent %v", tc.opt, tc.opt.IsSet(), tc.opt.IsNull(), tc.opt.IsAbsent())
		}
		if _, ok := tc.opt.Get(); ok != tc.set {
			t.Errorf("%+v: Get says %v", tc.opt, ok)
		}
		if inside := tc.opt.Inside(); (inside != nil) != tc.set {
			t.Errorf("%+v: inside is %v", tc.opt, inside)
		}
		if got := tc.opt.Or(7); (got == 0) != tc.set {
			t.Errorf("%+v: Or is %d", tc.opt, got)
		}
	}
}

func TestRefusedTextChangesNothing(t *testing.T) {
	t.Parallel()

	o := opt.Some(3)
	failed := errors.New("failed")
	if err := o.SetText(func(any) error { return failed }); !errors.Is(err, failed) || o.Or(0) != 3 {
		t.Errorf("%v, %+v", err, o)
	}
	if err := json.Unmarshal([]byte(`"x"`), &o); err == nil || o.Or(0) != 3 {
		t.Errorf("%v, %+v", err, o)
	}

	set := func(dst any) error {
		n, ok := dst.(*int)
		if !ok {
			return failed
		}
		*n = 4

		return nil
	}
	if err := o.SetText(set); err != nil || o.Or(0) != 4 {
		t.Errorf("%v, %+v", err, o)
	}
}

func TestElemOf(t *testing.T) {
	t.Parallel()

	type other struct{ opt.Opt[int] }

	if elem, ok := opt.ElemOf(reflect.TypeFor[opt.Opt[[]int]]()); !ok || elem != reflect.TypeFor[[]int]() {
		t.Errorf("got %v, %v", elem, ok)
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[*opt.Opt[int]](), reflect.TypeFor[other](),
	} {
		if _, ok := opt.ElemOf(typ); ok {
			t.Errorf("%v is no Opt", typ)
		}
	}
}
