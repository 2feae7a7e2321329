package rest_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
	"github.com/spoolhq/spool/rest/throttle"
)

// upload is an input with files.
type upload struct {
	ID    int64                   `path:"id"`
	Title string                  `form:"title" maxLength:"40"                     doc:"Shown below the picture."`
	Cover *multipart.FileHeader   `file:"cover" contentType:"image/png,image/jpeg" maxSize:"1MiB"                 required:"true"`
	Pages []*multipart.FileHeader `file:"page"  maxItems:"10"`
}

// article is a body and an answer with all kinds of fields.
type article struct {
	ID     int64             `json:"id"               readOnly:"true"`
	Kind   string            `json:"kind"             enum:"book,map"  default:"book"`
	Title  string            `json:"title"            minLength:"1"    maxLength:"40"     example:"Emma" doc:"As on the cover."`
	Price  float64           `json:"price"            minimum:"0"      multipleOf:"0.01"`
	Tags   []string          `json:"tags,omitempty"   maxItems:"5"     uniqueItems:"true"`
	Labels map[string]string `json:"labels,omitempty"`
	Author *author           `json:"author,omitempty"`
	Parts  []article         `json:"parts,omitempty"`
	Made   time.Time         `json:"made"             required:"false"`
	Note   rest.Opt[string]  `json:"note,omitzero"`
}

// catalog is a controller with a route of every kind.
type catalog struct{}

func (catalog) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/orgs/{int:org}/articles"), rest.Tags("articles"))
	type org struct {
		Org int64 `path:"org" doc:"Whose articles these are."`
	}
	type one struct {
		org

		ID int64 `path:"id"`
	}
	type change struct {
		one
		article
	}
	rest.List(r, "/", func(context.Context, org) ([]novel, error) { return nil, nil },
		page.Number(page.Size(20), page.LinkHeader()), query.Filter[novelFilter](), query.Order("price", "-id"),
		query.Search("title"),
		rest.Summary("List articles"), rest.Description("With *filters*."), rest.Name("list"))
	rest.List(r, "/by/offset", func(context.Context, org) ([]novel, error) { return nil, nil }, rest.Name("offset"),
		rest.Open())
	rest.List(r, "/by/cursor", func(context.Context, org) ([]novel, error) { return nil, nil }, rest.Name("cursor"),
		page.Cursor(page.Sign([]byte("0123456789abcdef"))), rest.View(func(n novel) string { return n.Title }))
	rest.List(r, "/all", func(context.Context, org) ([]author, error) { return nil, nil }, rest.Name("all"), page.None())
	rest.Get(r, "/{int:id}", func(context.Context, one) (*article, error) { return nil, rest.ErrNotFound },
		rest.Name("get"))
	rest.Post(r, "/", func(_ context.Context, in struct {
		org
		article
		Trace string `header:"X-Trace" deprecated:"true"`
		Theme string `cookie:"theme"`
	},
	) (*article, error) {
		return &in.article, nil
	}, rest.Name("create"), rest.Status(http.StatusCreated), rest.Fails(http.StatusConflict),
		rest.Throttles(throttle.PerUser("5/min")))
	rest.Handle(r, []string{http.MethodPut, http.MethodPatch}, "/{int:id}",
		func(_ context.Context, in change) (*article, error) { return &in.article, nil }, rest.Name("change"))
	rest.Delete(r, "/{int:id}", func(context.Context, one) (rest.NoContent, error) { return rest.NoContent{}, nil },
		rest.Name("remove"), rest.Permit(permission.IsAdmin))
	rest.Post(r, "/{int:id}/cover", func(context.Context, struct {
		org
		upload
	},
	) (*rest.Reply, error) {
		return nil, rest.ErrNotFound
	}, rest.Name("cover"), rest.Returns[article](http.StatusCreated), rest.Detail(http.StatusAccepted))
	rest.Get(r, "/{int:id}/events", func(context.Context, one) (rest.Events[author], error) {
		return rest.Events[author]{}, nil
	}, rest.Name("events"))
	rest.Get(r, "/{int:id}/lines", func(context.Context, one) (rest.Lines[author], error) {
		return rest.Lines[author]{}, nil
	}, rest.Name("lines"))
	rest.Get(r, "/at/files/{path:rest}", func(context.Context, struct {
		org
		restOf
	},
	) (*rest.File, error) {
		return nil, rest.ErrNotFound
	}, rest.Name("file"), rest.NoAuth())
	rest.Raw(r, []string{http.MethodGet}, "/at/raw/{uuid:id}", http.NotFoundHandler(), rest.Name("raw"), rest.Deprecated())
	rest.Get(r, "/hidden", func(context.Context, org) (int, error) { return 0, nil }, rest.Name("hidden"), rest.Hidden())
}

func catalogAPI() *rest.API {
	api := quiet(rest.Title("Shop"), rest.Version("2.0.0"), rest.About("Sells *articles*."),
		rest.Servers("https://shop.example/v2"),
		rest.Auth(bearer(), auth.APIKeyQuery("key", people()),
			auth.Basic(func(context.Context, string, string) (*rest.User, error) { return nil, rest.ErrBadCredentials })))
	api.Register(catalog{})
	huma.Register(api.Huma(), rest.Guard(api,
		huma.Operation{Method: http.MethodGet, Path: "/raw/{n}", OperationID: "rawNumber"}), rawNumber)
	return api
}

