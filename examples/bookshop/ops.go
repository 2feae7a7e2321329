package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
)

//go:embed pages
var pages embed.FS

// Site has everything that is not about books: pages, and data for operators.
type Site struct {
	db    *bun.DB
	doors *doors
}

// Routes implements [rest.Controller].
func (c *Site) Routes(r *rest.Routes) {
	r.Configure(rest.Tags("site"))
	rest.Get(r, "/pages/{path:name}", c.page, rest.Summary("A page of the site"), rest.Fails(http.StatusNotFound),
		rest.Produces("text/html"))
	rest.Raw(r, []string{http.MethodGet}, "/health", http.HandlerFunc(c.health),
		rest.Name("health"), rest.ThrottlesFirst(), rest.Throttles(), rest.Summary("Whether the shop is open"),
		rest.Produces("text/plain"))
	rest.Raw(r, []string{http.MethodGet}, "/metrics", http.HandlerFunc(c.metrics),
		rest.Name("metrics"), rest.Auth(c.doors.ops), rest.Throttles(), rest.Summary("Numbers for Prometheus"),
		rest.Produces("text/plain"))
}

type pageName struct {
	Name string `example:"legal/terms.txt" path:"name"`
}

func (c *Site) page(_ context.Context, in pageName) (*rest.File, error) {
	root, err := fs.Sub(pages, "pages")
	if err != nil {
		return nil, err
	}
	return rest.OpenFile(root, in.Name)
}

func (c *Site) health(w http.ResponseWriter, r *http.Request) {
	if err := c.db.PingContext(r.Context()); err != nil {
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

func (c *Site) metrics(w http.ResponseWriter, r *http.Request) {
	for _, m := range []struct {
		name  string
		model any
	}{{"books", (*Book)(nil)}, {"orders", (*Order)(nil)}, {"reviews", (*Review)(nil)}} {
		n, err := c.db.NewSelect().Model(m.model).Count(r.Context())
		if err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(w, "# TYPE bookshop_%s gauge\nbookshop_%s %d\n", m.name, m.name, n)
	}
}

// Debug shows the program to its developers. It is not imported automatically, and only a flag
// registers it.
type Debug struct{ api *rest.API }

// Routes implements [rest.Controller].
func (c *Debug) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/debug"), rest.AutoImport(false), rest.Hidden())
	rest.List(r, "/routes", c.routes, page.None())
}

// RouteLine is one route.
type RouteLine struct {
	Name    string   `json:"name"`
	Methods []string `json:"methods"`
	Path    string   `json:"path"`
}

func (c *Debug) routes(context.Context, struct{}) ([]RouteLine, error) {
	var all []RouteLine
	for _, r := range c.api.Routes() {
		all = append(all, RouteLine{r.Name, r.Methods, r.Path})
	}
	return all, nil
}
