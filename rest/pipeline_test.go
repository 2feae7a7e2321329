package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/resttest"
)

func TestOrderOfStages(t *testing.T) {
	t.Parallel()

	// Each row has all that is right from its stage on wrong: the first of them answers.
	for _, c := range []struct {
		name                          string
		key, throttled, denied, wrong bool
		want                          int
	}{
		{"all wrong: authentication", true, true, true, true, 401},
		{"throttle before permission", false, true, true, true, 429},
		{"permission before input", false, false, true, true, 403},
		{"input before handler", false, false, false, true, 422},
		{"nothing wrong", false, false, false, false, 418},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var counted atomic.Int64
			limit := throttleFunc(func(context.Context) (rest.Verdict, error) {
				counted.Add(1)
				return rest.Verdict{Allowed: !c.throttled, RetryAfter: 1500 * time.Millisecond}, nil
			})
			rule := allow
			if c.denied {
				rule = deny
			}
			api := serve(func(r *rest.Routes) {
				rest.Post(r, "/x", func(context.Context, newBook) (string, error) { return "", rest.Errorf(418, "reached") },
					rest.Auth(bearer()), rest.Throttles(limit), rest.Permit(rule))
			})
			options := []resttest.Option{resttest.Bearer("bob-key"), resttest.JSON(newBook{"Emma", 1})}
			if c.key {
				options[0] = resttest.Bearer("wrong")
			}
			if c.wrong {
				options[1] = resttest.Content("application/json", `{}`)
			}
			a := resttest.Do[any](t, api, http.MethodPost, "/x", options...)
			if a.Status != c.want {
				t.Errorf("got %d %s", a.Status, a.Text)
			}
			if want := int64(1); c.want != 401 && counted.Load() != want {
				t.Errorf("counted %d times", counted.Load())
			}
			if c.want == 429 && a.Header.Get("Retry-After") != "2" {
				t.Errorf("Retry-After: %q", a.Header.Get("Retry-After"))
			}
		})
	}
}

func TestAllThrottlesCount(t *testing.T) {
	t.Parallel()

	var counted [3]atomic.Int64
	throttle := func(i int, v rest.Verdict) rest.Throttle {
		return throttleFunc(func(context.Context) (rest.Verdict, error) { counted[i].Add(1); return v, nil })
	}
	api := serve(func(r *rest.Routes) { rest.Get(r, "/x", handle("")) }, rest.Throttles(
		throttle(0, rest.Verdict{Policy: "a", Limit: 5, Window: time.Minute, RetryAfter: 3 * time.Second}),
		throttle(1, rest.Verdict{Skipped: true}),
		throttle(2, rest.Verdict{
			Policy: "b", Limit: 9, Remaining: 2, Window: time.Hour, Reset: time.Second, RetryAfter: 61 * time.Second,
		}),
	))
	a := resttest.Do[any](t, api, http.MethodGet, "/x")
	wantDiff(t, "answer", []any{429, "61", "Request was throttled. Expected available in 61 seconds."},
		[]any{a.Status, a.Header.Get("Retry-After"), a.Error.Detail})
	wantDiff(t, "policies", []string{`"a";q=5;w=60`, `"b";q=9;w=3600`}, a.Header.Values("Ratelimit-Policy"))
	wantDiff(t, "limits", []string{`"a";r=0;t=0`, `"b";r=2;t=1`}, a.Header.Values("Ratelimit"))
	for i := range counted {
		if counted[i].Load() != 1 {
			t.Errorf("throttle %d counted %d times", i, counted[i].Load())
		}
	}
}

func TestThrottleThatFails(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", handle(""))
	}, rest.Throttles(throttleFunc(func(context.Context) (rest.Verdict, error) {
		return rest.Verdict{Allowed: true}, errors.New("redis://secret is away")
	})))
	a := resttest.Do[any](t, api, http.MethodGet, "/x")
	if a.Status != http.StatusServiceUnavailable || strings.Contains(a.Text, "secret") ||
		a.Header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", a.Status, a.Text)
	}
}

