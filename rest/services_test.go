package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

func january(year int) time.Time { return time.Date(year, time.January, 2, 0, 0, 0, 0, time.UTC) }

// store is a service of the API, and unit one of a request.
type store struct{ closed *[]string }

func (s *store) Shutdown() { *s.closed = append(*s.closed, "store") }

type unit struct {
	store  *store
	user   string
	number int64
}

func (u *unit) Shutdown() { *u.store.closed = append(*u.store.closed, "unit of "+u.user) }

func TestServices(t *testing.T) {
	t.Parallel()

	var closed []string
	var stores, units atomic.Int64
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/unit", func(ctx context.Context, _ struct{}) (string, error) {
			a, err := rest.Resolve[*unit](ctx)
			b, err2 := rest.Resolve[*unit](ctx)
			s, err3 := rest.Resolve[*store](ctx)
			return fmt.Sprint(a.user, " ", a.number, " ", a == b, " ", s == a.store), errors.Join(err, err2, err3)
		}, rest.Auth(bearer()))
		rest.Get(r, "/nothing", handle("nothing"))
		rest.Get(r, "/unknown", func(ctx context.Context, _ struct{}) (string, error) { return rest.Resolve[string](ctx) })
		rest.Get(r, "/broken", func(ctx context.Context, _ struct{}) (bool, error) { return rest.Resolve[bool](ctx) })
		rest.Get(r, "/panic", func(ctx context.Context, _ struct{}) (string, error) {
			_, _ = rest.Resolve[*unit](ctx)
			panic("x")
		})
	},
		rest.Provide(func(rest.Services) (*store, error) { stores.Add(1); return &store{&closed}, nil }),
		rest.Provide(func(rest.Services) (bool, error) { return false, errors.New("no bool") }),
		rest.ProvideRequest(func(ctx context.Context, s rest.Services) (*unit, error) {
			from, err := rest.From[*store](s)
			who, _ := whoami(ctx, struct{}{})
			return &unit{store: from, user: who, number: units.Add(1)}, err
		}),
	)
	for _, want := range []string{`"bob 1 true true"`, `"bob 2 true true"`} {
		_, text := get(t, api, "/unit", resttest.Bearer("bob-key"))
		wantDiff(t, "services", want, text)
	}
	wantStatus(t, api, http.MethodGet, "/nothing", http.StatusOK)
	wantStatus(t, api, http.MethodGet, "/unknown", http.StatusInternalServerError)
	wantStatus(t, api, http.MethodGet, "/broken", http.StatusInternalServerError)
	wantStatus(t, api, http.MethodGet, "/panic", http.StatusInternalServerError)
	wantDiff(t, "ended with their requests", []string{"unit of bob", "unit of bob", "unit of nobody"}, closed)
	if err := api.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	wantDiff(t, "ended with the API", "store", closed[len(closed)-1])
	wantDiff(t, "made", []int64{1, 3}, []int64{stores.Load(), units.Load()})
	text := mustPanic(t, func() {
		quiet(rest.Provide(func(rest.Services) (int, error) { return 1, nil }),
			rest.ProvideRequest(func(context.Context, rest.Services) (int, error) { return 2, nil }))
	})
	if !strings.Contains(text, "already") {
		t.Errorf("a service that is provided twice: %q", text)
	}
}

func TestServicesWithoutAny(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (string, error) { return rest.Resolve[string](ctx) })
	})
	wantStatus(t, api, http.MethodGet, "/x", http.StatusInternalServerError)
	if err := api.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestServicesAreForgotten makes requests that have services: nothing of them stays.
func TestServicesAreForgotten(t *testing.T) { //nolint:paralleltest // what others allocate would be counted
	var closed []string
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/x", func(ctx context.Context, _ struct{}) (bool, error) {
			u, err := rest.Resolve[*unit](ctx)
			return u != nil, err
		})
	}, rest.ProvideRequest(func(context.Context, rest.Services) (*unit, error) {
		return &unit{store: &store{&closed}}, nil
	}))
	objects := func(requests int) uint64 {
		for range requests {
			wantStatus(t, api, http.MethodGet, "/x", http.StatusOK)
		}
		closed = nil
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapObjects
	}
	const requests = 500
	before := objects(20)
	if after := objects(requests); after > before+requests {
		t.Errorf("%d objects stay of %d requests", after-before, requests)
	}
}

