package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	gojson "github.com/goccy/go-json"
)

// humaAPI is the catalog on huma, on net/http's own router.
type humaAPI struct {
	catalog *catalog
	limiter *limiter
	api     huma.API
}

// newHuma returns huma with its default configuration, which adds links to schemas.
func newHuma(c *catalog) http.Handler { return humaWith(c, true, encodingJSON) }

func newHumaNoLink(c *catalog) http.Handler { return humaWith(c, false, encodingJSON) }

func newHumaGoccy(c *catalog) http.Handler { return humaWith(c, false, goccyJSON) }

// The formats are configured instead of huma's defaults, so that all codecs use the same code path.
var (
	encodingJSON = huma.Format{
		Marshal: func(w io.Writer, v any) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			return enc.Encode(v)
		},
		Unmarshal: json.Unmarshal,
	}
	goccyJSON = huma.Format{
		Marshal: func(w io.Writer, v any) error {
			enc := gojson.NewEncoder(w)
			enc.SetEscapeHTML(false)
			return enc.Encode(v)
		},
		Unmarshal: gojson.Unmarshal,
	}
)

func humaWith(c *catalog, links bool, format huma.Format) http.Handler {
	config := huma.DefaultConfig("catalog", "1")
	if !links {
		config.CreateHooks = nil
	}
	config.Formats = map[string]huma.Format{"application/json": format, "json": format}
	mux := http.NewServeMux()
	a := &humaAPI{catalog: c, limiter: newLimiter(), api: humago.New(mux, config)}
	huma.Get(a.api, "/items/{id}", a.get)
	huma.Get(a.api, "/items", a.list)
	huma.Post(a.api, "/items", a.post, func(op *huma.Operation) { op.DefaultStatus = http.StatusCreated })
	huma.Get(a.api, "/shops/{shop}/items/{id}", a.offer)
	huma.Get(a.api, "/staff/{shop}/items/{id}", a.offer, func(op *huma.Operation) {
		op.Middlewares = huma.Middlewares{a.guard}
	})
	return mux
}

// humaBody is an answer of huma, whose body must be a field.
type humaBody[T any] struct{ Body T }

type humaID struct {
	ID int64 `path:"id"`
}

type humaView struct {
	Shop    string `path:"shop"`
	ID      int64  `path:"id"`
	Lang    string `default:"en"   enum:"en,de,fr" query:"lang"`
	Expand  bool   `query:"expand"`
	MaxTags int    `default:"8"    maximum:"8"     minimum:"0"  query:"max_tags"`
}

type humaWindow struct {
	Limit  int `default:"50" maximum:"100"  minimum:"1" query:"limit"`
	Offset int `minimum:"0"  query:"offset"`
}

type humaDraft struct {
	Name     string   `json:"name"                  maxLength:"80"                minLength:"1"`
	SKU      string   `json:"sku"                   pattern:"^[A-Z]{3}-[0-9]{4}$"`
	Category string   `enum:"office,garden,kitchen" json:"category"`
	Price    float64  `exclusiveMinimum:"0"         json:"price"                  maximum:"100000"`
	Quantity int      `json:"quantity"              maximum:"1000"                minimum:"0"`
	Tags     []string `json:"tags,omitempty"        maxItems:"8"                  maxLength:"20"   minLength:"1"`
	Note     string   `json:"note,omitempty"        maxLength:"200"`
}

func (a *humaAPI) get(_ context.Context, in *humaID) (*humaBody[item], error) {
	it, ok := a.catalog.item(in.ID)
	if !ok {
		return nil, huma.Error404NotFound("no such item")
	}
	return &humaBody[item]{it}, nil
}

func (a *humaAPI) list(_ context.Context, in *humaWindow) (*humaBody[itemPage], error) {
	return &humaBody[itemPage]{itemPage{Items: a.catalog.page(in.Limit, in.Offset), Count: len(a.catalog.items)}}, nil
}

func (a *humaAPI) offer(ctx context.Context, in *humaView) (*humaBody[offer], error) {
	o, ok := a.catalog.offer(in.Shop, in.ID, in.Lang, in.Expand, in.MaxTags)
	if !ok {
		return nil, huma.Error404NotFound("no such item")
	}
	if u, ok := ctx.Value(humaUser{}).(user); ok {
		o.Buyer = u.Name
	}
	return &humaBody[offer]{o}, nil
}

func (a *humaAPI) post(_ context.Context, in *humaBody[humaDraft]) (*humaBody[item], error) {
	return &humaBody[item]{a.catalog.create(draft(in.Body))}, nil
}

// humaUser is the key under which guard stores the user.
type humaUser struct{}

func (a *humaAPI) guard(ctx huma.Context, next func(huma.Context)) {
	u, ok := userOf(ctx.Header("Authorization"))
	status := http.StatusOK
	switch {
	case !ok:
		ctx.SetHeader("WWW-Authenticate", "Bearer")
		status = http.StatusUnauthorized
	case !a.limiter.take(u.Name):
		status = http.StatusTooManyRequests
	case u.Role != staff:
		status = http.StatusForbidden
	}
	if status != http.StatusOK {
		_ = huma.WriteErr(a.api, ctx, status, http.StatusText(status)) // an error means that the client is gone
		return
	}
	next(huma.WithValue(ctx, humaUser{}, u))
}
