package throttle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/throttle"
)

// shop is a controller with a route for each throttle.
type shop map[string]rest.Throttle

func (s shop) Routes(r *rest.Routes) {
	for path, t := range s {
		rest.Get(r, path, func(context.Context, struct{}) (string, error) { return "ok", nil }, rest.Throttles(t),
			rest.Name(path[1:]))
	}
}

func newAPI(s shop, options ...rest.APIOption) *rest.API {
	users := auth.Keys(map[string]*rest.User{"ada's": {ID: "ada"}, "bob's": {ID: "bob"}, "no one's": {Name: "no ID"}})
	options = append(options, rest.Auth(auth.APIKeyHeader("X-Key", users), rest.Anonymous))
	api := rest.New(options...)
	api.Register(s)
	return api
}

// from is who asks: a key, and an address.
type from struct{ key, addr, forwarded string }

func get(api http.Handler, path string, who from) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = who.addr
	if who.key != "" {
		r.Header.Set("X-Key", who.key)
	}
	if who.forwarded != "" {
		r.Header.Set("X-Forwarded-For", who.forwarded)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	return w
}

func statuses(api http.Handler, path string, callers ...from) []int {
	got := make([]int, len(callers))
	for i, who := range callers {
		got[i] = get(api, path, who).Code
	}
	return got
}

var (
	ada     = from{key: "ada's", addr: "192.0.2.1:1000"}
	adaAway = from{key: "ada's", addr: "192.0.2.99:1000"}
	bob     = from{key: "bob's", addr: "192.0.2.1:1001"}
	guest   = from{addr: "192.0.2.1:1002"}
	other   = from{addr: "192.0.2.2:1003"}
)