func TestClientIP(t *testing.T) {
	t.Parallel()

	trusted := rest.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"))
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		trusted    bool
		want       string
	}{
		{"nobody is trusted", "198.51.100.7:1", []string{"1.1.1.1"}, false, "198.51.100.7"},
		{"a private peer is not trusted by itself", "10.0.0.1:1", []string{"1.1.1.1"}, false, "10.0.0.1"},
		{"not a proxy", "198.51.100.7:1", []string{"1.1.1.1"}, true, "198.51.100.7"},
		{"one proxy", "10.0.0.1:1", []string{"198.51.100.7"}, true, "198.51.100.7"},
		{"spoofed on the left", "10.0.0.1:1", []string{"127.0.0.1, 10.9.9.9, 198.51.100.7"}, true, "198.51.100.7"},
		{"spoofed in a header before", "10.0.0.1:1", []string{"127.0.0.1", "198.51.100.7"}, true, "198.51.100.7"},
		{"two proxies", "10.0.0.1:1", []string{"198.51.100.7, 10.0.0.2"}, true, "198.51.100.7"},
		{"all are proxies", "10.0.0.1:1", []string{"10.0.0.3,10.0.0.2"}, true, "10.0.0.3"},
		{"no header", "10.0.0.1:1", nil, true, "10.0.0.1"},
		{"no address", "10.0.0.1:1", []string{"198.51.100.7, unknown"}, true, "10.0.0.1"},
		{"IPv6", "[fd00::1]:1", []string{"2001:db8::7"}, true, "2001:db8::7"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, true, "198.51.100.7"},
		{"a Unix socket", "@", []string{"1.1.1.1"}, true, "invalid IP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var options []rest.APIOption
			if c.trusted {
				options = append(options, trusted)
			}
			api := serve(func(r *rest.Routes) {
				rest.Get(r, "/ip", func(ctx context.Context, _ struct{}) (string, error) {
					return rest.ClientIP(ctx).String(), nil
				})
			}, options...)
			with := []resttest.Option{resttest.From(c.peer), forwarded(c.forwarded)}
			if _, text := get(t, api, "/ip", with...); text != `"`+c.want+`"` {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// forwarded sends the headers of proxies, and those that nobody may believe.
func forwarded(values []string) resttest.Option {
	return resttest.Headers(http.Header{
		"X-Forwarded-For": values, "X-Real-Ip": {"127.0.0.1"}, "Forwarded": {"for=127.0.0.1"},
	})
}

// what a controller gets from the API when it is registered.
type resolved struct{ store *store }

func (c *resolved) Routes(r *rest.Routes) {
	var err error
	if c.store, err = rest.From[*store](r.Services()); err != nil {
		panic(err)
	}
	rest.Get(r, "/same", func(ctx context.Context, _ struct{}) (bool, error) {
		s, err := rest.From[*store](rest.ServicesOf(ctx))
		return s == c.store, err
	})
}

// A service is had wherever there are some, without the container.
func TestFrom(t *testing.T) {
	t.Parallel()

	build := func(rest.Services) (*store, error) { return &store{new([]string)}, nil }
	api := quiet(rest.Provide(build), rest.Provide(func(s rest.Services) (int, error) { return rest.From[int](s) }))
	c := &resolved{}
	api.Register(c)
	if _, text := get(t, api, "/same"); text != "true" {
		t.Error(text)
	}
	s, err := rest.From[*store](api.Services())
	if err != nil || s != c.store {
		t.Errorf("got %v, %v", s, err)
	}
	for want, f := range map[string]func() error{
		"the service string":  func() error { _, err := rest.From[string](api.Services()); return err },
		"the service int":     func() error { _, err := rest.From[int](api.Services()); return err }, // it needs itself
		"there are no":        func() error { _, err := rest.From[string](nil); return err },
		"no request in this":  func() error { _, err := rest.Resolve[string](t.Context()); return err },
		"services of outside": func() error { return fmt.Errorf("services of outside: %v", rest.ServicesOf(t.Context())) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if text := mustPanic(t, func() {
		quiet().Register(&resolved{})
	}); !strings.Contains(text, "the service *rest_test.store") {
		t.Error(text)
	}
}
