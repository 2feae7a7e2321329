package rest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

type diary struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner"`
	Text  string `json:"text"`
}

type diaryFilter struct {
	Owner *string `query:"owner"`
	Text  *string `filter:"__icontains"                    query:"text"`
	Any   *string `filter:"text,icontains|owner,icontains" query:"any"`
	IDs   []int64 `filter:"__in"                           query:"id"`
}

// diaries are a list of three of bob's and four of ann's, cut in each way there is.
func diaries() *rest.API {
	mine := permission.ListScope[diary](func(ctx context.Context) query.Expr {
		return query.Where("owner", rest.PrincipalOf(ctx).PrincipalID())
	})
	list := func(context.Context, struct{}) (query.Set[diary], error) {
		var all []diary
		for i, owner := range []string{"ann", "bob", "ann", "bob", "ann", "bob", "ann"} {
			all = append(all, diary{ID: int64(i + 1), Owner: owner, Text: "of-" + owner + strconv.Itoa(i)})
		}
		return query.Slice(all), nil
	}
	api := quiet(rest.Auth(bearer()), rest.Permit(mine))
	api.Register(routes(func(r *rest.Routes) {
		sign := page.Sign([]byte("a secret that both lists have"))
		for path, p := range map[string]page.Paginator{
			"/number": page.Number(page.Size(2), page.LinkHeader()), "/offset": page.LimitOffset(page.Size(2)),
			"/none": page.None(), "/estimate": page.Number(page.Size(2), page.Count(page.Estimate)),
			"/cursor": page.Cursor(sign, page.Size(1), page.LinkHeader()), "/other": page.Cursor(sign, page.Size(1)),
		} {
			rest.List(r, path, list, rest.Name("list"+path[1:]), p, query.Filter[diaryFilter]().Any(),
				query.Search("text", "owner"), query.Order("id", "owner", "text"))
		}
	}))
	return api
}

// Nothing that a client asks for widens what it may see, or counts what it may not.
func TestAttackListScopes(t *testing.T) {
	t.Parallel()

	api := diaries()
	for _, path := range []string{"/number", "/offset", "/none", "/estimate", "/cursor"} {
		for _, ask := range []string{
			"", "?owner=ann", "?any=ann", "?text=of-ann", "?owner=ann&owner=bob", "?id=1,2,3,4,5,6,7", "?owner=ann&id=1",
			"?search=ann", "?search=of-", "?ordering=-owner", "?ordering=owner,-id", "?page=2", "?page=3", "?offset=3",
			"?offset=0&limit=200", "?page_size=200", "?page_size=200&ordering=-text&any=of",
		} {
			a := resttest.Do[any](t, api, http.MethodGet, path+ask, resttest.Bearer("bob-key"))
			if strings.Contains(a.Text, `"ann"`) || strings.Contains(a.Text, "of-ann") {
				t.Errorf("%s%s shows what is ann's: %s", path, ask, a.Text)
			}
			if n, counted := at(a.Body, "count").(float64); counted && n > 3 {
				t.Errorf("%s%s counts what is ann's: %s", path, ask, a.Text)
			}
		}
	}
}

// A cursor is good for its list in its order, and shows its bearer no more than the list.
func TestAttackCursors(t *testing.T) {
	t.Parallel()

	api := diaries()
	next := func(path, key string) string {
		a := resttest.Do[struct{ Next string }](t, api, http.MethodGet, path, resttest.Bearer(key))
		_, cursor, ok := strings.Cut(a.Body.Next, "cursor=")
		if !ok {
			t.Fatalf("%s: no next page in %s", path, a.Text)
		}
		return cursor
	}
	anns := next("/cursor", "ann-key")
	a := resttest.Do[any](t, api, http.MethodGet, "/cursor?cursor="+anns, resttest.Bearer("bob-key"))
	if a.Status != http.StatusOK || strings.Contains(a.Text, `"ann"`) || !strings.Contains(a.Text, `"bob"`) {
		t.Errorf("ann's cursor shows bob %d %s", a.Status, a.Text)
	}
	raw, err := base64.RawURLEncoding.DecodeString(anns)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(raw) * 8 {
		raw[i/8] ^= 1 << (i % 8)
		wantStatus(t, api, http.MethodGet, "/cursor?cursor="+base64.RawURLEncoding.EncodeToString(raw),
			http.StatusUnprocessableEntity, resttest.Bearer("ann-key"))
		raw[i/8] ^= 1 << (i % 8)
	}
	for _, target := range []string{
		"/other?cursor=" + anns, "/cursor?ordering=-id&cursor=" + anns, "/cursor?ordering=text&cursor=" + anns,
		"/cursor?cursor=" + anns + "=", "/cursor?cursor=" + anns + "%0a", "/cursor?cursor=" + anns[:len(anns)-1],
		"/cursor?cursor=A" + anns, "/cursor?cursor=" + strings.Repeat("A", 100_000),
		"/cursor?cursor=" + anns + "&cursor=" + anns,
	} {
		wantStatus(t, api, http.MethodGet, target, http.StatusUnprocessableEntity, resttest.Bearer("ann-key"))
	}
}

type authFunc func(r *http.Request) (rest.Principal, error)

func (f authFunc) Authenticate(r *http.Request) (rest.Principal, error) { return f(r) }
func (authFunc) Scheme() rest.Scheme {
	return rest.Scheme{Name: "own", Type: "http", HTTP: "bearer", Challenge: "Bearer"}
}