func TestWhoCountsTogether(t *testing.T) {
	t.Parallel()

	const ok, no = http.StatusOK, http.StatusTooManyRequests
	tenant := func(ctx context.Context) (string, bool) {
		p := rest.PrincipalOf(ctx)
		return "acme", p != nil
	}
	for name, test := range map[string]struct {
		throttle rest.Throttle
		callers  []from
		want     []int
	}{
		"a user is one, wherever": {throttle.PerUser("1/min"), []from{ada, adaAway, bob, bob}, []int{ok, no, ok, no}},
		"a guest is an address":   {throttle.PerUser("1/min"), []from{guest, ada, guest, other}, []int{ok, ok, no, ok}},
		"nameless users are addresses": {
			throttle.PerUser("1/min"),
			[]from{
				{key: "no one's", addr: "192.0.2.1:1"},
				{key: "no one's", addr: "192.0.2.2:1"},
				{key: "no one's", addr: "192.0.2.2:1"},
			},
			[]int{ok, ok, no},
		},
		"anonymous is for guests": {
			throttle.Anonymous("1/min"),
			[]from{guest, guest, ada, ada, bob, other},
			[]int{ok, no, ok, ok, ok, ok},
		},
		"a client is an address": {throttle.PerClient("1/min"), []from{ada, bob, guest, adaAway}, []int{ok, no, no, ok}},
		"a scope is per caller": {
			throttle.Scoped("search", "1/min"),
			[]from{ada, adaAway, bob, guest, guest},
			[]int{ok, no, ok, ok, no},
		},
		"global is everybody": {throttle.Global("2/min"), []from{ada, guest, bob, other}, []int{ok, ok, no, no}},
		"by what the program says": {
			throttle.By("tenant", "1/min", tenant),
			[]from{ada, bob, guest, guest},
			[]int{ok, no, ok, ok},
		},
		"a network of IPv6 is one": {
			throttle.PerClient("1/min"),
			[]from{{addr: "[2001:db8::1]:1"}, {addr: "[2001:db8::ffff:2]:1"}, {addr: "[2001:db8:0:1::1]:1"}},
			[]int{ok, no, ok},
		},
		"an IPv4 address in IPv6 is one of IPv4": {
			throttle.PerClient("1/min"),
			[]from{{addr: "[::ffff:192.0.2.1]:1"}, {addr: "192.0.2.1:2"}, {addr: "[::ffff:192.0.2.2]:1"}},
			[]int{ok, no, ok},
		},
		"no address is one": {throttle.PerClient("1/min"), []from{{addr: "@"}, {addr: "@"}, guest}, []int{ok, no, ok}},
		"a header proves nothing": {
			throttle.PerClient("1/min"),
			[]from{{addr: guest.addr, forwarded: "203.0.113.1"}, {addr: guest.addr, forwarded: "203.0.113.2"}},
			[]int{ok, no},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPI(shop{"/a": test.throttle})
			if diff := cmp.Diff(test.want, statuses(api, "/a", test.callers...)); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBehindATrustedProxy(t *testing.T) {
	t.Parallel()

	api := newAPI(shop{"/a": throttle.PerClient("1/min")}, rest.TrustedProxies(netip.MustParsePrefix("10.0.0.0/8")))
	got := statuses(api, "/a",
		from{addr: "10.0.0.1:1", forwarded: "203.0.113.1"},
		from{addr: "10.0.0.1:1", forwarded: "203.0.113.2"},
		from{addr: "10.0.0.1:1", forwarded: "198.51.100.7, 203.0.113.1"}, // its own claim stands left
	)
	if diff := cmp.Diff([]int{200, 200, 429}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestThrottlesCountApart(t *testing.T) {
	t.Parallel()

	shared := throttle.Memory(0)
	for name, test := range map[string]struct {
		a, b rest.Throttle
		want int
	}{
		"two of a kind": {throttle.PerUser("1/min"), throttle.PerUser("1/min"), 200},
		"two scopes in one counter": {
			throttle.Scoped("a", "1/min", throttle.Count(shared)), throttle.Scoped("b", "1/min", throttle.Count(shared)), 200,
		},
		"two rates in one counter": {
			throttle.Scoped("c", "1/min", throttle.Count(shared)), throttle.Scoped("c", "1/hour", throttle.Count(shared)), 200,
		},
		"the same in one counter": {
			throttle.Scoped("d", "1/min", throttle.Count(shared)), throttle.Scoped("d", "1/60s", throttle.Count(shared)), 429,
		},
		"a name is more than the kind": {
			throttle.PerUser("1/min", throttle.Count(shared), throttle.Name("d2")),
			throttle.Scoped("d2", "1/min", throttle.Count(shared)), 429,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newAPI(shop{"/a": test.a, "/b": test.b})
			if got := get(api, "/a", ada).Code; got != http.StatusOK {
				t.Fatalf("/a: %d", got)
			}
			if got := get(api, "/b", ada).Code; got != test.want {
				t.Errorf("/b: %d, want %d", got, test.want)
			}
		})
	}
}

func TestAnswerSaysWhenToComeBack(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		api := newAPI(shop{"/a": throttle.Scoped("search", "2/min")})
		w := get(api, "/a", ada)
		wantHeader(t, w, "RateLimit-Policy", `"search";q=2;w=60`)
		wantHeader(t, w, "RateLimit", `"search";r=1;t=60`)
		pass(15 * time.Second)
		wantHeader(t, get(api, "/a", ada), "RateLimit", `"search";r=0;t=60`)
		pass(4500 * time.Millisecond)

		w = get(api, "/a", ada)
		if w.Code != http.StatusTooManyRequests {
			t.Fatalf("status %d, want 429", w.Code)
		}
		wantHeader(t, w, "Retry-After", "41")
		wantHeader(t, w, "RateLimit", `"search";r=0;t=56`)
		pass(41 * time.Second)
		if got := get(api, "/a", ada).Code; got != http.StatusOK {
			t.Errorf("after the wait the status is %d", got)
		}
	})
}

func wantHeader(t *testing.T, w *httptest.ResponseRecorder, name, want string) {
	t.Helper()
	if got := w.Header().Get(name); got != want {
		t.Errorf("%s: %s, want %s", name, got, want)
	}
}

func TestManyAtOnceOverHTTP(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(newAPI(shop{"/a": throttle.PerClient("20/hour")}))
	t.Cleanup(server.Close)
	var (
		allowed, refused atomic.Int64
		group            sync.WaitGroup
	)
	for range 8 {
		group.Go(func() {
			for range 10 {
				response, err := server.Client().Get(server.URL + "/a")
				if err != nil {
					t.Error(err)
					return
				}
				_ = response.Body.Close()
				switch response.StatusCode {
				case http.StatusOK:
					allowed.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				}
			}
		})
	}
	group.Wait()
	if allowed.Load() != 20 || refused.Load() != 60 {
		t.Errorf("%d allowed and %d refused, want 20 and 60", allowed.Load(), refused.Load())
	}
}

// broken is a counter that is away.
type broken struct{}

var errAway = errors.New("the counter is away")

func (broken) Take(context.Context, string, throttle.Rate) (throttle.State, error) {
	return throttle.State{}, errAway
}

func TestFaults(t *testing.T) {
	t.Parallel()

	if got := get(
		newAPI(shop{"/a": throttle.PerUser("1/min", throttle.Count(broken{}))}), "/a", ada,
	); got.Code != http.StatusServiceUnavailable {
		t.Errorf("a fault is answered %d, want 503", got.Code)
	}

	var reported error
	allow := throttle.PerUser("1/min", throttle.Count(broken{}), throttle.OnFault(throttle.Allow),
		throttle.Report(func(_ context.Context, err error) { reported = err }))
	if got := get(newAPI(shop{"/a": allow}), "/a", ada); got.Code != http.StatusOK || got.Header().Get("Ratelimit") != "" {
		t.Errorf("a fault that lets pass is answered %d with %q, want 200 and no limit", got.Code,
			got.Header().Get("Ratelimit"))
	}
	if !errors.Is(reported, errAway) {
		t.Errorf("reported %v, want the fault", reported)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()

	for name, build := range map[string]func(){
		"no rate":          func() { throttle.PerUser("") },
		"an odd rate":      func() { throttle.Global("5 per minute") },
		"no scope":         func() { throttle.Scoped("", "5/min") },
		"a scope of signs": func() { throttle.Scoped("a:b", "5/min") },
		"no key":           func() { throttle.By("a", "5/min", nil) },
		"an unknown fault": func() { throttle.PerUser("5/min", throttle.OnFault(7)) },
		"no parsed rate":   func() { throttle.MustParse("x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()

	api := newAPI(shop{"/loud": throttle.PerUser("1/min"), "/quiet": throttle.PerUser("1/min", throttle.Quiet())})
	for path, announced := range map[string]bool{"/loud": true, "/quiet": false} {
		for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
			w := get(api, path, ada)
			_, limit := w.Header()["Ratelimit"]
			_, policy := w.Header()["Ratelimit-Policy"]
			if w.Code != want || limit != announced || policy != announced {
				t.Errorf("%s: got %d with %v, want %d and fields: %t", path, w.Code, w.Header(), want, announced)
			}
			if refused := want == http.StatusTooManyRequests; refused != (w.Header().Get("Retry-After") != "") {
				t.Errorf("%s: Retry-After of %d is %q", path, w.Code, w.Header().Get("Retry-After"))
			}
		}
	}
}
