package rest

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/samber/do/v2"
)

// Services are what [Provide] and [ProvideRequest] have made known. [From] gets one of them.
// The functions that make services are given them, and [ServicesOf] a request, [API.Services]
// and [Routes.Services] return them.
//
// It is the container of github.com/samber/do/v2, which no program has to import.
type Services = do.Injector

// From gets the service of type T. It returns an error that names the type when no one provides
// it or it could not be made, for example because it needs itself.
//
//	rest.Provide(func(s rest.Services) (*Store, error) {
//		db, err := rest.From[*sql.DB](s)
//		return &Store{db}, err
//	})
func From[T any](s Services) (T, error) {
	var none T
	if s == nil {
		return none, fmt.Errorf("get the service %v: there are no services", reflect.TypeFor[T]())
	}
	made, err := do.Invoke[T](s)
	if err != nil {
		return none, fmt.Errorf("get the service %v: %w", reflect.TypeFor[T](), err)
	}
	return made, nil
}

// ServicesOf returns the services of the request that ctx is about, among them those of the
// API. It is nil when ctx is not the context of a route.
func ServicesOf(ctx context.Context) Services {
	if c := contextOf(ctx); c != nil {
		return c.services() //nolint:contextcheck // the request is a context itself
	}
	return nil
}

// Services returns the services of the API, for the parts of a program that answer no request.
func (a *API) Services() Services { return a.root.root }

// Services returns the services of the API in which the controller is being registered, for
// a controller that gets what it needs there. Those of requests are not among them.
func (r *Routes) Services() Services { return r.services }

// Provide makes services of type T known to [Resolve]: one for the whole API, made when it
// is asked for first. For a program that is wired by plain constructors, which is the usual
// way, there is nothing to provide.
func Provide[T any](build func(Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.providers = append(c.providers, provider{
			app: func(root do.Injector) { do.Provide(root, build) },
			// Transient, so that the end of the request is not that of the API's service.
			request: func(_ context.Context, root, i do.Injector) {
				do.ProvideTransient(i, func(do.Injector) (T, error) { return do.Invoke[T](root) })
			},
		})
	})
}

// ProvideRequest makes services of type T known to [Resolve]: one for each request that
// asks for it. One that has a Shutdown method is told when the request is over. A type is
// provided once: either for the API or for requests.
func ProvideRequest[T any](build func(ctx context.Context, s Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.perRequest = true
		c.providers = append(c.providers, provider{request: func(ctx context.Context, _, i do.Injector) {
			do.Provide(i, func(i do.Injector) (T, error) { return build(ctx, i) })
		}})
	})
}

// Resolve gets the service of type T, of the request or of the API, as [From] does with
// [ServicesOf].
func Resolve[T any](ctx context.Context) (T, error) {
	s := ServicesOf(ctx)
	if s == nil {
		var none T
		return none, errNoRoute
	}
	return From[T](s)
}

// provider declares a service: to the API, and to each request.
type provider struct {
	app     func(root do.Injector) // nil for a service of requests
	request func(ctx context.Context, root, i do.Injector)
}

// services are the services of an API.
type services struct {
	root       *do.RootScope
	providers  []provider
	perRequest bool // requests have services of their own
}

func newServices(providers []provider, perRequest bool) *services {
	s := &services{root: do.New(), providers: providers, perRequest: perRequest}
	for _, p := range providers {
		if p.app != nil {
			p.app(s.root)
		}
	}
	s.request(context.Background()) // what is provided twice is found here, and not by the first request
	return s
}

// Shutdown tells the services of the API that it is over, in the opposite order of their
// making.
func (a *API) Shutdown(ctx context.Context) error {
	if report := a.root.root.ShutdownWithContext(ctx); !report.Succeed {
		return fmt.Errorf("shut services down: %w", report)
	}
	return nil
}

// requestScope are the services of a request.
type requestScope struct {
	once  sync.Once
	scope *do.RootScope
}

// services returns the services of the request. They are made when the first one is asked for.
func (c *routeContext) services() do.Injector {
	all := c.route.api.root
	if !all.perRequest {
		return all.root
	}
	s := c.scope.Load()
	if s == nil {
		c.scope.CompareAndSwap(nil, &requestScope{})
		s = c.scope.Load()
	}
	s.once.Do(func() { s.scope = all.request(c) })
	return s.scope
}

// request makes the services of one request. They are no scope below the API's, which
// would keep each of them for as long as it lives.
func (s *services) request(ctx context.Context) *do.RootScope {
	i := do.New()
	for _, p := range s.providers {
		p.request(ctx, s.root, i)
	}
	return i
}

// close tells the services of the request that it is over.
func (s *requestScope) close(ctx context.Context) {
	if s.scope != nil {
		_ = s.scope.ShutdownWithContext(context.WithoutCancel(ctx)) // nobody is left to tell
	}
}
