package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type draft struct {
	Text string `json:"text"`
}

type takenBy struct {
	By string `json:"by"`
}

var (
	taken   = rest.Also[takenBy](http.StatusConflict)
	queued  = rest.Also[rest.NoContent](http.StatusAccepted)
	choices = rest.Also[[]book](http.StatusMultipleChoices)
)

type wish struct {
	Kind string `path:"kind"`
}

func grant(_ context.Context, in wish) (rest.Answer[book], error) {
	switch in.Kind {
	case "taken":
		return rest.Answer[book]{Other: taken.With(takenBy{"ann"}), Header: http.Header{"X-Who": {"ann"}}}, nil
	case "queued":
		return rest.Answer[book]{Other: queued.With(rest.NoContent{})}, nil
	case "choices":
		return rest.Answer[book]{Other: choices.With(nil)}, nil
	case "undeclared":
		return rest.Answer[book]{Other: rest.Also[book](http.StatusAlreadyReported).With(book{})}, nil
	case "other":
		return rest.Answer[book]{Other: rest.Also[draft](http.StatusConflict).With(draft{"secret"})}, nil
	case "error":
		return rest.Answer[book]{Body: book{ID: 3}}, rest.Conflict("no")
	}
	return rest.Answer[book]{Body: book{ID: 7, Title: "Emma"}, Header: http.Header{"X-Who": {"bob"}}}, nil
}

// An answer is its usual body, or one of those that the route declares.
func TestAnswer(t *testing.T) {
	t.Parallel()

	var one *rest.Endpoint[wish, rest.Answer[book]]
	api := serve(func(r *rest.Routes) {
		one = rest.Post(r, "/wishes/{kind}", grant, rest.Status(http.StatusCreated), taken, queued, choices)
		rest.Get(r, "/list", func(context.Context, struct{}) (rest.Answer[[]book], error) {
			return rest.Answer[[]book]{}, nil
		}, queued)
		rest.Get(r, "/pointer", func(context.Context, struct{}) (rest.Answer[*book], error) {
			return rest.Answer[*book]{}, nil
		}, queued)
		rest.Delete(r, "/none", func(context.Context, struct{}) (rest.Answer[rest.NoContent], error) {
			return rest.Answer[rest.NoContent]{}, nil
		}, taken)
	})
	for _, c := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"POST", "/wishes/x", 201, `{"id":7,"title":"Emma","price":0}`},
		{"POST", "/wishes/taken", 409, `{"by":"ann"}`},
		{"POST", "/wishes/queued", 202, ""},
		{"POST", "/wishes/choices", 300, "[]"},
		{"GET", "/list", 200, "[]"},
		{"DELETE", "/none", 204, ""},
	} {
		a := resttest.Do[any](t, api, c.method, c.path)
		wantDiff(t, c.path, []any{c.status, c.text}, []any{a.Status, strings.TrimSpace(a.Text)})
	}
	wantStatus(t, api, http.MethodPost, "/wishes/undeclared", http.StatusInternalServerError)
	wantStatus(t, api, http.MethodPost, "/wishes/other", http.StatusInternalServerError)
	wantStatus(t, api, http.MethodPost, "/wishes/error", http.StatusConflict)
	wantStatus(t, api, http.MethodGet, "/pointer", http.StatusInternalServerError)

	a := resttest.Call(t, api, one, wish{"x"})
	wantDiff(t, "a typed call", []any{"Emma", "bob"}, []any{a.Body.Body.Title, a.Header.Get("X-Who")})
	d := document(t, api)
	for status, want := range map[string]string{
		"201": "#/components/schemas/Book", "409": "#/components/schemas/TakenBy",
	} {
		got := at(d, "paths", "/wishes/{kind}", "post", "responses", status, "content", "application/json", "schema", "$ref")
		if text, _ := got.(string); !strings.EqualFold(text, want) {
			t.Errorf("%s is documented as %v", status, got)
		}
	}
	if at(d, "paths", "/wishes/{kind}", "post", "responses", "202", "content") != nil ||
		at(d, "paths", "/wishes/{kind}", "post", "responses", "202") == nil {
		t.Error("202 is not documented as an answer without a body")
	}
	if at(d, "paths", "/none", "delete", "responses", "204") == nil ||
		at(d, "paths", "/none", "delete", "responses", "204", "content") != nil {
		t.Error("204 is not documented as an answer without a body")
	}
}

