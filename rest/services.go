package rest

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/samber/do/v2"
)

// Services are given to the functions that make others.
type Services = do.Injector

// Provide makes services of type T known to [Resolve]: one for the whole API, made when it
// is asked for first. For a program that is wired by plain constructors, which is the usual
// way, there is nothing to provide.
func Provide[T any](build func(Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.providers = append(c.providers, provider{app: func(i do.Injector) { do.Provide(i, build) }})
	})
}

// ProvideRequest makes services of type T known to [Resolve]: one for each request that
// asks for it. One that has a Shutdown method is told when the request is over.
func ProvideRequest[T any](build func(ctx context.Context, s Services) (T, error)) APIOption {
	return apiOption(func(c *apiConfig) {
		c.providers = append(c.providers, provider{request: func(ctx context.Context, i do.Injector) {
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

// provider declares a service, of the API or of requests.
type provider struct {
	app     func(do.Injector)
	request func(context.Context, do.Injector)
}

// services are those of an API.
type services struct {
	root      *do.RootScope
	providers []provider
	requests  atomic.Int64
}

func newServices(providers []provider) *services {
	s := &services{providers: providers}
	if len(providers) == 0 {
		return s
	}
	s.root = do.New()
	for _, p := range providers {
		if p.app != nil {
			p.app(s.root)
		}
	}
	return s
}

// Shutdown tells the services of the API that it is over, in the opposite order of their
// making.
func (a *API) Shutdown(ctx context.Context) error {
	if a.root.root == nil {
		return nil
	}
	if report := a.root.root.ShutdownWithContext(ctx); !report.Succeed {
		return fmt.Errorf("shut services down: %w", report)
	}
	return nil
}

// requestScope are the services of a request.
type requestScope struct {
	once  sync.Once
	scope do.Injector
}

// services returns those of the request, which are made when one is asked for first.
func (c *routeContext) services() do.Injector {
	s := c.scope.Load()
	if s == nil {
		c.scope.CompareAndSwap(nil, &requestScope{})
		s = c.scope.Load()
	}
	s.once.Do(func() { s.scope = c.route.api.root.request(c) })
	return s.scope
}

// request makes the services of one request.
func (s *services) request(ctx context.Context) do.Injector {
	if s.root == nil {
		return do.New()
	}
	scope := s.root.Scope("request-" + strconv.FormatInt(s.requests.Add(1), 10))
	for _, p := range s.providers {
		if p.request != nil {
			p.request(ctx, scope)
		}
	}
	return scope
}

// close tells the services of the request that it is over.
func (s *requestScope) close(ctx context.Context) {
	if scope, ok := s.scope.(*do.Scope); ok {
		_ = scope.ShutdownWithContext(context.WithoutCancel(ctx)) // there is nobody left to tell
	}
}