func TestInheritance(t *testing.T) {
	t.Parallel()

	// What the API, the controller and the route say, and what holds. Nil says nothing.
	levels := func(route, controller, api []rest.Option) *rest.API {
		toAPI := []rest.APIOption{}
		for _, o := range api {
			toAPI = append(toAPI, o)
		}
		a := quiet(toAPI...)
		toController, toRoute := []rest.ControllerOption{}, []rest.RouteOption{}
		for _, o := range controller {
			toController = append(toController, o)
		}
		for _, o := range route {
			toRoute = append(toRoute, o)
		}
		a.Register(routes(func(r *rest.Routes) { rest.Get(r, "/x", whoami, toRoute...) }), toController...)
		return a
	}
	one := func(o rest.Option) []rest.Option { return []rest.Option{o} }
	key, token := one(rest.Auth(apiKey())), one(rest.Auth(bearer()))
	no, open, admin := one(rest.Permit(deny)), one(rest.Open()), one(rest.Permit(permission.IsAdmin))
	for name, c := range map[string]struct {
		route, controller, api []rest.Option
		options                []resttest.Option
		want                   int
	}{
		"api auth":                         {nil, nil, key, nil, 401},
		"controller over api":              {nil, token, key, []resttest.Option{resttest.Query("key", "bob-key")}, 401},
		"controller over api, right":       {nil, token, key, []resttest.Option{resttest.Bearer("bob-key")}, 200},
		"route over controller":            {key, token, token, []resttest.Option{resttest.Query("key", "bob-key")}, 200},
		"route over controller, old":       {key, token, token, []resttest.Option{resttest.Bearer("bob-key")}, 401},
		"no auth on the route":             {one(rest.NoAuth()), token, key, nil, 200},
		"no auth on the controller":        {nil, one(rest.NoAuth()), key, nil, 200},
		"no auth, then auth":               {key, one(rest.NoAuth()), nil, nil, 401},
		"api permission":                   {nil, nil, no, nil, 403},
		"controller opens":                 {nil, open, no, nil, 200},
		"route opens":                      {open, no, no, nil, 200},
		"route closes":                     {no, open, nil, nil, 403},
		"nothing said":                     {nil, nil, nil, nil, 200},
		"permission of a known":            {nil, admin, token, []resttest.Option{resttest.Bearer("bob-key")}, 403},
		"permission of nobody":             {nil, admin, one(rest.Auth(bearer(), rest.Anonymous)), nil, 401},
		"permission without authenticator": {nil, admin, nil, nil, 403},
		"throttle opens":                   {one(rest.Throttles()), nil, one(rest.Throttles(refuse(1))), nil, 200},
		"throttle inherited":               {nil, nil, one(rest.Throttles(refuse(1))), nil, 429},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantStatus(t, levels(c.route, c.controller, c.api), http.MethodGet, "/x", c.want, c.options...)
		})
	}
}

// finding is an authenticator that is made of a function.
type finding struct {
	name string
	find func() (rest.Principal, error)
}

func (f finding) Authenticate(*http.Request) (rest.Principal, error) { return f.find() }
func (f finding) Scheme() rest.Scheme {
	return rest.Scheme{Name: f.name, Type: "http", HTTP: "bearer", Challenge: "Bearer realm=" + f.name}
}

func TestAuthenticators(t *testing.T) {
	t.Parallel()

	var none *rest.User
	ann := &rest.User{ID: "ann"}
	answers := map[string]func() (rest.Principal, error){
		"ann":       func() (rest.Principal, error) { return ann, nil },
		"none":      func() (rest.Principal, error) { return nil, rest.ErrNoCredentials },
		"bad":       func() (rest.Principal, error) { return nil, fmt.Errorf("expired: %w", rest.ErrBadCredentials) },
		"nil":       func() (rest.Principal, error) { return nil, nil }, //nolint:nilnil // a mistake that must not let anybody in
		"nil user":  func() (rest.Principal, error) { return none, nil },
		"error":     func() (rest.Principal, error) { return ann, errors.New("postgres://secret is away") },
		"own error": func() (rest.Principal, error) { return ann, rest.Errorf(http.StatusLocked, "locked") },
	}
	for chain, want := range map[string]string{
		"ann":             "200",
		"none":            "401",
		"bad":             "401 bad",
		"nil":             "401",
		"nil user":        "401",
		"error":           "500",
		"own error":       "423",
		"none,ann":        "200",
		"bad,ann":         "200",
		"error,ann":       "500",
		"bad,none":        "401 bad",
		"none,anonymous":  "200",
		"bad,anonymous":   "401 bad",
		"nil,anonymous":   "200",
		"error,anonymous": "500",
		"anonymous":       "200",
	} {
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			var all []rest.Authenticator
			for name := range strings.SplitSeq(chain, ",") {
				if name == "anonymous" {
					all = append(all, rest.Anonymous)
				} else {
					all = append(all, finding{strings.ReplaceAll(name, " ", "-"), answers[name]})
				}
			}
			api := serve(func(r *rest.Routes) { rest.Get(r, "/x", whoami) }, rest.Auth(all...))
			a := resttest.Do[any](t, api, http.MethodGet, "/x")
			status, bad, _ := strings.Cut(want, " ")
			if strconv.Itoa(a.Status) != status || strings.Contains(a.Text, "secret") {
				t.Errorf("got %d %s", a.Status, a.Text)
			}
			if a.Status != http.StatusUnauthorized {
				return
			}
			challenges := a.Header.Values("WWW-Authenticate")
			if len(challenges) == 0 || strings.Contains(challenges[0], `error="invalid_token"`) != (bad != "") {
				t.Errorf("challenges %v", challenges)
			}
		})
	}
}

