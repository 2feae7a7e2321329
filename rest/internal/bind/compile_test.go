package bind_test

import (
	"mime/multipart"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/opt"
)

// Page and byID are embedded by the types below.
type Page struct {
	Limit int `default:"20" maximum:"100" query:"limit"`
}

type byID struct {
	ID int64 `path:"id"`
}

type nested struct {
	Page
	byID

	Q string `query:"q"`
}

func TestEmbedded(t *testing.T) {
	t.Parallel()

	r := get("limit=5&q=x")
	r.SetPathValue("id", "42")

	got, faults := read[nested](t, r)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if diff := cmp.Diff(nested{Page{5}, byID{42}, "x"}, got, cmp.AllowUnexported(nested{})); diff != "" {
		t.Error(diff)
	}

	var indexes [][]int
	for _, p := range compile[nested](t, bind.Options{}).Params() {
		indexes = append(indexes, p.Index)
	}
	if diff := cmp.Diff([][]int{{0, 0}, {1, 0}, {2}}, indexes); diff != "" {
		t.Error(diff)
	}
}

func TestParams(t *testing.T) {
	t.Parallel()

	type in struct {
		ID    int64                `doc:"Which one."  example:"7"        path:"id"`
		Limit *int                 `default:"20"      query:"limit"`
		Tags  []string             `query:"tag"       required:"true"`
		Ints  opt.Opt[[]int]       `default:"1,2"     query:"ints,comma"`
		Since time.Time            `deprecated:"true" header:"X-Since"`
		Token string               `cookie:"token"    required:"false"`
		Name  string               `form:"name"`
		Photo multipartFile        `file:"photo"      required:"true"`
		Body  struct{ Any string } `json:"body"`
		Skip  string               `query:"-"`
	}

	plan := compile[in](t, bind.Options{})

	var got []bind.Param
	for _, p := range plan.Params() {
		if p.Field.Name == "" || reflect.TypeFor[in]().FieldByIndex(p.Index).Name != p.Field.Name {
			t.Errorf("%s: field %q, index %v", p.Name, p.Field.Name, p.Index)
		}
		if p.Owner != reflect.TypeFor[in]() {
			t.Errorf("%s: a field of %v", p.Name, p.Owner)
		}
		p.Field, p.Index, p.Owner = reflect.StructField{}, nil, nil
		got = append(got, p)
	}
	want := []bind.Param{
		{Name: "id", In: "path", Type: reflect.TypeFor[int64](), Required: true, Doc: "Which one.", Example: "7"},
		{Name: "limit", In: "query", Type: reflect.TypeFor[int](), Nullable: true, Default: 20},
		{Name: "tag", In: "query", Type: reflect.TypeFor[[]string](), Required: true, Explode: true},
		{Name: "ints", In: "query", Type: reflect.TypeFor[[]int](), Nullable: true, Default: []int{1, 2}},
		{Name: "X-Since", In: "header", Type: reflect.TypeFor[time.Time](), Deprecated: true},
		{Name: "token", In: "cookie", Type: reflect.TypeFor[string]()},
		{Name: "name", In: "form", Type: reflect.TypeFor[string]()},
		{Name: "photo", In: "file", Type: reflect.TypeFor[multipartFile](), Required: true},
	}
	same := cmp.Comparer(func(a, b reflect.Type) bool { return a == b })
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Error(diff)
	}

	if !plan.NeedsForm() || plan.Type() != reflect.TypeFor[in]() {
		t.Errorf("needs a form: %v, type %s", plan.NeedsForm(), plan.Type())
	}
	if compile[nested](t, bind.Options{}).NeedsForm() {
		t.Error("a plan without form fields needs a form")
	}
}

