package main

import (
	"context"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/throttle"
)

// idleOptions adds permissions that allow everything.
func idleOptions(c *catalog) *extra {
	items := &restItems{c}
	variant := func(name string, options ...rest.RouteOption) *subject {
		return restSubject(name, "/items/417", func(r *rest.Routes) { rest.Get(r, "/items/{int:id}", items.get, options...) })
	}
	return &extra{
		title: "permissions that do nothing",
		how:   "The GET by id, beside the same with permissions that allow every request.",
		subjects: []*subject{
			variant("open"),
			variant("one permission", rest.Permit(permission.AllowAny)),
			variant("three permissions", rest.Permit(
				permission.AllowAny, permission.ReadOnly,
				permission.Any(permission.IsAdmin, permission.AllowAny),
			)),
		},
		sameAllocs: true,
	}
}

// itemFilter is a filter of items whose fields are all optional.
type itemFilter struct {
	Category *string  `filter:"category"        query:"category"`
	Name     *string  `filter:"name__icontains" query:"name"`
	Least    *float64 `filter:"price__gte"      query:"least"`
	Most     *float64 `filter:"price__lte"      query:"most"`
}

// idleListOptions adds filters, orders and searches that no request uses.
func idleListOptions(c *catalog) *extra {
	items := &restItems{c}
	window := page.LimitOffset(page.Size(defaultLimit), page.Max(maxLimit))
	variant := func(name string, options ...rest.RouteOption) *subject {
		options = append(options, window)
		return restSubject(name, "/items?limit=50&offset=500", func(r *rest.Routes) {
			rest.List(r, "/items", items.list, options...)
		})
	}
	filter := query.Filter[itemFilter]()
	return &extra{
		title: "filters that do nothing",
		how:   "The page of 50, beside the same with filters, an order and a search that the request does not ask for.",
		subjects: []*subject{
			variant("plain list"),
			variant("filter", filter),
			variant("filter, order, search", filter, query.Order("price", "name").KeepOrder(), query.Search("name", "sku")),
		},
		sameAllocs: true,
	}
}

// stages measures the parts of the guarded GET.
func stages(c *catalog) *extra {
	offers := &restOffers{c}
	variant := func(name string, options ...rest.ControllerOption) *subject {
		s := restSubject(name, "/shops/north/items/417"+offerQuery, offers.Routes,
			append(options, rest.Prefix("/shops/{shop}/items"))...)
		s.template.Header.Set("Authorization", "Bearer "+staffToken)
		return s
	}
	who := rest.Auth(auth.Bearer(restLookup))
	may := rest.Permit(permission.Scope(staff))
	return &extra{
		title: "what guards cost",
		how: "The GET with query, and what each guard adds. The throttle does more than the bucket of the peers: it " +
			"counts by a sliding log and, unless it is quiet, tells the client in headers what is left. The last one is the peers' bucket, which tells nothing.",
		subjects: []*subject{
			variant("open"),
			variant("authentication", who),
			variant("authentication, permission", who, may),
			variant("authentication, permission, quiet throttle", who, may,
				rest.Throttles(throttle.PerUser(restRate, throttle.Quiet()))),
			variant("authentication, permission, throttle", who, may, rest.Throttles(throttle.PerUser(restRate))),
			variant("authentication, permission, silent bucket", who, may, rest.Throttles(silentBucket{newLimiter()})),
		},
	}
}

// silentBucket is the throttle of the peers. It adds no headers to allowed requests.
type silentBucket struct{ *limiter }

// Take implements [rest.Throttle].
func (b silentBucket) Take(ctx context.Context) (rest.Verdict, error) {
	if b.take(rest.PrincipalOf(ctx).PrincipalID()) {
		return rest.Verdict{Skipped: true}, nil
	}
	return rest.Verdict{Policy: "bucket", Limit: bucketBurst}, nil
}
