package main

import (
	"context"
	"io"
	"net/http"

	gojson "github.com/goccy/go-json"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/throttle"
)

// restItems is the catalog as a controller of rest.
type restItems struct{ catalog *catalog }

// restOffers has the items of a shop, for everybody or for staff.
type restOffers struct{ catalog *catalog }

// restRate is a limit that no measurement reaches.
const restRate = "1000000000/s"

func newRest(c *catalog) http.Handler { return restWith(c) }

func newRestGoccy(c *catalog) http.Handler { return restWith(c, rest.JSON(restGoccy{})) }

func restWith(c *catalog, options ...rest.APIOption) http.Handler {
	api := rest.New(append(options, rest.Title("catalog"))...)
	api.Register(&restItems{c}, rest.Prefix("/items"))
	api.Register(&restOffers{c}, rest.Prefix("/shops/{shop}/items"), rest.Namespace("Shops"))
	api.Register(&restOffers{c}, rest.Prefix("/staff/{shop}/items"), rest.Namespace("Staff"),
		rest.Auth(auth.Bearer(restLookup)), rest.Throttles(throttle.PerUser(restRate, throttle.Quiet())),
		rest.Permit(permission.Scope(staff)))
	return api
}

// Routes implements [rest.Controller].
func (c *restItems) Routes(r *rest.Routes) {
	rest.List(r, "/", c.list, page.LimitOffset(page.Size(defaultLimit), page.Max(maxLimit)))
	rest.Get(r, "/{int:id}", c.get)
	rest.Post(r, "/", c.create, rest.Status(http.StatusCreated))
}

type restID struct {
	ID int64 `path:"id"`
}

type restDraft struct {
	Name     string   `json:"name"                  maxLength:"80"                minLength:"1"`
	SKU      string   `json:"sku"                   pattern:"^[A-Z]{3}-[0-9]{4}$"`
	Category string   `enum:"office,garden,kitchen" json:"category"`
	Price    float64  `exclusiveMinimum:"0"         json:"price"                  maximum:"100000"`
	Quantity int      `json:"quantity"              maximum:"1000"                minimum:"0"`
	Tags     []string `json:"tags,omitempty"        maxItems:"8"                  maxLength:"20"   minLength:"1"`
	Note     string   `json:"note,omitempty"        maxLength:"200"`
}

func (c *restItems) list(context.Context, struct{}) ([]item, error) { return c.catalog.items, nil }

func (c *restItems) get(_ context.Context, in restID) (item, error) {
	it, ok := c.catalog.item(in.ID)
	if !ok {
		return item{}, rest.NotFound("")
	}
	return it, nil
}

func (c *restItems) create(_ context.Context, in restDraft) (item, error) {
	return c.catalog.create(draft(in)), nil
}

// Routes implements [rest.Controller].
func (c *restOffers) Routes(r *rest.Routes) { rest.Get(r, "/{int:id}", c.get) }

type restView struct {
	Shop    string `path:"shop"`
	ID      int64  `path:"id"`
	Lang    string `default:"en"   enum:"en,de,fr" query:"lang"`
	Expand  bool   `query:"expand"`
	MaxTags int    `default:"8"    maximum:"8"     minimum:"0"  query:"max_tags"`
}

func (c *restOffers) get(ctx context.Context, in restView) (offer, error) {
	o, ok := c.catalog.offer(in.Shop, in.ID, in.Lang, in.Expand, in.MaxTags)
	if !ok {
		return offer{}, rest.NotFound("")
	}
	if p, ok := rest.PrincipalAs[*restUser](ctx); ok {
		o.Buyer = p.Name
	}
	return o, nil
}

// restUser is a user as a principal of rest.
type restUser struct{ user }

// PrincipalID implements [rest.Principal].
func (u *restUser) PrincipalID() string { return u.Name }

// HasScope makes the role a scope.
func (u *restUser) HasScope(scope string) bool { return u.Role == scope }

// restUsers has the owner of each token.
var restUsers = map[string]*restUser{
	staffToken:  {users[staffToken]},
	publicToken: {users[publicToken]},
}

func restLookup(_ context.Context, token string) (*restUser, error) {
	u, ok := restUsers[token]
	if !ok {
		return nil, rest.ErrBadCredentials
	}
	return u, nil
}

// restGoccy is the codec of goccy.
type restGoccy struct{}

// NewEncoder implements [rest.Codec].
func (restGoccy) NewEncoder(w io.Writer) rest.Encoder {
	enc := gojson.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Unmarshal implements [rest.Codec].
func (restGoccy) Unmarshal(data []byte, into any) error { return gojson.Unmarshal(data, into) }
