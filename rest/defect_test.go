package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// counting is a controller that knows how often it was made and mounted.
type counting struct{ routes, calls atomic.Int64 }

func (c *counting) Routes(r *rest.Routes) {
	c.routes.Add(1)
	rest.Get(r, "/who", whoami)
	rest.Get(r, "/count", func(context.Context, struct{}) (int64, error) { return c.calls.Add(1), nil })
}

// TestDefect has a test for each defect of the class-based library that this one replaces,
// by its number there. Those about filters, ordering, searching, throttles and model
// controllers are with the packages that have them.
func TestDefect(t *testing.T) {
	t.Parallel()

	t.Run("01_state_shared_between_apis", func(t *testing.T) {
		t.Parallel()
		c := &counting{}
		closed := quiet(rest.Auth(bearer()), rest.Errors(rest.DetailErrors), rest.Title("closed"))
		open := quiet(rest.Title("open"))
		other := quiet(rest.Auth(apiKey()))
		closed.Register(c, rest.Permit(permission.IsAdmin))
		open.Register(c)
		other.Register(c, rest.Prefix("/x"))
		wantStatus(t, open, http.MethodGet, "/who", http.StatusOK)
		wantStatus(t, closed, http.MethodGet, "/who", http.StatusUnauthorized)
		wantStatus(t, closed, http.MethodGet, "/who", http.StatusForbidden, resttest.Bearer("bob-key"))
		wantStatus(t, closed, http.MethodGet, "/who?key=ann-key", http.StatusUnauthorized)
		wantStatus(t, other, http.MethodGet, "/x/who?key=bob-key", http.StatusOK)
		wantStatus(t, other, http.MethodGet, "/x/who", http.StatusUnauthorized, resttest.Bearer("ann-key"))
		if _, text := get(t, closed, "/who"); text != `{"detail":"Unauthorized"}` {
			t.Errorf("the renderer of another API: %s", text)
		}
		if got := operationIDs(document(t, other)); len(got) != 2 || got["GET /x/who"] != "Counting_whoami" {
			t.Errorf("got %v", got)
		}
		wantDiff(t, "the security of the open API", []any{}, at(document(t, open), "paths", "/who", "get", "security"))
	})
	t.Run("02_no_permissions_is_open", func(t *testing.T) {
		t.Parallel()
		api := quiet(rest.Permit(deny))
		api.Register(routes(func(r *rest.Routes) {
			rest.Get(r, "/inherits", handle(""))
			rest.Get(r, "/open", handle(""), rest.Open())
		}))
		wantStatus(t, api, http.MethodGet, "/inherits", http.StatusForbidden)
		wantStatus(t, api, http.MethodGet, "/open", http.StatusOK)
	})
	t.Run("03_authenticated_by_an_api_key", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) { rest.Get(r, "/who", whoami, rest.Permit(permission.IsAuthenticated)) },
			rest.Auth(apiKey()))
		if _, text := get(t, api, "/who?key=bob-key"); text != `"bob"` {
			t.Errorf("got %s", text)
		}
	})
	t.Run("04_paginate_with_a_list_type", func(t *testing.T) {
		t.Parallel()
		wantStatus(t, novelAPI(), http.MethodGet, "/novels", http.StatusOK)
	})
	t.Run("05_filter_of_a_slice", func(t *testing.T) {
		t.Parallel()
		wantStatus(t, novelAPI(query.Filter[novelFilter]()), http.MethodGet, "/novels?title=e", http.StatusOK)
	})
	t.Run("07_random_operation_ids", func(t *testing.T) {
		t.Parallel()
		build := func() *rest.API {
			api := quiet()
			api.Register(newShelf(), rest.Prefix("/a"))
			api.Register(newShelf(), rest.Prefix("/b"))
			api.Register(routes(func(r *rest.Routes) {
				rest.Handle(r, []string{"GET", "POST"}, "/both", handle(""))
				rest.Get(r, "/literal", func(context.Context, struct{}) (string, error) { return "", nil })
			}), rest.Namespace(""))
			return api
		}
		first := operationIDs(document(t, build()))
		wantDiff(t, "the same at each start", first, operationIDs(document(t, build())))
		seen := map[string]string{}
		for place, id := range first {
			if other, twice := seen[id]; twice || id == "" {
				t.Errorf("%s and %s are both called %q", place, other, id)
			}
			seen[id] = place
		}
	})
	t.Run("07_components_of_one_name", func(t *testing.T) {
		t.Parallel()
		type local struct {
			A int `json:"a"`
		}
		first := func(context.Context, struct{}) (local, error) { return local{}, nil }
		second := func() func(r *rest.Routes) {
			type local struct {
				B string `json:"b"`
			}
			return func(r *rest.Routes) {
				rest.Get(r, "/b", func(context.Context, struct{}) (local, error) { return local{}, nil })
			}
		}()
		d := document(t, serve(func(r *rest.Routes) { rest.Get(r, "/a", first); second(r) }))
		ref := func(path string) any {
			return at(d, "paths", path, "get", "responses", "200", "content", "application/json", "schema", "$ref")
		}
		if ref("/a") == ref("/b") {
			t.Errorf("two types share the component %v", ref("/a"))
		}
	})
	t.Run("08_no_content_has_no_length", func(t *testing.T) {
		t.Parallel()
		url := listen(t, serve(func(r *rest.Routes) {
			rest.Delete(r, "/x", nothing)
			rest.Post(r, "/x", func(ctx context.Context, _ struct{}) (*rest.Reply, error) {
				return rest.CreateResponse(ctx, "", http.StatusNoContent), nil
			}, rest.Detail(http.StatusNoContent))
		}))
		for _, method := range []string{http.MethodDelete, http.MethodPost} {
			res, text := ask(t, method, url+"/x")
			wantDiff(t, method, []any{204, "", "", ""},
				[]any{res.StatusCode, text, res.Header.Get("Content-Length"), res.Header.Get("Content-Type")})
		}
	})
	t.Run("14_message_of_a_combined_permission", func(t *testing.T) {
		t.Parallel()
		known := permission.WithMessage(permission.IsAuthenticated, "Log in.")
		boss := permission.WithMessage(permission.IsAdmin, "Ask the boss.")
		api := serve(func(r *rest.Routes) { rest.Get(r, "/x", handle(""), rest.Permit(permission.All(known, boss))) },
			rest.Auth(bearer(), rest.Anonymous))
		var all sync.WaitGroup
		for range 20 { // the first refusal must not depend on who asked before or beside
			all.Go(func() {
				if a := resttest.Do[any](
					t, api, http.MethodGet, "/x", resttest.Bearer("bob-key"),
				); a.Error.Detail != "Ask the boss." {
					t.Errorf("got %+v", a.Error)
				}
			})
			all.Go(func() { wantStatus(t, api, http.MethodGet, "/x", http.StatusUnauthorized) })
		}
		all.Wait()
	})
	t.Run("15_errors_are_json", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", handle(""), rest.Auth(bearer()))
			rest.Post(r, "/fails", func(context.Context, struct{}) (string, error) { return "", context.Canceled })
		})
		for _, c := range []struct {
			method, path string
			status       int
			header       http.Header
		}{
			{"GET", "/nowhere", 404, nil},
			{"PUT", "/x", 405, http.Header{"Allow": {"GET, HEAD, OPTIONS"}}},
			{"POST", "/fails", 500, nil},
			{"GET", "/x", 401, http.Header{"Www-Authenticate": {`Bearer realm="api"`}}},
		} {
			a := resttest.Do[any](t, api, c.method, c.path)
			if a.Status != c.status || a.Header.Get("Content-Type") != "application/problem+json" || a.Error.Code == "" {
				t.Errorf("%s %s: got %d %s %s", c.method, c.path, a.Status, a.Header.Get("Content-Type"), a.Text)
			}
			for name, want := range c.header {
				wantDiff(t, name, want, a.Header.Values(name))
			}
		}
		head := resttest.Do[any](t, api, http.MethodHead, "/x", resttest.Bearer("bob-key"))
		options := resttest.Do[any](t, api, http.MethodOptions, "/x")
		wantDiff(t, "HEAD and OPTIONS", []any{200, 204, "GET, HEAD, OPTIONS"},
			[]any{head.Status, options.Status, options.Header.Get("Allow")})
	})
	t.Run("16_one_shape_of_errors", func(t *testing.T) {
		t.Parallel()
		api := serve(func(r *rest.Routes) {
			rest.List(r, "/novels", listNovels, page.Cursor(page.Sign([]byte("0123456789abcdef"))), query.Filter[novelIDs]())
			rest.Get(r, "/{int:id}", func(ctx context.Context, in byID) (book, error) {
				return rest.GetOrNotFound(ctx, func(context.Context, int64) (book, error) { return book{}, rest.ErrNotFound },
					in.ID)
			})
		}, rest.Errors(rest.DetailErrors))
		for target, want := range map[string]string{
			"/novels?cursor=x": `{"detail":[{"type":"cursor_invalid","loc":["query","cursor"],`,
			"/novels?ids=1&ids=x": `{"detail":[{"type":"int_parsing","loc":["query","ids",1],` +
				`"msg":"Input should be a valid integer, unable to parse string as an integer"}]}`,
			"/7": `{"detail":"Book was not found."}`,
		} {
			if _, text := get(t, api, target); !strings.HasPrefix(text, want) {
				t.Errorf("%s: got %s", target, text)
			}
		}
	})
	t.Run("17_middleware_and_streams_of_controllers", func(t *testing.T) {
		t.Parallel()
		var ran atomic.Int64
		var count rest.Middleware = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ran.Add(1); next.ServeHTTP(w, r) })
		}
		api := quiet(rest.Use(count))
		api.Register(routes(func(r *rest.Routes) {
			rest.Get(r, "/events", func(context.Context, struct{}) (rest.Events[int], error) {
				return rest.Events[int]{
					Items: func(yield func(rest.Event[int], error) bool) { yield(rest.Event[int]{Data: 1}, nil) },
				}, nil
			}, rest.Use(count))
		}), rest.Use(count))
		if _, text := get(t, api, "/events"); text != "data: 1" || ran.Load() != 3 {
			t.Errorf("got %q, and %d of 3 middlewares ran", text, ran.Load())
		}
	})
	t.Run("18_one_controller_for_all_requests", func(t *testing.T) {
		t.Parallel()
		c := &counting{}
		api := quiet()
		api.Register(c)
		for i := range 3 {
			if _, text := get(t, api, "/count"); text != strconv.Itoa(i+1) {
				t.Errorf("request %d: got %s", i+1, text)
			}
		}
		if c.routes.Load() != 1 {
			t.Errorf("Routes was called %d times", c.routes.Load())
		}
	})
	t.Run("20_links_and_the_host_header", func(t *testing.T) {
		t.Parallel()
		url := listen(t, novelAPI(page.Number(page.Size(1), page.LinkHeader())))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/novels", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		r.Header.Set("X-Forwarded-Host", "evil.example")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if link := res.Header.Get("Link"); link == "" || strings.Contains(link, "evil") {
			t.Errorf("got %q", link)
		}
		api := serve(func(r *rest.Routes) { rest.List(r, "/novels", listNovels, page.Number(page.Size(1))) },
			rest.BaseURL("https://shop.example"), rest.Auth(auth.APIKeyQuery("key", people())))
		a := resttest.Do[numberPage](t, api, http.MethodGet, "/novels?key=bob-key")
		wantDiff(t, "base, and no key", "https://shop.example/novels?page=2", *a.Body.Next)
	})
	t.Run("22_duplicate_routes", func(t *testing.T) {
		t.Parallel()
		for name, second := range map[string]string{"same": "/books/{id}", "other name": "/books/{key}"} {
			text := mustPanic(t, func() {
				serve(func(r *rest.Routes) {
					rest.Get(r, "/books/{id}", routeText("id"))
					if second == "/books/{id}" {
						rest.Get(r, second, routeText("id"))
					} else {
						rest.Get(r, second, routeKey)
					}
				})
			})
			if !strings.Contains(text, "GET "+second) || !strings.Contains(text, "already") {
				t.Errorf("%s: got %q", name, text)
			}
		}
	})
	t.Run("23_hooks_are_called", func(t *testing.T) {
		t.Parallel()
		var log memory
		api := serve(func(r *rest.Routes) {
			rest.Get(r, "/x", func(context.Context, struct{}) (string, error) { return "", fmt.Errorf("disk on fire") }) //nolint:perfsprint // any error
		}, rest.Logger(log.logger()))
		wantStatus(t, api, http.MethodGet, "/x", http.StatusInternalServerError)
		if text := log.String(); !strings.Contains(text, "disk on fire") || !strings.Contains(text, "path=/x") {
			t.Errorf("logged %q", text)
		}
	})
	t.Run("24_errors_are_documented", func(t *testing.T) {
		t.Parallel()
		pass := throttleFunc(func(context.Context) (rest.Verdict, error) { return rest.Verdict{Allowed: true}, nil })
		api := serve(func(r *rest.Routes) {
			rest.Put(r, "/{int:id}", func(context.Context, struct {
				ID int64 `path:"id"`
				newBook
			},
			) (book, error) {
				return book{}, nil
			}, rest.Permit(allow), rest.Throttles(pass), rest.Auth(bearer()), rest.Fails(http.StatusConflict))
			rest.Get(r, "/plain", handle(""))
		})
		d := document(t, api)
		for path, want := range map[string][]string{
			"/{id} put":  {"200", "400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "503"},
			"/plain get": {"200", "500"},
		} {
			at1, method, _ := strings.Cut(path, " ")
			responses, _ := at(d, "paths", at1, method, "responses").(map[string]any)
			got := map[string]bool{}
			for status := range responses {
				got[status] = true
			}
			for _, status := range want {
				if !got[status] {
					t.Errorf("%s: %s is missing", path, status)
				}
				delete(got, status)
			}
			if len(got) > 0 {
				t.Errorf("%s: has %v too", path, got)
			}
		}
	})
}

type novelIDs struct {
	IDs []int64 `query:"ids" filter:"id,in"`
}

func routeText(string) func(context.Context, struct {
	ID string `path:"id"`
}) (string, error) {
	return func(_ context.Context, in struct {
		ID string `path:"id"`
	},
	) (string, error) {
		return in.ID, nil
	}
}

func routeKey(_ context.Context, in struct {
	Key string `path:"key"`
},
) (string, error) {
	return in.Key, nil
}