func TestDocument(t *testing.T) {
	t.Parallel()

	first, err := catalogAPI().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "openapi.json", string(first))
	for range 50 {
		again, err := catalogAPI().OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatal("two builds of one API have different documents")
		}
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()

	api := catalogAPI()
	text, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := api.WriteOpenAPI(&written); err != nil {
		t.Fatal(err)
	}
	a := resttest.Do[any](t, api, http.MethodGet, "/openapi.json")
	wantDiff(t, "served and written", []string{string(text), string(text)}, []string{a.Text, written.String()})
	for path, want := range map[string]int{
		"/docs": 200, "/docs/": 200, "/docs/assets/x/nothing.js": 404, "/openapi.yaml": 404, "/schemas/Article.json": 404,
	} {
		wantStatus(t, api, http.MethodGet, path, want)
	}
	for name, c := range map[string]struct {
		option     rest.APIOption
		spec, docs int
	}{
		"neither":      {rest.SpecPath(""), 404, 404},
		"no docs":      {rest.DocsPath(""), 200, 404},
		"another path": {rest.DocsPath("/help/"), 200, 404},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := quiet(c.option)
			wantStatus(t, api, http.MethodGet, "/openapi.json", c.spec)
			wantStatus(t, api, http.MethodGet, "/docs", c.docs)
		})
	}
	wantStatus(t, quiet(rest.DocsPath("/help")), http.MethodGet, "/help", http.StatusOK)
	wantStatus(t, quiet(rest.DocsPath("/")), http.MethodGet, "/", http.StatusOK)
}

// TestEveryStatusIsDocumented asks routes for what goes wrong: no answer is a surprise to
// who has read the document.
func TestEveryStatusIsDocumented(t *testing.T) {
	t.Parallel()

	api := catalogAPI()
	d := document(t, api)
	ann, bob := resttest.Bearer("ann-key"), resttest.Bearer("bob-key")
	const all = "/orgs/{org}/articles"
	for _, c := range []struct {
		method, path, target string
		options              []resttest.Option
	}{
		{"get", all, "/orgs/1/articles", nil},
		{"get", all, "/orgs/1/articles?page=x", []resttest.Option{bob}},
		{"get", all, "/orgs/1/articles?page=9", []resttest.Option{bob}},
		{"get", all + "/{id}", "/orgs/1/articles/7", []resttest.Option{bob}},
		{"get", all + "/{id}", "/orgs/99999999999999999999/articles/7", []resttest.Option{bob}},
		{"post", all, "/orgs/1/articles", []resttest.Option{bob, resttest.Content("application/json", "{")}},
		{"post", all, "/orgs/1/articles", []resttest.Option{bob, resttest.Content("text/plain", "{")}},
		{"post", all, "/orgs/1/articles", []resttest.Option{bob, resttest.Content("application/json", "{}")}},
		{
			"post", all, "/orgs/1/articles",
			[]resttest.Option{bob, resttest.Content("application/json", string(make([]byte, 2<<20)))},
		},
		{"post", all, "/orgs/1/articles", []resttest.Option{bob, resttest.Content("application/json", `{"title":"a","price":1}`)}},
		{"post", all, "/orgs/1/articles", []resttest.Option{bob, resttest.Content("application/json", `{"title":"a","price":1}`)}},
		{"delete", all + "/{id}", "/orgs/1/articles/7", []resttest.Option{bob}},
		{"delete", all + "/{id}", "/orgs/1/articles/7", []resttest.Option{ann}},
		{
			"post", all + "/{id}/cover", "/orgs/1/articles/7/cover", []resttest.Option{bob, resttest.Content("text/plain", "{")},
		},
		{
			"post", all + "/{id}/cover", "/orgs/1/articles/7/cover",
			[]resttest.Option{bob, resttest.Content("multipart/form-data; boundary=x", "{")},
		},
		{"get", all + "/at/files/{rest}", "/orgs/1/articles/at/files/x", nil},
		{"get", "/raw/{n}", "/raw/x", []resttest.Option{bob}},
		{"get", "/raw/{n}", "/raw/1", nil},
	} {
		a := resttest.Do[any](t, api, strings.ToUpper(c.method), c.target, c.options...)
		kind, status := "application/problem+json", strconv.Itoa(a.Status)
		response := at(d, "paths", c.path, c.method, "responses", status)
		if response == nil {
			t.Errorf("%s %s: %s is not documented: %s", c.method, c.target, status, a.Text)
			continue
		}
		if a.Status >= 400 && at(d, "paths", c.path, c.method, "responses", status, "content", kind) == nil {
			t.Errorf("%s %s: %s is documented as %v", c.method, c.target, status, response)
		}
	}
}

func TestCookiesOfOtherOriginsAreDocumented(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) { rest.Post(r, "/x", whoami) }, rest.Auth(auth.APIKeyCookie("key", people())))
	a := resttest.Do[any](t, api, http.MethodPost, "/x", resttest.Cookie("key", "bob-key"),
		resttest.Header("Sec-Fetch-Site", "cross-site"))
	documented := at(document(t, api), "paths", "/x", "post", "responses", "403")
	if a.Status != http.StatusForbidden || documented == nil {
		t.Errorf("got %d, documented %v", a.Status, documented)
	}
}

// TestDocumentIsValid asks what knows OpenAPI, in Node.
func TestDocumentIsValid(t *testing.T) {
	t.Parallel()

	dir := filepath.Join("..", "test", "openapi")
	missing := func(why string) {
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatal(why)
		}
		t.Skip(why + ": skipped") //nolint:forbidigo,nolintlint // what is needed is not there
	}
	if _, err := os.Stat(filepath.Join(dir, "..", "node_modules")); err != nil {
		missing("test/node_modules is not there; run make deps/npm")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("node is not there")
	}
	for name, api := range map[string]*rest.API{
		"catalog": catalogAPI(), "errors": errorAPI(rest.DetailErrors),
		"lists": novelAPI(page.Number(), query.Filter[novelFilter]()), "empty": quiet(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := api.OpenAPI()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), name+".json")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.CommandContext(
				t.Context(), node, filepath.Join(dir, "validate.mjs"), file,
			).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