func TestUnauthorizedOrForbidden(t *testing.T) {
	t.Parallel()

	own := ruleFunc(func(context.Context) error { return &rest.Error{Status: http.StatusNotFound, Detail: "what?"} })
	broken := ruleFunc(func(context.Context) error { return errors.New("secret") })
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/denied", handle(""), rest.Permit(deny))
		rest.Get(r, "/own", handle(""), rest.Permit(own))
		rest.Get(r, "/broken", handle(""), rest.Permit(broken))
		rest.Get(r, "/first", handle(""), rest.Permit(deny, broken))
		rest.Get(r, "/handler", func(context.Context, struct{}) (string, error) { return "", rest.Denied("by the handler") })
	}, rest.Auth(bearer(), rest.Anonymous))
	for path, want := range map[string][2]int{ // for nobody, and for somebody
		"/denied":  {401, 403},
		"/own":     {404, 404},
		"/broken":  {500, 500},
		"/first":   {401, 403},
		"/handler": {403, 403},
	} {
		wantStatus(t, api, http.MethodGet, path, want[0])
		wantStatus(t, api, http.MethodGet, path, want[1], resttest.Bearer("bob-key"))
	}
}

func TestObjectPermissionThatAppliesToNothing(t *testing.T) {
	t.Parallel()

	owned := permission.Owner(func(a *author) string { return a.Name })
	api := quiet(rest.Auth(bearer()))
	api.Register(newShelf(), rest.Permit(owned))
	wantStatus(t, api, http.MethodGet, "/1", http.StatusInternalServerError, resttest.Bearer("bob-key"))
}

func TestPrincipals(t *testing.T) {
	t.Parallel()

	var known rest.Middleware = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(rest.WithPrincipal(r.Context(), &rest.User{ID: "proxy"})))
		})
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/open", whoami)
		rest.Get(r, "/typed", func(ctx context.Context, _ struct{}) (bool, error) {
			u, ok := rest.PrincipalAs[*rest.User](ctx)
			return ok && u.ID == "proxy", nil
		})
		rest.Get(r, "/guarded", whoami, rest.Auth(bearer()))
	}, rest.Use(known))
	for path, want := range map[string]string{"/open": `"proxy"`, "/typed": "true"} {
		_, text := get(t, api, path)
		wantDiff(t, path, want, text)
	}
	wantStatus(t, api, http.MethodGet, "/guarded", http.StatusUnauthorized)
	if _, text := get(t, api, "/guarded", resttest.Bearer("bob-key")); text != `"bob"` {
		t.Errorf("got %s", text)
	}
}

func TestCheckOfTheInput(t *testing.T) {
	t.Parallel()

	own := rest.Check(func(ctx context.Context, in newBook) error {
		if in.Title == "fail" {
			return errors.New("secret")
		}
		if p := rest.PrincipalOf(ctx); p == nil || in.Title != p.PrincipalID() {
			return rest.Denied("Not your title.")
		}
		return nil
	})
	api := serve(func(r *rest.Routes) { rest.Post(r, "/x", echo[newBook], own) }, rest.Auth(bearer(), rest.Anonymous))
	body := func(title string) resttest.Option { return resttest.JSON(newBook{Title: title}) }
	wantStatus(t, api, http.MethodPost, "/x", http.StatusOK, body("bob"), resttest.Bearer("bob-key"))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusForbidden, body("ann"), resttest.Bearer("bob-key"))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusUnauthorized, body("ann"))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusUnprocessableEntity, body(""), resttest.Bearer("bob-key"))
	wantStatus(t, api, http.MethodPost, "/x", http.StatusInternalServerError, body("fail"), resttest.Bearer("bob-key"))
	text := mustPanic(t, func() { serve(func(r *rest.Routes) { rest.Get(r, "/x", handle(""), own) }) })
	if !strings.Contains(text, "a check is of the input rest_test.newBook") {
		t.Errorf("got %q", text)
	}
}

