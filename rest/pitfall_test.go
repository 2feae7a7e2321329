package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// settings is a body with a default for each kind of zero.
type preferences struct {
	Active bool    `json:"active"          default:"true"`
	N      int     `json:"n"               default:"7"`
	Name   string  `json:"name"            default:"x"`
	Rate   float64 `json:"rate"            default:"0.5"`
	Lines  []line  `json:"lines,omitempty" required:"false"`
}

type line struct {
	Gift bool `json:"gift" default:"true"`
}

type account struct {
	Password string `json:"password" maxLength:"8"`
	Age      int    `json:"age"      required:"false"`
}

func echo[T any](_ context.Context, in T) (T, error) { return in, nil }

// TestPitfall has a test for each pitfall of the framework below, by its number in our
// notes: none of them is one of ours.
func TestPitfall(t *testing.T) {
	t.Parallel()

	t.Run("01_permissions_below_a_prefix", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(routes(func(r *rest.Routes) {
			r.Configure(rest.Permit(deny), rest.Prefix("/a/b"))
			rest.Get(r, "/x", handle(""))
			rest.Post(r, "/x", handle(""), rest.Status(http.StatusAccepted), rest.Open())
		}))
		wantStatus(t, api, http.MethodGet, "/a/b/x", http.StatusForbidden)
		wantStatus(t, api, http.MethodPost, "/a/b/x", http.StatusAccepted)
	})
	t.Run("02_tags_and_middleware_once", func(t *testing.T) {
		t.Parallel()
		ran := 0
		var count rest.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ran++; next.ServeHTTP(w, r) })
		}
		api := quiet()
		api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/x", handle("")) }), rest.Prefix("/a/b"), rest.Tags("t"),
			rest.Use(count))
		wantStatus(t, api, http.MethodGet, "/a/b/x", http.StatusOK)
		wantDiff(t, "tags and calls", []any{[]any{"t"}, 1},
			[]any{at(document(t, api), "paths", "/a/b/x", "get", "tags"), ran})
	})
	t.Run("03_security_is_enforced", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/none", whoami, rest.NoAuth())
			rest.Get(r, "/key", whoami)
			rest.Raw(r, []string{http.MethodGet}, "/raw", http.NotFoundHandler())
			rest.List(r, "/list", listNovels)
		}, rest.Auth(bearer()))
		paths, _ := document(t, api)["paths"].(map[string]any)
		for path := range paths {
			want := http.StatusUnauthorized
			if needs, ok := at(paths, path, "get", "security").([]any); !ok {
				t.Errorf("%s does not say whether it is secured", path)
			} else if len(needs) == 0 {
				want = http.StatusOK
			}
			wantStatus(t, api, http.MethodGet, path, want)
		}
	})
	t.Run("03_security_of_raw_operations", func(t *testing.T) {
		t.Parallel()
		for name, c := range map[string]struct {
			api *rest.API
			op  huma.Operation
		}{
			"documented":           {quiet(), huma.Operation{Security: []map[string][]string{{"key": {}}}}},
			"documented, hidden":   {quiet(), huma.Operation{Security: []map[string][]string{{"key": {}}}, Hidden: true}},
			"of the API":           {quiet(rest.Auth(bearer())), huma.Operation{}},
			"of the API, hidden":   {quiet(rest.Auth(bearer())), huma.Operation{Hidden: true}},
			"permission of it":     {quiet(rest.Permit(deny)), huma.Operation{}},
			"in a group of its":    {quiet(rest.Permit(deny)), huma.Operation{Tags: []string{"group"}}},
			"throttle of the API":  {quiet(rest.Throttles(refuse(1))), huma.Operation{}},
			"documented elsewhere": {quiet(), huma.Operation{Security: []map[string][]string{{}}}},
		} {
			c.op.Method, c.op.Path, c.op.OperationID = http.MethodGet, "/raw", "raw"
			to := c.api.Huma()
			if c.op.Tags != nil {
				to = huma.NewGroup(to, "/g")
			}
			text := mustPanic(t, func() { huma.Register(to, c.op, rawHello) })
			if !strings.Contains(text, "rest.Guard") || !strings.Contains(text, "/raw") {
				t.Errorf("%s: got %q", name, text)
			}
		}
	})
	t.Run("03_middleware_added_late", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Get(r, "/x", handle("")) })
		api.Huma().UseMiddleware(func(ctx huma.Context, _ func(huma.Context)) { ctx.SetStatus(http.StatusTeapot) })
		wantStatus(t, api, http.MethodGet, "/x", http.StatusTeapot)
	})
	t.Run("04_explicit_zeros_stay", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[preferences]) })
		for body, want := range map[string]preferences{
			`{}`: {true, 7, "x", 0.5, nil},
			`{"active":false,"n":0,"name":"","rate":0,"lines":[{"gift":false},{}]}`: {Lines: []line{{false}, {true}}},
		} {
			a := resttest.Do[preferences](t, api, http.MethodPost, "/x", resttest.Content("application/json", body))
			wantDiff(t, body, want, a.Body)
		}
	})
	t.Run("05_integers_do_not_overflow", func(t *testing.T) {
		t.Parallel()
		type in struct {
			N int32 `path:"n"`
			U uint8 `query:"u"`
		}
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/{int:n}", echo[in])
			rest.Post(r, "/x", echo[struct {
				N int8 `json:"n"`
			}])
		})
		wantStatus(t, api, http.MethodGet, "/4294967297", http.StatusUnprocessableEntity)
		wantStatus(t, api, http.MethodGet, "/99999999999999999999", http.StatusNotFound) // no integer of any kind
		wantStatus(t, api, http.MethodGet, "/1?u=256", http.StatusUnprocessableEntity)
		wantStatus(t, api, http.MethodGet, "/1?u=-1", http.StatusUnprocessableEntity)
		wantStatus(t, api, http.MethodPost, "/x", http.StatusUnprocessableEntity,
			resttest.Content("application/json", `{"n":128}`))
	})
	t.Run("06_errors_echo_nothing", func(t *testing.T) {
		t.Parallel()
		type in struct {
			Key string `query:"key" pattern:"^[a-z]*$"`
			account
		}
		for name, renderer := range map[string]rest.ErrorRenderer{
			"problem": rest.ProblemErrors, "detail": rest.DetailErrors,
		} {
			api := serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[in]) }, rest.Errors(renderer))
			huma.Register(api.Huma(), huma.Operation{Method: http.MethodPost, Path: "/raw", OperationID: "raw"},
				func(context.Context, *struct{ Body account }) (*struct{}, error) { return &struct{}{}, nil })
			for _, target := range []string{"/x?key=HUNTER22", "/raw"} {
				for _, body := range []string{
					`{"password":"HUNTER22HUNTER22"}`, `{"password":"HUNTER22","age":"HUNTER22"}`, `{"password":"HUNTER22",`,
					`HUNTER22`, `{"password":"HUNTER22","HUNTER":1}`, `{"password":["HUNTER22"]}`,
				} {
					a := resttest.Do[any](t, api, http.MethodPost, target, resttest.Content("application/json", body))
					if a.Status < 400 || a.Status > 422 || strings.Contains(a.Text, "HUNTER22") {
						t.Errorf("%s %s %s: got %d %s", name, target, body, a.Status, a.Text)
					}
				}
			}
		}
	})
	t.Run("07_no_global_state", func(t *testing.T) {
		t.Parallel()
		problem, detail := quiet(), quiet(rest.Errors(rest.DetailErrors))
		teapot := quiet(rest.InvalidStatus(http.StatusBadRequest), rest.Unknown(rest.IgnoreUnknown))
		for _, api := range []*rest.API{problem, detail, teapot} {
			api.Register(routes(func(r *rest.Routes) { rest.Post(r, "/x", echo[account]) }))
		}
		body := resttest.Content("application/json", `{"password":"x","other":1}`)
		wantStatus(t, problem, http.MethodPost, "/x", http.StatusUnprocessableEntity, body)
		wantStatus(t, teapot, http.MethodPost, "/x", http.StatusOK, body)
		wantStatus(t, teapot, http.MethodPost, "/x", http.StatusBadRequest, resttest.Content("application/json", `{}`))
		if a := resttest.Do[any](t, detail, http.MethodPost, "/x", body); !strings.HasPrefix(a.Text, `{"detail":[`) {
			t.Errorf("got %s", a.Text)
		}
	})
	t.Run("08_parameters", func(t *testing.T) {
		t.Parallel()
		type in struct {
			Max  *int     `query:"max" json:"max"`
			Tags []string `query:"tag" json:"tags"`
		}
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", echo[in])
			rest.Get(r, "/strict", echo[in], rest.Unknown(rest.RefuseAll))
		})
		for target, want := range map[string]string{
			"/x":                 `{"max":null,"tags":[]}`,
			"/x?max=0":           `{"max":0,"tags":[]}`,
			"/x?tag=a&tag=b":     `{"max":null,"tags":["a","b"]}`,
			"/x?other=1&tag=a,b": `{"max":null,"tags":["a,b"]}`,
		} {
			_, text := get(t, api, target)
			wantDiff(t, target, want, text)
		}
		wantStatus(t, api, http.MethodGet, "/strict?tag=a", http.StatusOK)
		wantStatus(t, api, http.MethodGet, "/strict?other=1", http.StatusUnprocessableEntity)
	})
	t.Run("09_input_of_several_types", func(t *testing.T) {
		t.Parallel()
		type shop struct {
			Shop int64 `path:"shop"`
		}
		api := serve(func(r *rest.Routes) {
			rest.List(r, "/{int:shop}/novels", func(_ context.Context, in shop) ([]novel, error) {
				return novels()[in.Shop:], nil
			}, page.Number(page.Size(1)), query.Filter[novelFilter](), query.Order("price"), query.Search("title"))
		})
		a := resttest.Do[numberPage](t, api, http.MethodGet, "/2/novels?page=2&ordering=-price&author=jane%20austen&search=a")
		wantDiff(t, "page", []any{"3", int64(2)}, []any{ids(a.Body.Results), a.Body.Count})
	})
	t.Run("11_no_schema_links", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		api.Register(newShelf())
		a := resttest.Do[any](t, api, http.MethodGet, "/1", resttest.Header("X-Forwarded-Host", "evil.example"))
		spec, err := api.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(a.Text, "$schema") || strings.Contains(string(spec), "$schema") || a.Header.Get("Link") != "" {
			t.Errorf("got %s %v", a.Text, a.Header)
		}
	})
	t.Run("11_nil_is_no_answer", func(t *testing.T) {
		t.Parallel()
		var log memory
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/pointer", func(context.Context, struct{}) (*book, error) { return nil, nil })                              //nolint:nilnil // the mistake
			rest.Get(r, "/reply", func(context.Context, struct{}) (*rest.Reply, error) { return nil, nil }, rest.Returns[book](200)) //nolint:nilnil // the mistake
			rest.Get(r, "/file", func(context.Context, struct{}) (*rest.File, error) { return nil, nil })                            //nolint:nilnil // the mistake
			rest.Get(r, "/slice", func(context.Context, struct{}) ([]book, error) { return nil, nil })
			rest.Get(r, "/map", func(context.Context, struct{}) (map[string]int, error) { return nil, nil }) //nolint:nilnil // an empty one
			rest.List(r, "/list", func(context.Context, struct{}) ([]book, error) { return nil, nil }, page.None())
		}, rest.Logger(log.logger()))
		for _, path := range []string{"/pointer", "/reply", "/file"} {
			wantStatus(t, api, http.MethodGet, path, http.StatusInternalServerError)
			if !strings.Contains(log.String(), "path="+path) {
				t.Errorf("%s is not in the log", path)
			}
		}
		for path, want := range map[string]string{"/slice": "[]", "/map": "{}", "/list": "[]"} {
			_, text := get(t, api, path)
			wantDiff(t, path, want, text)
		}
	})
	t.Run("11_what_cannot_be_encoded", func(t *testing.T) {
		t.Parallel()
		for name, renderer := range map[string]rest.ErrorRenderer{
			"problem": rest.ProblemErrors, "detail": rest.DetailErrors,
		} {
			api := serve(func(r *rest.Routes) {
				rest.Get(r, "/x", func(context.Context, struct{}) (any, error) { return func() {}, nil })
				rest.Get(r, "/error", func(context.Context, struct{}) (any, error) {
					return nil, &rest.Error{Status: 400, Body: func() {}}
				})
			}, rest.Errors(renderer))
			for _, path := range []string{"/x", "/error"} {
				status, text := get(t, api, path)
				if status != http.StatusInternalServerError {
					t.Errorf("%s %s: got %d %s", name, path, status, text)
				}
			}
			wantStatus(t, api, http.MethodGet, "/x", http.StatusInternalServerError) // also with the encoder that failed
		}
	})
	t.Run("11_lists_are_not_nullable", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[preferences]) })
		wantDiff(t, "type", any("array"), at(document(t, api), "components", "schemas", "Preferences", "properties", "lines",
			"type"))
		required := serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[struct{ Body []line }]) })
		wantStatus(t, required, http.MethodPost, "/x", http.StatusUnprocessableEntity,
			resttest.Content("application/json", `null`))
	})
}

