package rest

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/samber/do/v2"
)

// Services holds the services that [Provide] and [ProvideRequest] declare. [From] gets one of
// them. The functions that make services receive it; [ServicesOf], [API.Services] and
// [Routes.Services] return it.
//
// It is the container of github.com/samber/do/v2, but no program has to import that package.
type Services = do.Injector

// From returns the service of type T. It returns an error that names the type if the service
// is not provided or could not be made, for example because it depends on itself.
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

// ServicesOf returns the services of the request of ctx, which include the API's. It returns
// nil if ctx is not the context of a route.
func ServicesOf(ctx context.Context) Services {
	if c := contextOf(ctx); c != nil {
		return c.services() //nolint:contextcheck // routeContext is a context
	}
	return nil
}

// Services returns the services of the API, for parts of the program that run outside of
// requests.
func (a *API) Services() Services { return a.root.root }

// Services returns the services of the API that the controller is being registered in, so that
// the controller can get its dependencies there. Services of requests are not included.
func (r *Routes) Services() Services { return r.services }

// Provide declares a service of type T for [Resolve]. One is made for the whole API, when it
// is first asked for. A program that is wired by plain constructors, which is the usual way,
// does not need it.
func Provide[T any](build func(Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.providers = append(c.providers, provider{
			app: func(root do.Injector) { do.Provide(root, build) },
			// Transient: otherwise the end of the request would shut down the API's service.
			request: func(_ context.Context, root, i do.Injector) {
				do.ProvideTransient(i, func(do.Injector) (T, error) { return do.Invoke[T](root) })
			},
		})
	})
}

// ProvideRequest declares a service of type T for [Resolve]. One is made for each request that
// asks for it. If it has a Shutdown method, the method is called when the request is over. A
// type may be provided only once, either for the API or for requests.
func ProvideRequest[T any](build func(ctx context.Context, s Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.perRequest = true
		c.providers = append(c.providers, provider{request: func(ctx context.Context, _, i do.Injector) {
			do.Provide(i, func(i do.Injector) (T, error) { return build(ctx, i) })
		}})
	})
}

// Resolve returns the service of type T from [ServicesOf] the context, as [From] does.
func Resolve[T any](ctx context.Context) (T, error) {
	s := ServicesOf(ctx)
	if s == nil {
		var none T
		return none, errNoRoute
	}
	return From[T](s)
}

// provider declares a service in the containers of the API and of each request.
type provider struct {
	app     func(root do.Injector) // nil for a request service
	request func(ctx context.Context, root, i do.Injector)
}

// services holds the container of an API and what is needed to build those of requests.
type services struct {
	root       *do.RootScope
	providers  []provider
	perRequest bool // some services are made for each request
}

func newServices(providers []provider, perRequest bool) *services {
	s := &services{root: do.New(), providers: providers, perRequest: perRequest}
	for _, p := range providers {
		if p.app != nil {
			p.app(s.root)
		}
	}
	s.request(context.Background()) // panics here, not in the first request, if a type is provided twice
	return s
}

// Shutdown shuts down the services of the API, in the reverse order of their creation.
func (a *API) Shutdown(ctx context.Context) error {
	if report := a.root.root.ShutdownWithContext(ctx); !report.Succeed {
		return fmt.Errorf("shut services down: %w", report)
	}
	return nil
}

type requestScope struct {
	once  sync.Once
	scope *do.RootScope
}

// services returns the services of the request. The container is built on the first call.
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

// request builds the container of one request. It is not a child scope of the API's container,
// because that would keep each child for as long as it lives.
func (s *services) request(ctx context.Context) *do.RootScope {
	i := do.New()
	for _, p := range s.providers {
		p.request(ctx, s.root, i)
	}
	return i
}

func (s *requestScope) close(ctx context.Context) {
	if s.scope != nil {
		_ = s.scope.ShutdownWithContext(context.WithoutCancel(ctx)) // no caller is left to get the error
	}
}