func TestDefaultSource(t *testing.T) {
	t.Parallel()

	type in struct {
		Page

		MinPrice *float64
		AuthorID opt.Opt[int]
		IDs      []int  `json:"ignored"`
		Named    string `query:"name__icontains"`
		Trace    string `header:"X-Trace"`
		Skip     func() `query:"-"`
	}

	var names []string
	for _, p := range compile[in](t, bind.Options{Default: "query"}).Params() {
		names = append(names, p.In+" "+p.Name)
	}
	want := []string{
		"query limit", "query min_price", "query author_id", "query ids", "query name__icontains", "header X-Trace",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestRegistrationErrors(t *testing.T) {
	t.Parallel()

	type recursive struct {
		*nested
		*time.Time
	}

	for name, c := range map[string]struct {
		typ   any
		parts []string
	}{
		"NoStruct": {0, []string{"not of int"}},
		"Unexported": {struct {
			hidden int `query:"n"`
		}{}, []string{".hidden", `query:"n"`, "not exported"}},
		"TwoSources": {struct {
			A int `path:"a" query:"a"`
		}{}, []string{".A", "path", "query"}},
		"NoName": {struct {
			A int `query:""`
		}{}, []string{".A", "no name"}},
		"NoNameFlag": {struct {
			A []int `query:",comma"`
		}{}, []string{".A", "no name"}},
		"Clash": {struct {
			Page
			B int `query:"limit"`
		}{}, []string{".B", `"limit"`, ".Page.Limit"}},
		"HeaderClash": {struct {
			A int `header:"X-A"`
			B int `header:"x-a"` //nolint:tagliatelle // the names differ in case only
		}{}, []string{".B", `"x-a"`, ".A"}},
		"FormClash": {struct {
			A int           `form:"a"`
			B multipartFile `file:"a"`
		}{}, []string{".B", `"a"`, ".A"}},
		"EmbeddedPointer": {struct{ *Page }{}, []string{".Page", "as a value"}},
		"Recursive":       {recursive{}, []string{".nested", "as a value"}},

		"Unsupported": {struct {
			A map[string]int `query:"a"`
		}{}, []string{".A", "unsupported type map[string]int"}},
		"Func": {struct {
			A func() `query:"a"`
		}{}, []string{".A", "unsupported type func()"}},
		"Interface": {struct {
			A any `query:"a"`
		}{}, []string{".A", "unsupported type interface"}},
		"Complex": {struct {
			A complex128 `query:"a"`
		}{}, []string{".A", "unsupported type complex128"}},
		"Struct": {struct {
			A Page `query:"a"`
		}{}, []string{".A", "unsupported type bind_test.Page"}},
		"Bytes": {struct {
			A []byte `query:"a"`
		}{}, []string{".A", "unsupported type []uint8"}},
		"ListOfPointers": {struct {
			A []*int `query:"a"`
		}{}, []string{".A", "unsupported type []*int"}},
		"ListOfLists": {struct {
			A [][]int `query:"a"`
		}{}, []string{".A", "unsupported type [][]int"}},
		"PointerPointer": {struct {
			A **int `query:"a"`
		}{}, []string{".A", "unsupported type *int"}},
		"OptPointer": {struct {
			A opt.Opt[*int] `query:"a"`
		}{}, []string{".A", "unsupported type *int"}},
		"FileInQuery": {struct {
			A multipartFile `query:"a"`
		}{}, []string{".A", "unsupported type *multipart"}},
		"FileType": {struct {
			A string `file:"a"`
		}{}, []string{".A", "FileHeader", "not a string"}},
		"FilePointer": {struct {
			A *multipartFile `file:"a"`
		}{}, []string{".A", "FileHeader"}},

		"Minimum": {struct {
			A int `minimum:"abc" query:"a"`
		}{}, []string{".A", `minimum:"abc"`}},
		"MinimumFloat": {struct {
			A int `minimum:"0.5" query:"a"`
		}{}, []string{".A", `minimum:"0.5"`, "no int"}},
		"MinimumText": {struct {
			A string `minimum:"1" query:"a"`
		}{}, []string{".A", `minimum:"1"`, "for numbers"}},
		"MinimumTime": {struct {
			A time.Time `minimum:"1" query:"a"`
		}{}, []string{".A", "for numbers"}},
		"MinimumNaN": {struct {
			A float64 `minimum:"NaN" query:"a"`
		}{}, []string{".A", `minimum:"NaN"`}},
		"OutOfRange": {struct {
			A int8 `maximum:"300" query:"a"`
		}{}, []string{".A", `maximum:"300"`, "no int8"}},
		"Crossed": {struct {
			A int `maximum:"4" minimum:"5" query:"a"`
		}{}, []string{".A", "above maximum"}},
		"MultipleZero": {struct {
			A uint `multipleOf:"0" query:"a"`
		}{}, []string{".A", `multipleOf:"0"`}},
		"MultipleWait": {struct {
			A time.Duration `multipleOf:"1s" query:"a"`
		}{}, []string{".A", `multipleOf:"1s"`}},
		"WaitMinimum": {struct {
			A time.Duration `minimum:"1" query:"a"`
		}{}, []string{".A", `minimum:"1"`, "no time.Duration"}},
		"MinLength": {struct {
			A string `minLength:"-1" query:"a"`
		}{}, []string{".A", `minLength:"-1"`}},
		"LengthNumber": {struct {
			A int `maxLength:"3" query:"a"`
		}{}, []string{".A", `maxLength:"3"`, "for text"}},
		"LengthCross": {struct {
			A string `maxLength:"2" minLength:"3" query:"a"`
		}{}, []string{".A", "above maxLength"}},
		"Pattern": {struct {
			A string `pattern:"(" query:"a"`
		}{}, []string{".A", `pattern:"("`}},
		"PatternBool": {struct {
			A bool `pattern:"x" query:"a"`
		}{}, []string{".A", "for text"}},
		"Enum": {struct {
			A int `enum:"1,b" query:"a"`
		}{}, []string{".A", `enum:"1,b"`}},
		"EnumEmpty": {struct {
			A string `enum:"" query:"a"`
		}{}, []string{".A", "allows nothing"}},
		"EnumJSON": {struct {
			A string `enum:"[1" query:"a"`
		}{}, []string{".A", "JSON array"}},
		"TimeFormat": {struct {
			A time.Time `format:"year" query:"a"`
		}{}, []string{".A", `"year"`}},
		"DurationFormat": {struct {
			A time.Duration `format:"time" query:"a"`
		}{}, []string{".A", `"time"`}},
		"URLFormat": {struct {
			A url.URL `format:"hostname" query:"a"`
		}{}, []string{".A", `"hostname"`}},
		"MinItems": {struct {
			A int `minItems:"1" query:"a"`
		}{}, []string{".A", "for lists"}},
		"MaxItems": {struct {
			A []int `maxItems:"x" query:"a"`
		}{}, []string{".A", `maxItems:"x"`}},
		"Unique": {struct {
			A []int `query:"a" uniqueItems:"yes"`
		}{}, []string{".A", `uniqueItems:"yes"`}},
		"Comma": {struct {
			A int `query:"a,comma"`
		}{}, []string{".A", "comma", "for lists"}},
		"Both": {struct {
			A []int `query:"a,comma,explode"`
		}{}, []string{".A", "both"}},
		"UnknownFlag": {struct {
			A []int `query:"a,pipe"`
		}{}, []string{".A", `"pipe"`}},
		"OmitEmpty": {struct {
			A int `query:"a,omitempty"`
		}{}, []string{".A", `"omitempty"`}},

		"Default": {struct {
			A int `default:"x" query:"a"`
		}{}, []string{".A", `default:"x"`}},
		"DefaultLimit": {struct {
			A int `default:"5" maximum:"4" query:"a"`
		}{}, []string{".A", `default:"5"`, "at most 4"}},
		"DefaultItem": {struct {
			A []int `default:"1,x" query:"a"`
		}{}, []string{".A", `default:"1,x"`}},
		"DefaultItems": {struct {
			A []int `default:"1" minItems:"2" query:"a"`
		}{}, []string{".A", `default:"1"`}},
		"DefaultRequired": {struct {
			A int `default:"1" query:"a" required:"true"`
		}{}, []string{".A", "required", "default"}},
		"Required": {struct {
			A int `query:"a" required:"yes"`
		}{}, []string{".A", `required:"yes"`}},
		"Deprecated": {struct {
			A int `deprecated:"1" query:"a"`
		}{}, []string{".A", `deprecated:"1"`}},
		"PathOptional": {struct {
			A int `path:"a" required:"false"`
		}{}, []string{".A", "wildcard"}},
		"PathDefault": {struct {
			A int `default:"1" path:"a"`
		}{}, []string{".A", "wildcard"}},
		"PathPointer": {struct {
			A *int `path:"a"`
		}{}, []string{".A", "wildcard"}},
		"PathOpt": {struct {
			A opt.Opt[int] `path:"a"`
		}{}, []string{".A", "wildcard"}},
		"PathList": {struct {
			A []int `path:"a"`
		}{}, []string{".A", "wildcard"}},

		"FileDefault": {struct {
			A multipartFile `default:"x" file:"a"`
		}{}, []string{".A", `default:"x"`}},
		"FileLength": {struct {
			A multipartFile `file:"a" maxLength:"1"`
		}{}, []string{".A", `maxLength:"1"`}},
		"FileItems": {struct {
			A multipartFile `file:"a" maxItems:"1"`
		}{}, []string{".A", "for lists"}},
		"FileSize": {struct {
			A multipartFile `file:"a" maxSize:"big"`
		}{}, []string{".A", `maxSize:"big"`}},
		"FileMedia": {struct {
			A multipartFile `contentType:"png" file:"a"`
		}{}, []string{".A", `contentType:"png"`}},
		"NoFileSize": {struct {
			A string `form:"a" maxSize:"1MB"`
		}{}, []string{".A", "for files"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := bind.Compile(reflect.TypeOf(c.typ), bind.Options{Place: "GET /books: Books.list"})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "GET /books: Books.list: ") {
				t.Errorf("the place is missing: %v", err)
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is missing: %v", part, err)
				}
			}
		})
	}
}

