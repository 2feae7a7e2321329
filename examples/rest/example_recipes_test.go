package main_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

// protectDocs asks for a password before the page and the document.
func protectDocs(user, password string) rest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/openapi.json" || r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/") {
				u, p, _ := r.BasicAuth()
				if right := auth.Equal(u, user); !auth.Equal(p, password) || !right {
					w.Header().Set("WWW-Authenticate", `Basic realm="docs"`)
					http.Error(w, "The docs need a password.", http.StatusUnauthorized)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func Example_protectedDocs() {
	api := rest.New(silent(), rest.Use(protectDocs("dev", "a password")))
	api.Register(Shop{})

	status := func(target, password string) int {
		r := get(target)
		if password != "" {
			r.header = map[string]string{"Authorization": "Basic " + password}
		}
		return send(api, r).Code
	}
	const right = "ZGV2OmEgcGFzc3dvcmQ=" // dev:a password
	fmt.Println(status("/docs", ""), status("/%64ocs", ""), status("/openapi.json", ""), status("/openapi.json", "eDp5"))
	fmt.Println(status("/docs", right), status("/openapi.json", right), status("/books", ""))

	// Output:
	// 401 401 401 401
	// 200 200 200
}

// cors lets pages of other origins call the API.
func cors(origins ...string) rest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			origin, h := r.Header.Get("Origin"), w.Header()
			h.Add("Vary", "Origin")
			if !slices.Contains(origins, origin) {
				next.ServeHTTP(w, r)
				return
			}
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "ETag, Location, Link, RateLimit")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func Example_cors() {
	api := rest.New(silent(), rest.Use(cors("https://app.example")))
	api.Register(Shop{})

	ask := func(method, origin string) {
		w := send(api, request{
			method: method, target: "/books",
			header: map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST"},
		})
		fmt.Println(method, origin, w.Code, w.Header().Get("Access-Control-Allow-Origin"))
	}
	ask(http.MethodOptions, "https://app.example")
	ask(http.MethodGet, "https://app.example")
	ask(http.MethodGet, "https://evil.example")

	// Output:
	// OPTIONS https://app.example 204 https://app.example
	// GET https://app.example 200 https://app.example
	// GET https://evil.example 200
}

// requests counts answers by route, method and status.
type requests struct {
	mu    sync.Mutex
	count map[string]int
}

// middleware counts. The pattern of the route is known after the call.
func (m *requests) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)

		m.mu.Lock()
		defer m.mu.Unlock()
		m.count[fmt.Sprintf("http_requests_total{route=%q,status=\"%d\"}", r.Pattern, seen.status)]++
	})
}

// statusWriter remembers the status. Unwrap keeps streams able to flush.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func Example_metrics() {
	m := &requests{count: map[string]int{}}
	api := rest.New(silent(), rest.Use(m.middleware))
	api.Register(&Books{map[int64]Book{1: books()[0]}})
	for _, target := range []string{"/books/1", "/books/1?x=1", "/books/2", "/nowhere/7"} {
		send(api, get(target))
	}
	lines := []string{}
	for line, n := range m.count {
		lines = append(lines, fmt.Sprint(line, " ", n))
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))

	// Output:
	// http_requests_total{route="",status="404"} 1
	// http_requests_total{route="GET /books/{id}",status="200"} 2
	// http_requests_total{route="GET /books/{id}",status="404"} 1
}
