package page_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest/page"
)

func TestLinks(t *testing.T) {
	t.Parallel()

	set := func(l page.Links) page.Links { return l.With("page", "3") }
	drop := func(l page.Links) page.Links { return l.Without("page") }

	for name, test := range map[string]struct {
		base, address string
		change        func(page.Links) page.Links
		want          string
	}{
		"added at the end":          {"", "/books?q=go", set, "/books?q=go&page=3"},
		"without a query":           {"", "/books", set, "/books?page=3"},
		"in its place":              {"", "/books?z=1&page=2&a=2", set, "/books?z=1&page=3&a=2"},
		"repeated once":             {"", "/books?page=2&a=1&page=9", set, "/books?page=3&a=1"},
		"an escaped name":           {"", "/books?p%61ge=2", set, "/books?page=3"},
		"left out":                  {"", "/books?page=2&a=1&page=9", drop, "/books?a=1"},
		"the last one left out":     {"", "/books?page=2", drop, "/books"},
		"order and repetition kept": {"", "/books?b=2&a=1&b=1", set, "/books?b=2&a=1&b=1&page=3"},
		"without a value":           {"", "/books?flag&empty=", set, "/books?flag&empty=&page=3"},
		"empty parts dropped":       {"", "/books?&&a=1&", set, "/books?a=1&page=3"},
		"values encoded":            {"", "/books?q=a%26b%3Dc%20d+e%C3%A9", set, "/books?q=a%26b%3Dc+d+e%C3%A9&page=3"},
		"semicolon is a character":  {"", "/books?q=a;b", set, "/books?q=a%3Bb&page=3"},
		"malformed dropped":         {"", "/books?q=%zz&%zz=1&a=1", set, "/books?a=1&page=3"},
		"credentials left out":      {"", "/books?key=secret&a=1&key=x", set, "/books?a=1&page=3"},
		"escaped credentials":       {"", "/books?%6bey=secret&a=1", set, "/books?a=1&page=3"},
		"credentials by exact name": {"", "/books?Key=1&keys=2", set, "/books?Key=1&keys=2&page=3"},
		"path stays encoded":        {"", "/a%2Fb/c%20d?x=1", set, "/a%2Fb/c%20d?x=1&page=3"},
		"path is no host":           {"", "//evil.example/books", set, "/evil.example/books?page=3"},
		"path has no backslash":     {"", "/\\evil.example/books", set, "/%5Cevil.example/books?page=3"},
		"base":                      {"https://api.example", "/books", set, "https://api.example/books?page=3"},
		"base with slash":           {"https://api.example/", "/books", set, "https://api.example/books?page=3"},
		"base with path":            {"https://api.example/v1", "/books", set, "https://api.example/v1/books?page=3"},
		"base is a path":            {"/v1", "/books", set, "/v1/books?page=3"},
		"base before two slashes":   {"https://api.example", "//x/books", set, "https://api.example//x/books?page=3"},
		"nothing changed":           {"", "/books?a=1", func(l page.Links) page.Links { return l }, "/books?a=1"},
		"the later change counts": {
			"", "/books?page=1", func(l page.Links) page.Links { return set(drop(l)) }, "/books?page=3",
		},
		"the later change counts (2)": {"", "/books?page=1", func(l page.Links) page.Links { return drop(set(l)) }, "/books"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path, rawQuery, _ := strings.Cut(test.address, "?")
			unescaped, err := url.PathUnescape(path)
			if err != nil {
				t.Fatal(err)
			}
			u := &url.URL{Path: unescaped, RawPath: path, RawQuery: rawQuery}

			links := test.change(page.NewLinks(test.base, u, []string{"key"}))
			if got := links.String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if again := links.String(); again != test.want {
				t.Errorf("got %s the second time, want %s", again, test.want)
			}
		})
	}
}

func TestLinksAreValues(t *testing.T) {
	t.Parallel()

	base := page.NewLinks("", &url.URL{Path: "/books"}, nil).With("a", "1")
	one, two := base.With("page", "1"), base.With("page", "2")

	if got, want := one.String(), "/books?a=1&page=1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := two.String(), "/books?a=1&page=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := base.String(), "/books?a=1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The host of a request is the client's word, and never comes back to it.
func TestLinksIgnoreHost(t *testing.T) {
	t.Parallel()

	r := httptest.NewRequest(http.MethodGet, "http://evil.example/books?page=2", nil)
	r.Header.Set("X-Forwarded-Host", "evil.example")
	links := page.NewLinks("", r.URL, nil)

	if got, want := links.String(), "/books?page=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An address is between angle brackets in a Link header, and has to stay there.
func TestLinksInHeader(t *testing.T) {
	t.Parallel()

	u := &url.URL{Path: "/a>b\r\nX: 1", RawQuery: "q=>;rel=\"x\"\r\nSet-Cookie: a=b&é=ü"}
	got := page.NewLinks("", u, nil).String()

	for _, c := range got {
		if c <= ' ' || c >= 0x7f || strings.ContainsRune(`<>"\`, c) {
			t.Errorf("%s has %q", got, c)
		}
	}
}

func TestCheckBase(t *testing.T) {
	t.Parallel()

	for base, ok := range map[string]bool{
		"":                            true,
		"https://api.example":         true,
		"http://127.0.0.1:8080/":      true,
		"https://api.example/v1":      true,
		"/v1":                         true,
		"api.example":                 false,
		"//api.example":               false,
		"ftp://api.example":           false,
		"javascript:alert(1)":         false,
		"https://user:pw@api.example": false,
		"https://api.example?a=1":     false,
		"https://api.example?":        false,
		"https://api.example#a":       false,
		"https://api.example#":        false,
		"https://":                    false,
		"https://api.example\r\nX: 1": false,
	} {
		if err := page.CheckBase(base); (err == nil) != ok {
			t.Errorf("CheckBase(%q) = %v, want ok %v", base, err, ok)
		}
	}
}

func FuzzLinks(f *testing.F) {
	f.Add("/books", "a=1&page=2&key=3", "page", "7")
	f.Add("//books", "%zz&&=&key", "", "")
	f.Fuzz(func(t *testing.T, path, rawQuery, name, value string) {
		links := page.NewLinks("", &url.URL{Path: path, RawQuery: rawQuery}, []string{"key"})
		if name == "key" {
			return // nobody sets a credential
		}
		text := links.With(name, value).String()

		u, err := url.Parse(text)
		if err != nil {
			t.Fatalf("%q cannot be read: %v", text, err)
		}
		if u.Host != "" || u.Scheme != "" || !strings.HasPrefix(text, "/") {
			t.Errorf("%q leads to another host", text)
		}
		got, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			t.Fatalf("%q has a query that cannot be read: %v", text, err)
		}
		if got.Has("key") {
			t.Errorf("%q has credentials", text)
		}
		if values := got[name]; len(values) != 1 || values[0] != value {
			t.Errorf("%q has %q as %q, want %q once", text, name, values, value)
		}
	})
}