func TestRegistrationErrorsComeTogether(t *testing.T) {
	t.Parallel()

	type in struct {
		A int    `minimum:"x" query:"a"`
		B func() `query:"b"`
	}

	_, err := bind.Compile(reflect.TypeFor[in](), bind.Options{})
	for _, want := range []string{"bind_test.in.A: ", "bind_test.in.B: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing: %v", want, err)
		}
	}

	if _, err := bind.Compile(reflect.TypeFor[in](), bind.Options{Default: "body"}); err == nil {
		t.Error("a default source that there is not was accepted")
	}
	if _, err := bind.Compile(nil, bind.Options{}); err == nil {
		t.Error("no type was accepted")
	}
}

// A type that has the tags, and another one with its fields that is filled.
func TestFilled(t *testing.T) {
	t.Parallel()

	type tagged struct {
		Size int64  `default:"20" query:"size"`
		Sort string `query:"sort"`
	}
	type plain struct {
		Size int64
		Sort string
	}

	plan, err := bind.Compile(reflect.TypeFor[tagged](), bind.Options{Filled: reflect.TypeFor[plain]()})
	if err != nil {
		t.Fatal(err)
	}
	var got plain
	if faults := plan.Bind(bind.NewInput(get("sort=name"), nil), &got); len(faults) > 0 || got != (plain{20, "name"}) {
		t.Errorf("got %+v, %v", got, faults)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the type with the tags was filled")
			}
		}()
		plan.Bind(bind.NewInput(get(""), nil), &tagged{})
	}()

	for name, other := range map[string]reflect.Type{
		"AnotherType": reflect.TypeFor[struct {
			Size int32
			Sort string
		}](),
		"AnotherOrder": reflect.TypeFor[struct {
			Sort string
			Size int64
		}](),
		"NoStruct": reflect.TypeFor[any](),
	} {
		if _, err := bind.Compile(reflect.TypeFor[tagged](), bind.Options{Filled: other}); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}

func TestEmbeddedPointerWithoutParameters(t *testing.T) {
	t.Parallel()

	type base struct{ Title string }
	type in struct {
		*base

		Q string `query:"q"`
	}

	if got := compile[in](t, bind.Options{}).Params(); len(got) != 1 {
		t.Errorf("%d parameters", len(got))
	}
}

// multipartFile is short for the type of files.
type multipartFile = *multipart.FileHeader