func TestAnswerIsRefused(t *testing.T) {
	t.Parallel()

	for want, f := range map[string]func(r *rest.Routes){
		"has no body": func(r *rest.Routes) { rest.Post(r, "/x/{kind}", grant, rest.Status(http.StatusNoContent)) },
		"declared twice": func(r *rest.Routes) {
			rest.Post(r, "/x/{kind}", grant, rest.Status(http.StatusConflict-200), rest.Also[draft](209))
		},
		"cannot be the body": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (rest.Answer[*rest.File], error) { panic("") })
		},
		"stands neither behind a p": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (*rest.Answer[draft], error) { panic("") })
		},
		"stands neither behind a pointer nor in a list": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) ([]rest.Answer[draft], error) { panic("") })
		},
		"rest.Answer[github.com/spoolhq/spool/rest_test.draft] is an answer by itself, and cannot be the body of one": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (rest.Answer[rest.Answer[draft]], error) { panic("") })
		},
		"the body of an answer is error, and an error has no JSON of its own": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (rest.Answer[error], error) { panic("") })
		},
		"the body of an answer is []error": func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) ([]error, error) { panic("") })
		},
		"an answer is map[string]error": func(r *rest.Routes) {
			rest.Post(r, "/x/{kind}", grant, rest.Also[map[string]error](409))
		},
		"409 is declared with *rest.File, which": func(r *rest.Routes) {
			rest.Post(r, "/x/{kind}", grant, rest.Also[*rest.File](409))
		},
		"rest.Also makes an Alternative": func(r *rest.Routes) {
			rest.Post(r, "/x/{kind}", grant, rest.Alternative[draft]{})
		},
		"but rest_test.draft is declared for it": func(r *rest.Routes) {
			rest.Post(r, "/x/{kind}", grant, rest.Also[draft](204))
		},
		"not the status of an ans": func(*rest.Routes) { rest.Also[draft](42) },
		"rest.Produces":            func(r *rest.Routes) { rest.Post(r, "/x/{kind}", grant, rest.Produces("text/csv")) },
	} {
		if text := mustPanic(t, func() { serve(f) }); !strings.Contains(text, want) {
			t.Errorf("want %q, got %q", want, text)
		}
	}
}

// Any JSON is a body, and so is what has methods of the program.
func TestAnswerOfAnInterface(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/any", func(context.Context, struct{}) (rest.Answer[any], error) {
			return rest.Answer[any]{Body: book{ID: 3}}, nil
		})
		rest.Get(r, "/own", func(context.Context, struct{}) (fmt.Stringer, error) { return time.Second, nil })
	})
	for path, want := range map[string]string{"/any": `{"id":3`, "/own": "1000000000"} {
		if status, text := get(t, api, path); status != http.StatusOK || !strings.HasPrefix(text, want) {
			t.Errorf("%s: got %d %s", path, status, text)
		}
	}
}

// The bodies of answers may have headers as fields, as any may.
func TestAnswerWithHeaders(t *testing.T) {
	t.Parallel()

	type versioned struct {
		Version string `header:"X-Version"`
		Body    book
	}
	type moved struct {
		To string `header:"Location"`
	}
	gone := rest.Also[moved](http.StatusSeeOther)
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/{int:id}", func(_ context.Context, in byID) (rest.Answer[versioned], error) {
			if in.ID == 1 {
				return rest.Answer[versioned]{Other: gone.With(moved{"./2"})}, nil
			}
			return rest.Answer[versioned]{Body: versioned{`"x"`, book{ID: in.ID}}}, nil
		}, gone)
	})
	a := resttest.Do[book](t, api, http.MethodGet, "/2")
	wantDiff(t, "the usual one", []any{200, `"x"`, int64(2)}, []any{a.Status, a.Header.Get("X-Version"), a.Body.ID})
	b := resttest.Do[any](t, api, http.MethodGet, "/1")
	wantDiff(t, "the other one", []any{303, "./2", ""}, []any{b.Status, b.Header.Get("Location"), b.Text})
	responses := at(document(t, api), "paths", "/{id}", "get", "responses")
	if at(responses, "200", "headers", "X-Version") == nil || at(responses, "303", "headers", "Location") == nil ||
		at(responses, "303", "content") != nil {
		t.Errorf("documented as %v", responses)
	}
}

// Headers of an embedded pointer that is nil are not sent.
func TestAnswerWithoutEmbeddedHeaders(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/{int:id}", func(_ context.Context, in byID) (embedsTotal, error) {
			if in.ID == 1 {
				return embedsTotal{HeadOfTotal: &HeadOfTotal{Total: 3}}, nil
			}
			return embedsTotal{}, nil
		})
	})
	for target, want := range map[string]string{"/1": "3", "/2": ""} {
		a := resttest.Do[any](t, api, http.MethodGet, target)
		wantDiff(t, target, []any{200, want, "{\"name\":\"\"}\n"}, []any{a.Status, a.Header.Get("X-Total"), a.Text})
	}
	header := at(document(t, api), "paths", "/{id}", "get", "responses", "200", "headers", "X-Total")
	if header == nil || at(header, "required") != nil {
		t.Errorf("documented as %v", header)
	}
}

