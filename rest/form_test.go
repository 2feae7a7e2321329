package rest_test

import (
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type profile struct {
	Name  string              `form:"name"`
	Age   *int                `form:"age"    minimum:"1"`
	Born  rest.Opt[time.Time] `form:"born"   format:"date"`
	Score float64             `default:"2.5" form:"score"`
	Marks []int               `form:"marks"`
	News  bool                `form:"news"`
	Level int                 `form:"level"  required:"true"`
}

func profiles(options ...rest.APIOption) *rest.API {
	return serve(func(r *rest.Routes) {
		rest.Post(r, "/profiles", func(ctx context.Context, in profile) (string, error) {
			born, ok := in.Born.Get()
			return fmt.Sprintf("%q %v %v %v %v %v %v %d sent %v %t%t", in.Name, in.Age == nil, ok, born.Year(), in.Score,
				in.Marks, in.News, in.Level,
				rest.SentFields(ctx), rest.Sent(ctx, "age"), rest.Sent(ctx, "other")), nil
		})
	}, options...)
}

func postForm(api http.Handler, path, body string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return record(api, r)
}

// A browser sends each input of a form, also those that nobody has filled in.
func TestEmptyFormFields(t *testing.T) {
	t.Parallel()

	const empty = `name=&age=&born=&score=&marks=&news=&level=3`
	const none = `\"\" true false 1 2.5 [] false 3 sent `
	for body, want := range map[string]string{
		empty:     none + `[name age born score marks news level] truefalse`,
		`level=3`: none + `[level] falsefalse`,
		`level=3&age=5&born=2000-01-02&marks=&marks=7&other=x`: `\"\" false true 2000 2.5 [7] false 3 sent [age born marks level] truefalse`,
		`level=`:              `"location":"form.level","kind":"missing"`,
		`level=3&age=0`:       `"location":"form.age","kind":"greater_than_equal"`,
		`level=3&age=1&age=`:  `\"\" false`,
		`level=3&age=1&age=2`: `"kind":"repeated"`,
		`level=3&age=%20`:     `"kind":"int_parsing"`,
		`level=3&age=%zz`:     `"kind":"percent_encoding"`,
	} {
		if _, text := postForm(profiles(), "/profiles", body); !strings.Contains(text, want) {
			t.Errorf("%s: got %s, want %s", body, text, want)
		}
	}
	loose := profiles(rest.Tolerate(rest.LooseParameters))
	if _, text := postForm(loose, "/profiles", `level=3&level=4&age=&name=`); !strings.Contains(text, none) {
		t.Errorf("got %s, want the first value", text)
	}
}

type album struct {
	Shop string                `query:"shop"`
	Meta albumMeta             `form:"meta,json" required:"true"`
	More *albumMeta            `form:"more,json"`
	Tags rest.Opt[[]string]    `form:"tags,json"`
	Note string                `form:"note"`
	File *multipart.FileHeader `file:"file"`
}

type albumMeta struct {
	Title  string    `json:"title"            maxLength:"5"`
	Tracks []track   `json:"tracks,omitempty"`
	On     time.Time `format:"date"           json:"on,omitzero"`
}

type track struct {
	Length int `json:"length"`
}

var errTrack = errors.New("a track is long")

func (tr track) Validate(context.Context) error {
	if tr.Length > 100 {
		return rest.Invalid(rest.Fault{Path: []any{"length"}, Kind: "long", Message: errTrack.Error()})
	}
	return nil
}

func albums(e **rest.Endpoint[album, string], options ...rest.APIOption) *rest.API {
	return serve(func(r *rest.Routes) {
		*e = rest.Post(r, "/albums", func(ctx context.Context, in album) (string, error) {
			tags, ok := in.Tags.Get()
			return fmt.Sprintf("%s %+v %v %v %t %q %v", in.Meta.Title, in.Meta.Tracks, in.More, tags, ok, in.Note,
				rest.SentFields(ctx)), nil
		})
	}, options...)
}

func TestJSONPartOfForm(t *testing.T) {
	t.Parallel()

	field := func(disposition, text string) string {
		return "--xx\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + text + "\r\n"
	}
	meta := func(text string) string { return field(`name="meta"`, text) }
	ok := meta(`{"title":"x","tracks":[{"length":3}]}`)
	for body, want := range map[string]string{
		ok: `x [{Length:3}] <nil> [] false \"\" [meta]`,
		field(`name="meta"; filename="blob"`, `{"title":"x"}`):        `x [] <nil> [] false \"\" [meta]`,
		ok + field(`name="more"`, `{"title":"y"}`):                    `&{y [] `,
		ok + field(`name="more"`, ``) + field(`name="tags"`, `null`):  `<nil> [] false \"\" [meta more tags]`,
		ok + field(`name="tags"`, `["a","b"]`):                        `<nil> [a b] true`,
		field(`name="note"`, `n`):                                     `"location":"form.meta","kind":"missing"`,
		meta(""):                                                      `"location":"form.meta","kind":"missing"`,
		ok + ok:                                                       `"location":"form.meta","kind":"repeated"`,
		meta(`{"title":`):                                             `"location":"form.meta","kind":"json_invalid"`,
		meta(`{"title":"longer","titel":1}`):                          `"location":"form.meta.titel","kind":"extra_forbidden"`,
		meta(`{"title":"longer"}`):                                    `"location":"form.meta.title","kind":"string_too_long"`,
		meta(`{"title":"x","title":"y"}`):                             `form.meta.title`,
		meta(`{"title":"x","tracks":[{"length":1},{"length":101}]}`):  `"location":"form.meta.tracks[1].length"`,
		ok + field(`name="tags"`, `[1]`) + field(`name="more"`, `[]`): `"location":"form.tags[0]"`,
	} {
		var e *rest.Endpoint[album, string]
		r := httptest.NewRequest(http.MethodPost, "/albums", strings.NewReader(body+"--xx--"))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=xx")
		if status, text := record(albums(&e), r); !strings.Contains(text, want) || status == http.StatusInternalServerError {
			t.Errorf("%s: got %d %s, want %s", body, status, text, want)
		}
	}
	if _, text := postForm(
		albums(new(*rest.Endpoint[album, string])), "/albums", `meta={"title":"x"}`,
	); !strings.Contains(text, "x [] ") {
		t.Errorf("a urlencoded form: got %s", text)
	}

	var e *rest.Endpoint[album, string]
	bounded := albums(&e, rest.BoundBodies(rest.BodyBounds{Values: 5, Depth: 2}))
	for text, want := range map[string]int{
		`{"title":"x","tracks":[1,2,3,4,5,6]}`: http.StatusRequestEntityTooLarge,
		`{"tracks":[[[]]]}`:                    http.StatusUnprocessableEntity,
	} {
		if status, answer := postForm(bounded, "/albums", "meta="+text); status != want {
			t.Errorf("%s: got %d %s, want %d", text, status, answer, want)
		}
	}
}

// A typed request sends the part, and the document has its schema.
func TestJSONPartIsDescribed(t *testing.T) {
	t.Parallel()

	var e *rest.Endpoint[album, string]
	api := albums(&e)
	on := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	in := album{
		Meta: albumMeta{Title: "x", Tracks: []track{{3}}, On: on}, More: &albumMeta{Title: "y"},
		Tags: rest.Some([]string{"a"}), Note: "n", File: resttest.File("a.txt", "text/plain", []byte("a")),
	}
	for range 2 {
		a := resttest.Call(t, api, e, in)
		if !strings.HasPrefix(a.Body, "x [{Length:3}] &{y [] ") ||
			!strings.Contains(a.Body, `[a] true "n" [meta more tags note`) {
			t.Errorf("got %d %s", a.Status, a.Body)
		}
		in.File = nil
	}

	text, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"meta": {
                    "$ref": "#/components/schemas/AlbumMeta"`, `"contentType": "application/json"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in the document", want)
		}
	}
}

func TestJSONPartIsRefused(t *testing.T) {
	t.Parallel()

	for want, got := range map[string]string{
		`a part of a form that is JSON has the tag form:"meta,json"`: registered[struct {
			Meta albumMeta `form:"meta"`
		}, string](),
		"is for fields and items inside the JSON": registered[struct {
			Tags []string `form:"tags,json" maxItems:"3"`
		}, string](),
		"is of another library": registered[struct {
			Meta struct {
				Title string `json:"title" validate:"required"`
			} `form:"meta,json"`
		}, string](),
		"unsupported type": registered[struct {
			Meta albumMeta `query:"meta,json"`
		}, string](),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}
}