// A guard that fails in whatever way lets nobody in.
func TestAttackGuardsThatFail(t *testing.T) {
	t.Parallel()

	boom := errors.New(secret)
	for name, guard := range map[string]struct {
		option rest.RouteOption
		want   int
	}{
		"authenticator panics": {
			rest.Auth(authFunc(func(*http.Request) (rest.Principal, error) { panic(secret) }), rest.Anonymous), 500,
		},
		"authenticator fails": {
			rest.Auth(authFunc(func(*http.Request) (rest.Principal, error) { return nil, boom }), rest.Anonymous), 500,
		},
		"nobody and no error": {
			rest.Auth(authFunc(func(*http.Request) (rest.Principal, error) { return (*rest.User)(nil), nil })), 401,
		},
		"somebody and bad": {
			rest.Auth(authFunc(func(*http.Request) (rest.Principal, error) {
				return &rest.User{ID: "x"}, rest.ErrBadCredentials
			}), rest.Anonymous),
			401,
		},
		"permission panics": {rest.Permit(ruleFunc(func(context.Context) error { panic(boom) })), 500},
		"permission fails":  {rest.Permit(ruleFunc(func(context.Context) error { return boom })), 500},
		"nil permission":    {rest.Permit((*nilRule)(nil)), 500},
		"not of a panic":    {rest.Permit(permission.Not(ruleFunc(func(context.Context) error { panic(boom) }))), 500},
		"not of a failure":  {rest.Permit(permission.Not(ruleFunc(func(context.Context) error { return boom }))), 500},
		"any with a failure": {
			rest.Permit(permission.Any(ruleFunc(func(context.Context) error { return boom }), permission.IsAdmin)), 500,
		},
		"unknown rule": {rest.Permit(permission.Rule(0)), 403},
		"throttle panics": {
			rest.Throttles(throttleFunc(func(context.Context) (rest.Verdict, error) { panic(boom) })), 500,
		},
		"throttle fails": {
			rest.Throttles(throttleFunc(func(context.Context) (rest.Verdict, error) {
				return rest.Verdict{Allowed: true}, boom
			})),
			503,
		},
		"throttle says naught": {
			rest.Throttles(throttleFunc(func(context.Context) (rest.Verdict, error) { return rest.Verdict{}, nil })), 429,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reached atomic.Bool
			api := serve(func(r *rest.Routes) {
				rest.Get(r, "/typed", func(context.Context, struct{}) (string, error) { reached.Store(true); return "", nil },
					guard.option)
				rest.Raw(r, []string{http.MethodGet}, "/raw",
					http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }), guard.option)
			})
			for _, path := range []string{"/typed", "/raw"} {
				if w := recorded(api, requestOf(t, http.MethodGet, path)); w.Code != guard.want || reached.Load() ||
					strings.Contains(w.Body.String(), secret) {
					t.Errorf("%s: %d (reached: %t) %s", path, w.Code, reached.Load(), w.Body)
				}
			}
		})
	}
}

type nilRule struct{ deny error }

func (r *nilRule) Check(context.Context) error { return r.deny }

// Many callers at once, some of them refused at each stage, each get their own answer.
func TestAttackParallelCallers(t *testing.T) {
	t.Parallel()

	type in struct {
		ID   int64             `json:"id"   path:"id"`
		Text string            `json:"text"`
		More map[string]string `json:"more"`
	}
	type out struct {
		Who  string `json:"who"`
		Echo in     `json:"echo"`
	}
	var kept sync.Map
	api := quiet(rest.Auth(bearer()))
	api.Register(routes(func(r *rest.Routes) {
		rest.Put(r, "/{int:id}", func(ctx context.Context, in in) (out, error) {
			kept.Store(in.ID, ctx)
			if in.ID%5 == 0 {
				return out{}, rest.NotFound("no " + in.Text)
			}
			if in.ID%7 == 0 {
				panic(in.Text)
			}
			return out{rest.PrincipalOf(ctx).PrincipalID(), in}, nil
		})
	}))
	var all sync.WaitGroup
	for _, who := range []string{"ann", "bob", "carl", "nobody"} {
		all.Go(func() {
			for n := range int64(60) {
				id := n*10 + int64(len(who))
				mine := in{ID: id, Text: strings.Repeat(who, int(1+n*20)), More: map[string]string{who: strconv.FormatInt(id, 10)}}
				a := resttest.Do[out](t, api, http.MethodPut, "/"+strconv.FormatInt(id, 10), resttest.Bearer(who+"-key"),
					resttest.JSON(map[string]any{"text": mine.Text, "more": mine.More}))
				for _, other := range []string{"ann", "bob", "carl"} {
					if other != who && strings.Contains(a.Text, other) {
						t.Errorf("%s got what is %s's: %s", who, other, a.Text)
					}
				}
				if a.Status == http.StatusOK {
					want, _ := json.Marshal(out{who, mine})
					wantDiff(t, who, string(want), strings.TrimSpace(a.Text))
				}
			}
		})
	}
	all.Wait()
	kept.Range(func(key, ctx any) bool { // what a handler left running still has its own
		c, _ := ctx.(context.Context)
		if got := rest.RequestOf(c).URL.Path; got != "/"+strconv.FormatInt(key.(int64), 10) || rest.PrincipalOf(c) == nil { //nolint:forcetypeassert,errcheck // it was put there as one
			t.Errorf("%v has become %s", key, got)
		}
		return true
	})
}