// HeadOfTotal is embedded, and so exported.
type HeadOfTotal struct {
	Total int `header:"X-Total" json:"-"`
}

type embedsTotal struct {
	*HeadOfTotal

	Name string `json:"name"`
}

// A body of another type than its status declares is answered 500. The answer names both
// types and no value; the log also names the route and the packages.
func TestMismatch(t *testing.T) {
	t.Parallel()

	log := &memory{}
	secret := draft{"secret"}
	reply := func(status int, body any) func(context.Context, struct{}) (*rest.Reply, error) {
		return func(context.Context, struct{}) (*rest.Reply, error) {
			return &rest.Reply{Status: status, Body: body}, nil
		}
	}
	declares := []rest.RouteOption{
		rest.Returns[book](200), rest.Returns[[]book](203), rest.Returns[takenBy](409), rest.Detail(202),
		rest.Returns[any](418), rest.Returns[map[string]int](299),
	}
	api := rest.New(rest.Logger(log.logger()))
	compat := rest.New(rest.Logger(log.logger()), rest.Errors(rest.DetailErrors))
	wrong := map[string]struct {
		handler       func(context.Context, struct{}) (*rest.Reply, error)
		answered, log string
	}{
		"another": {
			reply(200, secret), "declares Book for the status 200, and its handler answered Draft",
			"rest_test.book and rest_test.draft",
		},
		"pointer": {reply(200, &secret), "answered Draft", "rest_test.book and *rest_test.draft"},
		"list":    {reply(200, []book{}), "answered a list of Book", "rest_test.book and []rest_test.book"},
		"of_a_list": {
			reply(203, book{}), "declares a list of Book for the status 203", "[]rest_test.book and rest_test.book",
		},
		"map": {
			reply(409, map[string]any{"by": "secret"}),
			"declares TakenBy for the status 409, and its handler answered a map of any JSON", "map[string]interface {}",
		},
		"text":     {reply(200, "secret"), "answered String", "rest_test.book and string"},
		"none":     {reply(200, nil), "answered no body", "rest_test.book and no body"},
		"nil":      {reply(200, (*book)(nil)), "answered nil, and no Book", "rest_test.book and *rest_test.book"},
		"too_much": {reply(202, book{}), "declares no body for the status 202", "no body and rest_test.book"},
	}
	fine := map[string]func(context.Context, struct{}) (*rest.Reply, error){
		"usual": reply(0, book{}), "value": reply(200, book{}), "its_pointer": reply(200, &book{}),
		"slice": reply(203, []book{}), "nil_slice": reply(203, []book(nil)), "error": reply(409, takenBy{}),
		"without": reply(202, nil), "anything": reply(418, secret), "nil_map": reply(299, map[string]int(nil)),
	}
	all := routes(func(r *rest.Routes) {
		for name, c := range wrong {
			rest.Get(r, "/"+name, c.handler, append(declares, rest.Name(name))...)
		}
		for name, h := range fine {
			rest.Get(r, "/"+name, h, append(declares, rest.Name(name))...)
		}
	})
	api.Register(all)
	compat.Register(all)
	for name, c := range wrong {
		a := resttest.Do[any](t, api, http.MethodGet, "/"+name)
		if a.Status != 500 || !strings.Contains(a.Text, c.answered) ||
			!strings.Contains(a.Text, `"code":"answer_mismatch"`) || strings.Contains(a.Text, "secret") ||
			strings.Contains(a.Text, "rest_test") {
			t.Errorf("%s: %d %s", name, a.Status, a.Text)
		}
		if text := log.String(); !strings.Contains(text, c.log) || strings.Contains(text, "secret") {
			t.Errorf("%s: the log has %s", name, text)
		}
		if a := resttest.Do[any](t, compat, http.MethodGet, "/"+name); a.Status != 500 ||
			!strings.Contains(a.Text, c.answered) {
			t.Errorf("compatible: %s: %d %s", name, a.Status, a.Text)
		}
	}
	for name := range fine {
		if a := resttest.Do[any](t, api, http.MethodGet, "/"+name); a.Status == 500 || a.Text == "null\n" {
			t.Errorf("%s: %d %s", name, a.Status, a.Text)
		}
	}
}
