package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// wire sends a request line as it is over a real connection.
func wire(t *testing.T, address, method, target string) (status int, header http.Header, text string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(
		conn, method+" "+target+" HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n",
	); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

func slashes(r *rest.Routes) {
	rest.Post(r, "/create/", handle("created"))
	rest.Get(r, "/create/", handle("create"))
	rest.Get(r, "/books", handle("books"))
	rest.Get(r, "/books/{int:id}", func(_ context.Context, in intID) (int64, error) { return in.ID, nil })
	rest.Get(r, "/tags/{s}/", named("tag", func(in slug) string { return in.S }))
	rest.Get(r, "/names/{s}", named("name", func(in slug) string { return in.S }))
	rest.Get(r, "/files/{path:rest}", named("file", func(in restOf) string { return in.Rest }))
}

// What is written in another way than a route is leads to it, by a relative address, and
// nothing is answered by net/http in its own words.
func TestSlashes(t *testing.T) {
	t.Parallel()

	lax, strict := listen(t, serve(slashes)), listen(t, serve(slashes, rest.StrictSlashes()))
	below := listen(t, http.StripPrefix("/below", serve(slashes)))
	for _, c := range []struct{ method, target, location string }{
		{"GET", "/create", "./create/"},
		{"POST", "/create", "./create/"},
		{"PUT", "/create", "./create/"},
		{"GET", "/create?q=1&r=a%20b", "./create/?q=1&r=a%20b"},
		{"GET", "/books/", "../books"},
		{"GET", "/books///", "../../../books"},
		{"GET", "/books/7/", "../7"},
		{"GET", "//books", "../books"},
		{"GET", "//books//7/?x=//evil.example", "../../../../books/7?x=//evil.example"},
		{"GET", "/./books/../books/7", "./7"},
		{"GET", "/x/%2e%2e/books", "../../books"},
		{"GET", "/../../books", "./books"},
		{"GET", "/tags/a%2Fb", "./a%2Fb/"},
		{"GET", "/tags/a:b", "./a:b/"},
		{"GET", "/tags/%5C%5Cevil.example", "./%5C%5Cevil.example/"},
		{"GET", "/files", "./files/"},
		{"GET", "/files/a/../b", "./b"},
		{"GET", "/files/a/%2E%2E", "../"},
	} {
		status, header, text := wire(t, lax, c.method, c.target)
		wantDiff(t, c.method+" "+c.target, []any{308, c.location, ""}, []any{status, header.Get("Location"), text})
		to, err := url.Parse("http://shop.example" + c.target)
		if err == nil {
			to, err = to.Parse(c.location)
		}
		if err != nil || to.Host != "shop.example" {
			t.Fatalf("%s leads to %v, %v", c.target, to, err)
		}
		if status, _, text := wire(t, lax, "GET", to.RequestURI()); status != 200 {
			t.Errorf("%s leads to %s: %d %s", c.target, to, status, text)
		}

		status, header, text = wire(t, strict, c.method, c.target)
		if status != 404 || header.Get("Content-Type") != "application/problem+json" || header.Get("Location") != "" {
			t.Errorf("strict: %s: %d %v %s", c.target, status, header, text)
		}

		if status, header, _ = wire(t, below, c.method, "/below"+c.target); status != 308 ||
			header.Get("Location") != c.location {
			t.Errorf("below: %s: %d %v", c.target, status, header)
		}
	}
}

// A route for any path takes what a more special one does not convert, and leaves a method that
// it has not got to the path that is meant.
func TestSlashesBesideAnyPath(t *testing.T) {
	t.Parallel()

	routes := func(r *rest.Routes) {
		rest.Get(r, "/books/{int:id}", func(context.Context, intID) (string, error) { return "book", nil })
		rest.Get(r, "/{path:rest}", func(context.Context, restOf) (string, error) { return "any", nil })
		rest.Post(r, "/create/", handle("created"))
	}
	lax, strict := serve(routes), serve(routes, rest.StrictSlashes())
	for _, c := range []struct {
		method, target string
		lax, strict    string
	}{
		{"GET", "/books/7", `200 "book"`, `200 "book"`},
		{"GET", "/books/x", `200 "any"`, `200 "any"`},
		{"HEAD", "/books/x", `200 "any"`, `200 "any"`},
		{"POST", "/create/", `200 "created"`, `200 "created"`},
		{"POST", "/create", "308 ./create/", "405 GET, HEAD, OPTIONS"},
		{"POST", "//create", "308 ../create/", "405 GET, HEAD, OPTIONS"},
		{"PUT", "/create", "405 GET, HEAD, OPTIONS", "405 GET, HEAD, OPTIONS"},
		{"GET", "/create", `200 "any"`, `200 "any"`},
	} {
		for want, api := range map[string]http.Handler{"lax " + c.lax: lax, "strict " + c.strict: strict} {
			mode, _, _ := strings.Cut(want, " ")
			w := recorded(api, requestOf(t, c.method, c.target))
			text := w.Header().Get("Allow") + w.Header().Get("Location")
			if text == "" {
				text = strings.TrimSpace(w.Body.String())
			}
			wantDiff(t, c.method+" "+c.target, want, fmt.Sprintf("%s %d %s", mode, w.Code, text))
		}
	}
}

// What a parameter takes arrives as it was sent.
func TestSlashesInParameters(t *testing.T) {
	t.Parallel()

	for _, api := range []string{listen(t, serve(slashes)), listen(t, serve(slashes, rest.StrictSlashes()))} {
		for target, want := range map[string]string{
			"/files/a//b":           `"file a//b"`,
			"/files//a///b/":        `"file /a///b/"`,
			"/files/":               `"file "`,
			"/files//":              `"file /"`,
			"/files/a%2Fb/c":        `"file a/b/c"`,
			"/files/%2F%2Fa":        `"file //a"`,
			"/files/a..b/.c/d./..e": `"file a..b/.c/d./..e"`,
			"/files/..%2Fa":         `"file ../a"`,
			"/files/%252e%252e":     `"file %2e%2e"`,
			"/names/%2F":            `"name /"`,
			"/names/a%2Fb":          `"name a/b"`,
			"/names/...":            `"name ..."`,
			"/%62ooks/%37":          `7`,
		} {
			if status, _, text := wire(t, api, "GET", target); status != 200 || strings.TrimSpace(text) != want {
				t.Errorf("%s: %d %s, want %s", target, status, text, want)
			}
		}
	}
}

// No page and no text of net/http comes out of an API, however it is asked.
func TestNothingOfNetHTTP(t *testing.T) {
	t.Parallel()

	for name, api := range map[string]string{
		"Lax": listen(t, serve(slashes)), "Strict": listen(t, serve(slashes, rest.StrictSlashes())),
		"Base": listen(t, serve(slashes, rest.BasePath("/v1"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS", "CONNECT", "TRACE", "BREW"} {
				for _, target := range []string{
					"/", "//", "///x", "/./", "/..", "/x/..", "*", "/nowhere", "/nowhere/", "/create", "/books//", "/books/7//",
					"/books/x", "/names//", "/names/%2e", "/tags//x", "//evil.example/", "/%2F%2Fevil.example", "/books/../..//",
					"/docs", "/docs/", "/docs/x", "/docs/assets/x/y", "/openapi.json/", "/v1", "/v1/", "/v1//books",
					"/v1/docs/assets/x/y", "/v1x", "shop.example:443", "http://evil.example/books", "http://evil.example/books/",
					"http://evil.example",
				} {
					if method == "CONNECT" && strings.HasPrefix(target, "http:") ||
						target == "shop.example:443" && method != "CONNECT" || target == "*" && method == "CONNECT" {
						continue // net/http does not read it
					}
					status, header, text := wire(t, api, method, target)
					kind := header.Get("Content-Type")
					// our own
					page := status == 200 && strings.HasPrefix(kind, "text/html") && strings.Contains(text+method, "swagger")
					json := strings.Contains(kind, "json") &&
						(strings.HasPrefix(text, "{") || strings.HasPrefix(text, `"`) || method == "HEAD" || status == 200)
					if !page && !json && (text != "" || kind != "" && method != "HEAD") {
						t.Errorf("%s %s: %d %s: %s", method, target, status, kind, text)
					}
					if to := header.Get("Location"); to != "" && !strings.HasPrefix(to, ".") {
						t.Errorf("%s %s leads to %s", method, target, to)
					}
				}
			}
		})
	}
}

// A file that cannot be sent as it was asked for is refused in the API's form.
func TestFileRangeIsRefusedInForm(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/file", func(context.Context, struct{}) (*rest.File, error) {
			return &rest.File{Name: "a.txt", Content: strings.NewReader("text")}, nil
		})
	})
	r := requestOf(t, http.MethodGet, "/file")
	r.Header.Set("Range", "bytes=9-")
	w := recorded(api, r)
	got := []any{
		w.Code, w.Header().Get("Content-Type"), w.Header().Get("Content-Range"),
		strings.Contains(w.Body.String(), `"status":416`),
	}
	wantDiff(t, "a range beyond the end", []any{416, "application/problem+json", "bytes */4", true}, got)
	if strings.Contains(w.Body.String(), "overlap") {
		t.Error(w.Body)
	}
}