// TestTrap has a test for each trap of building on the framework below, by its section and
// number in our notes.
func TestTrap(t *testing.T) {
	t.Parallel()

	type address struct {
		Note string `json:"note" maxLength:"5"`
	}
	type order struct {
		Quantity int     `json:"quantity" maximum:"1000"`
		Address  address `json:"address"  required:"false"`
		Country  string  `json:"country"  required:"false" minLength:"2"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/order", echo[order])
		rest.Post(r, "/lenient", echo[order], rest.Unknown(rest.IgnoreUnknown))
		rest.Post(r, "/spread/{int:id}", echo[struct {
			ID       int64   `path:"id"       json:"-"`
			Quantity int     `json:"quantity" maximum:"1000"`
			Address  address `json:"address"  required:"false"`
		}])
	})
	refused := func(t *testing.T, body, want string) {
		t.Helper()
		for _, path := range []string{"/order", "/lenient", "/spread/1"} {
			a := resttest.Do[any](t, api, http.MethodPost, path, resttest.Content("application/json", body))
			if a.Status != http.StatusUnprocessableEntity || !strings.Contains(fmt.Sprint(a.Error.Faults), want) {
				t.Errorf("%s %s: got %d %s", path, body, a.Status, a.Text)
			}
		}
	}

	t.Run("2.4.1_keys_in_another_case", func(t *testing.T) {
		t.Parallel()
		refused(t, `{"quantity":42,"QUANTITY":999999}`, "body.QUANTITY: key_case_mismatch")
		refused(t, `{"QUANTITY":42}`, "body.QUANTITY: key_case_mismatch")
	})
	t.Run("2.4.2_objects_sent_twice", func(t *testing.T) {
		t.Parallel()
		refused(t, `{"quantity":1,"address":{"note":"much too long"},"address":{"note":"ok"}}`, "body.address: duplicate_key")
		refused(t, `{"quantity":1,"quantity":2}`, "body.quantity: duplicate_key")
		refused(t, `{"quantity":1,"quantit\u0079":2}`, "body.quantity: duplicate_key")
	})
	t.Run("no_json", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/order", "/lenient", "/spread/1"} {
			a := resttest.Do[any](t, api, http.MethodPost, path, resttest.Content("application/json", `{"quantity":`))
			if a.Status != http.StatusBadRequest {
				t.Errorf("%s: got %d %s", path, a.Status, a.Text)
			}
		}
	})
	t.Run("2.4.3_required_in_another_case", func(t *testing.T) {
		t.Parallel()
		a := resttest.Do[any](t, api, http.MethodPost, "/order",
			resttest.Content("application/json", `{"quantity":1,"COUNTRY":"FR"}`))
		if a.Status != http.StatusUnprocessableEntity {
			t.Errorf("got %d %s", a.Status, a.Text)
		}
	})
	t.Run("1.2.1_middleware_of_the_api_below", func(t *testing.T) {
		t.Parallel()
		type key struct{}
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (string, error) { return fmt.Sprint(ctx.Value(key{})), nil })
		})
		api.Huma().UseMiddleware(func(ctx huma.Context, next func(huma.Context)) { next(huma.WithValue(ctx, key{}, "set")) })
		api.Huma().UseMiddleware(func(ctx huma.Context, next func(huma.Context)) {
			next(around{ctx, context.WithValue(ctx.Context(), key{}, fmt.Sprint(ctx.Context().Value(key{}), " twice"))})
		})
		huma.Register(api.Huma(), rest.Guard(api, huma.Operation{Method: http.MethodGet, Path: "/raw", OperationID: "raw"}),
			func(ctx context.Context, _ *struct{}) (*struct{ Body string }, error) {
				return &struct{ Body string }{fmt.Sprint(ctx.Value(key{}))}, nil
			})
		for _, path := range []string{"/x", "/raw"} {
			_, text := get(t, api, path)
			wantDiff(t, path, `"set twice"`, text)
		}
	})
	t.Run("1.2.4_type_of_raw_errors", func(t *testing.T) {
		t.Parallel()
		api := quiet()
		huma.Register(api.Huma(), huma.Operation{Method: http.MethodGet, Path: "/raw/{n}", OperationID: "raw"}, rawNumber)
		for _, accept := range []string{"", "application/json", "application/problem+json", "application/cbor"} {
			a := resttest.Do[any](t, api, http.MethodGet, "/raw/x", resttest.Header("Accept", accept))
			if a.Status != http.StatusUnprocessableEntity || !strings.HasSuffix(a.Header.Get("Content-Type"), "json") ||
				a.Error.Code != "validation_failed" {
				t.Errorf("Accept %q: got %d %s %s", accept, a.Status, a.Header.Get("Content-Type"), a.Text)
			}
		}
	})
	t.Run("1.2.5_errors_of_raw_handlers", func(t *testing.T) {
		t.Parallel()
		api := quiet(rest.Errors(rest.DetailErrors))
		huma.Register(api.Huma(), huma.Operation{Method: http.MethodGet, Path: "/raw", OperationID: "raw"},
			func(context.Context, *struct{}) (*struct{}, error) { return nil, huma.Error409Conflict("taken") })
		a := resttest.Do[any](t, api, http.MethodGet, "/raw")
		wantDiff(t, "answer", []any{409, "application/json", `{"detail":"taken"}`},
			[]any{a.Status, a.Header.Get("Content-Type"), strings.TrimSpace(a.Text)})
		wantStatus(t, api, http.MethodPost, "/raw", http.StatusMethodNotAllowed)
	})
	t.Run("1.2.7_head_of_a_get", func(t *testing.T) {
		t.Parallel()
		res, text := ask(t, http.MethodHead, listen(t, novelAPI())+"/novels")
		if res.StatusCode != http.StatusOK || text != "" {
			t.Errorf("got %d %q", res.StatusCode, text)
		}
	})
}

// refuse is a throttle that allows nothing.
func refuse(seconds int) rest.Throttle {
	return throttleFunc(func(context.Context) (rest.Verdict, error) {
		return rest.Verdict{Policy: "none", RetryAfter: time.Duration(seconds) * time.Second}, nil
	})
}

// around is a context of huma with another context in it, as middleware of others makes it.
type around struct {
	humaContext

	ctx context.Context
}

type humaContext = huma.Context

func (a around) Context() context.Context { return a.ctx }
func (a around) Unwrap() huma.Context     { return a.humaContext }

func rawHello(context.Context, *struct{}) (*struct{ Body string }, error) {
	return &struct{ Body string }{"hello"}, nil
}

func rawNumber(_ context.Context, in *struct {
	N int `path:"n"`
},
) (*struct{ Body int }, error) {
	return &struct{ Body int }{in.N}, nil
}
