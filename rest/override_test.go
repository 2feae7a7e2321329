package rest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
)

// careful overrides each helper, and does the usual after something of its own.
type careful struct{ seen *[]string }

type sheet struct{ Owner string }

func (c careful) Routes(r *rest.Routes) {
	rest.Get(r, "/{int:id}", c.get, rest.Permit(permission.Object(func(_ context.Context, p *sheet) error {
		*c.seen = append(*c.seen, "rule of "+p.Owner)
		return nil
	})), rest.Returns[sheet](http.StatusOK))
}

func (c careful) get(ctx context.Context, in byID) (*rest.Reply, error) {
	load := func(context.Context, int64) (*sheet, error) { return &sheet{"ada"}, nil }
	p, err := rest.GetOrNotFound(ctx, load, in.ID)
	if err != nil {
		return nil, err
	}
	return rest.CreateResponse(ctx, p, http.StatusOK), nil
}

func (c careful) CheckObjectPermission(ctx context.Context, object any) error {
	*c.seen = append(*c.seen, "check")
	return rest.CheckObjectPermission(ctx, object)
}

func (c careful) CreateResponse(ctx context.Context, body any, status int) *rest.Reply {
	*c.seen = append(*c.seen, "create")
	return rest.CreateResponse(ctx, body, status)
}

func (c careful) GetOrNotFound(
	ctx context.Context, load func(context.Context, int64) (*sheet, error), key int64,
) (*sheet, error) {
	*c.seen = append(*c.seen, "get")
	return rest.GetOrNotFound(ctx, load, key)
}

func TestOverriddenHelpersMayDoTheUsual(t *testing.T) {
	t.Parallel()

	var seen []string
	api := rest.New()
	api.Register(careful{&seen})
	wantStatus(t, api, http.MethodGet, "/1", http.StatusOK)
	wantDiff(t, "order", []string{"get", "check", "rule of ada", "create"}, seen)
}

func TestAnObjectThatNobodyJudgedIsLogged(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer
	guard := rest.Permit(permission.Owner(func(p *sheet) string { return p.Owner }))
	api := rest.New(rest.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/forgetful/{int:id}", func(context.Context, byID) (string, error) { return "", nil }, guard,
			rest.Name("forgetful"))
		rest.Post(r, "/new", handle("new"), guard)
	}))
	for range 3 {
		wantStatus(t, api, http.MethodGet, "/forgetful/1", http.StatusOK)
		wantStatus(t, api, http.MethodPost, "/new", http.StatusOK)
	}
	if n := strings.Count(log.String(), "asked none of them"); n != 1 || !strings.Contains(log.String(), "forgetful") {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

func generic[T any](context.Context, struct{}) (T, error) {
	var zero T
	return zero, nil
}

func TestMistakesThatWereLetPass(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		routes func(r *rest.Routes)
		want   string
	}{
		{func(r *rest.Routes) { rest.Get(r, "/x", handle("x"), page.Number()) }, "paginators are for rest.List"},
		{func(r *rest.Routes) { rest.List(r, "/x", generic[[]string], page.None(), page.Number()) }, "there are two"},
		{func(r *rest.Routes) { rest.Get[struct{}, string](r, "/x", nil) }, "the handler is nil"},
		{func(r *rest.Routes) { rest.Raw(r, []string{"GET"}, "/x", nil) }, "the handler is nil"},
		{func(r *rest.Routes) { rest.Get(r, "/x", handle("x"), rest.Status(http.StatusNoContent)) }, "return rest.NoContent"},
		{func(r *rest.Routes) {
			rest.Get(r, "/{int:id}/pages", func(context.Context, intID) (string, error) { return "", nil })
			rest.Get(r, "/a/{s}", named("a", func(in slug) string { return in.S }))
		}, `"GET /{id}/pages"`},
	} {
		text := mustPanic(t, func() { rest.New().Register(routes(c.routes)) })
		if !strings.Contains(text, c.want) || strings.Contains(text, "mux.go") || strings.Contains(text, "{p0}") {
			t.Errorf("got %q, want %q", text, c.want)
		}
	}
}

func TestNamesOfGenericHandlers(t *testing.T) {
	t.Parallel()

	api := rest.New()
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/x", generic[int]) }), rest.Namespace("N"))
	wantDiff(t, "id", any("N_generic"), at(document(t, api), "paths", "/x", "get", "operationId"))
}

func TestPatternOfARoute(t *testing.T) {
	t.Parallel()

	var pattern string
	mark := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			pattern = r.Pattern
			next.ServeHTTP(w, r)
		})
	}
	api := rest.New()
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/x/{int:id}", func(context.Context, byID) (string, error) { return "", nil })
	}), rest.Use(mark))
	wantStatus(t, api, http.MethodGet, "/x/7", http.StatusOK)
	wantDiff(t, "pattern", "GET /x/{id}", pattern)
}

func TestDocsBelowAPrefix(t *testing.T) {
	t.Parallel()

	for docs, spec := range map[string]string{
		"/docs": "/openapi.json", "/help/api/docs": "/spec/v1.json", "/": "/openapi.json",
	} {
		api := rest.New(rest.DocsPath(docs), rest.SpecPath(spec))
		url := listen(t, http.StripPrefix("/below", api)) + "/below"
		_, page := ask(t, http.MethodGet, url+docs)
		_, rest, ok := strings.Cut(page, `data-spec="`)
		address, _, closed := strings.Cut(rest, `"`)
		if !ok || !closed {
			t.Fatalf("%s: no address of the document in %s", docs, page)
		}
		base, err := neturl.Parse(url + docs)
		if err != nil {
			t.Fatal(err)
		}
		if to, err := base.Parse(address); err != nil || to.String() != url+spec {
			t.Errorf("%s: the page looks for its document at %v, %v", docs, to, err)
		}
	}
}