func TestMiddlewareOrder(t *testing.T) {
	t.Parallel()

	var order []string
	mark := func(name string) rest.Middleware {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				order = append(order, name)
				next.ServeHTTP(w, r)
			})
		}
	}
	api := quiet(rest.Use(mark("api 1"), mark("api 2")))
	api.Register(routes(func(r *rest.Routes) {
		r.Configure(rest.Use(mark("own")))
		rest.Get(r, "/x", handle(""), rest.Use(mark("route")), rest.Permit(ruleFunc(func(context.Context) error {
			order = append(order, "permission")
			return nil
		})))
	}), rest.Use(mark("registration")))
	wantStatus(t, api, http.MethodGet, "/x", http.StatusOK)
	wantDiff(t, "order", []string{"api 1", "api 2", "own", "registration", "route", "permission"}, order)
	order = nil
	wantStatus(t, api, http.MethodGet, "/nowhere", http.StatusNotFound)
	wantDiff(t, "of what no route answers", []string{"api 1", "api 2"}, order)
}

func TestPanics(t *testing.T) {
	t.Parallel()

	var log memory
	var in *book
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/handler", func(context.Context, struct{}) (string, error) { return in.Title, nil })
		rest.Get(r, "/text", func(context.Context, struct{}) (string, error) { panic("secret") })
		rest.Get(r, "/permission", handle(""), rest.Permit(ruleFunc(func(context.Context) error { panic("secret") })))
		rest.Get(r, "/encode", func(context.Context, struct{}) (bomb, error) { return bomb{}, nil })
		rest.Raw(r, []string{http.MethodGet}, "/raw",
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("secret") }))
		rest.Raw(r, []string{http.MethodGet}, "/begun", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "part")
			panic("secret")
		}))
		rest.Get(r, "/abort", func(context.Context, struct{}) (string, error) { panic(http.ErrAbortHandler) })
	}, rest.Logger(log.logger()))
	for _, path := range []string{"/handler", "/text", "/permission", "/encode", "/raw"} {
		a := resttest.Do[any](t, api, http.MethodGet, path)
		if a.Status != http.StatusInternalServerError || strings.Contains(a.Text, "secret") || a.Error.Code != "internal" {
			t.Errorf("%s: got %d %s", path, a.Status, a.Text)
		}
		if !strings.Contains(log.String(), "path="+path) {
			t.Errorf("%s is not in the log", path)
		}
	}
	if a := resttest.Do[any](t, api, http.MethodGet, "/begun"); !a.Aborted || a.Text != "part" ||
		!strings.Contains(log.String(), "path=/begun") {
		t.Errorf("begun: got %+v", a)
	}
	if a := resttest.Do[any](t, api, http.MethodGet, "/abort"); !a.Aborted ||
		strings.Contains(log.String(), "path=/abort") {
		t.Errorf("abort: got %+v", a)
	}
}

// bomb panics when it is encoded.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("secret") }

func TestContextOfTheRequest(t *testing.T) {
	t.Parallel()

	type key struct{}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/late", func(context.Context, struct{}) (string, error) {
			return "", fmt.Errorf("query: %w", context.DeadlineExceeded)
		})
		rest.Get(r, "/value", func(ctx context.Context, _ struct{}) (string, error) {
			inner, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			return fmt.Sprint(inner.Value(key{}), " ", rest.RouteName(inner)), nil
		}, rest.Name("value"))
	})
	ctx := context.WithValue(t.Context(), key{}, "kept")
	r := func(path string) *http.Request {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if status, text := record(api, r("/value")); status != 200 || strings.TrimSpace(text) != `"kept Routes.value"` {
		t.Errorf("got %d %s", status, text)
	}
	if status, text := record(api, r("/late")); status != http.StatusServiceUnavailable ||
		strings.Contains(text, "query") {
		t.Errorf("too late: %d %s", status, text)
	}
}

func TestOutsideOfARequest(t *testing.T) {
	t.Parallel()

	ctx := t.Context()
	rest.ResponseOf(ctx).Header().Set("X", "y")
	rest.ResponseOf(ctx).SetStatus(201)
	if rest.RequestOf(ctx) != nil || rest.PrincipalOf(ctx) != nil || rest.PermissionsOf(ctx) != nil ||
		rest.ControllerOf(ctx) != nil ||
		rest.RouteName(ctx) != "" || rest.ClientIP(ctx).IsValid() || rest.Sent(ctx, "x") || rest.SentFields(ctx) != nil {
		t.Error("there is something without a request")
	}
	if _, err := rest.Resolve[int](ctx); err == nil {
		t.Error("a service without a request")
	}
	if err := rest.CheckObjectPermission(ctx, 1); err == nil {
		t.Error("an object was let through without a request")
	}
}
