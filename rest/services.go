package rest

import (
	"context"
	"fmt"
	"sync"

	"github.com/samber/do/v2"
)

// Services are given to the functions that make others, which get what they need from them
// by do.Invoke[T](services) of github.com/samber/do/v2.
type Services = do.Injector

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

// Resolve returns the service of type T: of the request, or of the API. It is an error when
// nobody provides it or it could not be made.
func Resolve[T any](ctx context.Context) (T, error) {
	var none T
	c := contextOf(ctx)
	if c == nil {
		return none, errNoRoute
	}
	s, err := do.Invoke[T](c.services()) //nolint:contextcheck // the request is a context itself
	if err != nil {
		return none, fmt.Errorf("resolve %T: %w", none, err)
	}
	return s, nil
}

// provider declares a service: to the API, and to each request.
type provider struct {
	app     func(root do.Injector) // nil for a service of requests
	request func(ctx context.Context, root, i do.Injector)
}

// services are those of an API.
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

// services returns those of the request, which are made when one is asked for first.
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
		_ = s.scope.ShutdownWithContext(context.WithoutCancel(ctx)) // there is nobody left to tell
	}
}
