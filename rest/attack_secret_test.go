package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// A client sends its key with every request, also to a route that is open. Links are logged
// and passed on; they must not have it. A parameter of the route's own stays.
func TestAttackKeysInLinks(t *testing.T) {
	t.Parallel()

	type byKey struct {
		Key *string `filter:"title" query:"key"`
	}
	api := quiet(rest.Auth(apiKey()))
	api.Register(routes(func(r *rest.Routes) {
		rest.List(r, "/guarded", listNovels, page.Number(page.Size(1), page.LinkHeader()))
		rest.List(r, "/open", listNovels, page.Number(page.Size(1), page.LinkHeader()), rest.NoAuth())
		rest.List(r, "/filter", listNovels, page.Number(page.Size(1), page.LinkHeader()), rest.NoAuth(),
			query.Filter[byKey]())
	}))
	for _, path := range []string{"/guarded?key=bob-key", "/open?key=bob-key", "/open?k%65y=bob-key&page=2"} {
		w := recorded(api, requestOf(t, http.MethodGet, path))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String()+w.Header().Get("Link"), "bob-key") {
			t.Errorf("%s: %d %s %s", path, w.Code, w.Header().Get("Link"), w.Body)
		}
	}
	if w := recorded(
		api, requestOf(t, http.MethodGet, "/filter?key=Dune"),
	); !strings.Contains(w.Header().Get("Link"), "key=Dune") {
		t.Errorf("the filter is lost: %s", w.Header().Get("Link"))
	}
}

const secret = "s3cret-9f1"

type choosy struct {
	N     int64   `query:"n"`
	Side  string  `enum:"a,b"        query:"side"`
	Word  string  `pattern:"^a+$"    query:"word"`
	Token *string `cookie:"token"    maxLength:"3"`
	Head  int     `header:"X-Number"`
}

type choosyBody struct {
	N    int64          `json:"n"`
	Word string         `json:"word"           maxLength:"3"`
	Mail string         `format:"email"        json:"mail"`
	Many map[string]int `json:"many,omitempty"`
}

// Whatever a client sends, and whatever a program says to its log, is in no answer about an
// error; and what a client sends as a value is not in the log either.
func TestAttackSecretsInErrors(t *testing.T) {
	t.Parallel()

	fail := func(err error) func(context.Context, struct{}) (string, error) {
		return func(context.Context, struct{}) (string, error) { return "", err }
	}
	for name, renderer := range map[string]rest.APIOption{
		"Problem": rest.Errors(rest.ProblemErrors), "Detail": rest.Errors(rest.DetailErrors),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			logs := &memory{}
			lookup := func(context.Context, string) (*rest.User, error) { return nil, rest.ErrBadCredentials }
			api := rest.New(rest.Logger(logs.logger()), renderer)
			api.Register(routes(func(r *rest.Routes) {
				rest.Get(r, "/choosy", func(context.Context, choosy) (string, error) { return "", nil })
				rest.Post(r, "/choosy", func(context.Context, choosyBody) (string, error) { return "", nil })
				rest.Get(r, "/known", handle(""), rest.Auth(auth.APIKeyQuery("key", lookup), auth.Bearer(lookup)))
				rest.List(r, "/list", listNovels, query.Filter[novelFilter](), query.Order("price"),
					page.Cursor(page.Sign(page.RandomSecret())))
				rest.Get(r, "/fails/plain", fail(errors.New(secret)))
				rest.Get(r, "/fails/wrapped", fail(&rest.Error{Status: http.StatusConflict, Err: errors.New(secret)}))
				rest.Get(r, "/fails/internal", fail(&rest.Error{
					Status: http.StatusInternalServerError, Detail: secret, Body: secret,
				}))
				rest.Get(r, "/fails/around", fail(fmt.Errorf("%s: %w", secret, rest.NotFound(""))))
				rest.Get(r, "/fails/panic", func(context.Context, struct{}) (string, error) { panic(secret) })
			}))
			op := rest.Guard(api, huma.Operation{Method: http.MethodPost, Path: "/huma", OperationID: "huma"}, rest.NoAuth())
			huma.Register(api.Huma(), op, func(context.Context, *struct{ Body choosyBody }) (*rawOut, error) {
				return &rawOut{}, nil
			})

			for _, body := range []string{
				`{"n":"` + secret + `","word":"` + secret + `","mail":"` + secret + `"}`,
				`{"n":1,"word":"a","mail":"a@b.c","many":{"a":"` + secret + `"}}`, `"` + secret + `"`, secret, `{"n":` + secret,
				`{"n":1,"n":"` + secret + `"}`, `{"n":{"a":"` + secret + `"}}`, `["` + secret + `"]`,
			} {
				for _, path := range []string{"/choosy", "/huma"} {
					r := requestOf(t, http.MethodPost, path)
					withBody(r, body)
					silent(t, path+" "+body, recorded(api, r))
				}
			}
			for _, path := range []string{
				"/choosy?n=" + secret, "/choosy?side=" + secret, "/choosy?word=" + secret, "/choosy?n=1&n=" + secret,
				"/choosy?n=%zz" + secret, "/known?key=" + secret, "/list?price=" + secret, "/list?ordering=" + secret,
				"/list?cursor=" + secret, "/list?page_size=" + secret, "/fails/plain", "/fails/wrapped", "/fails/internal",
				"/fails/around", "/fails/panic",
			} {
				r := requestOf(t, http.MethodGet, path)
				r.Header.Set("Authorization", "Bearer "+secret)
				r.Header.Set("X-Number", secret)
				r.Header.Set("Cookie", "token="+secret)
				r.Host = secret + ".example"
				if !strings.HasPrefix(path, "/list?p") { // a filter of no such name is ignored
					silent(t, path, recorded(api, r))
				}
			}
			for line := range strings.Lines(logs.String()) {
				if strings.Contains(line, secret) && !strings.Contains(line, "/fails/") {
					t.Errorf("the log has what was sent: %s", line)
				}
			}
		})
	}
}

func silent(t *testing.T, name string, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code < http.StatusBadRequest {
		t.Errorf("%s: %d is no error", name, w.Code)
	}
	if strings.Contains(w.Body.String()+fmt.Sprint(w.Header()), secret) {
		t.Errorf("%s: the answer has what was sent: %v %s", name, w.Header(), w.Body)
	}
}

func withBody(r *http.Request, text string) {
	made := httptest.NewRequest(r.Method, "/", strings.NewReader(text))
	r.Body, r.ContentLength = made.Body, made.ContentLength
	r.Header.Set("Content-Type", "application/json")
}
