package docsui_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest/internal/docsui"
)

func TestHeaders(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for _, target := range []string{"/docs", "/docs/", "/docs/assets/init.js", "/docs/none"} {
		r := ask(t, h, http.MethodGet, target)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
			"Referrer-Policy":         "no-referrer",
			"X-Content-Type-Options":  "nosniff",
		} {
			if got := r.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", target, name, got, want)
			}
		}
	}
	if got := ask(t, h, http.MethodGet, "/docs").Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the page may be kept: %q", got)
	}
}

func TestPolicyAllowsTheDocument(t *testing.T) {
	t.Parallel()

	for spec, want := range map[string]string{
		"openapi.json":                        "; connect-src 'self'; ",
		"/openapi.json":                       "; connect-src 'self'; ",
		"https://example.com:8443/a.json?b#c": "; connect-src 'self' https://example.com:8443; ",
		"http://[::1]:8080/a.json":            "; connect-src 'self' http://[::1]:8080; ",
		"//example.com/a.json":                "; connect-src 'self' example.com; ",
	} {
		got := ask(t, docsui.Page("/docs", spec, "Books", http.NotFound), http.MethodGet,
			"/docs").Header().Get("Content-Security-Policy")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q has no %q", spec, got, want)
		}
	}
}

// The page has nothing that its policy would refuse: no script or style of its own, and
// nothing from elsewhere.
func TestPageIsSelfContained(t *testing.T) {
	t.Parallel()

	h := docsui.Page("/docs", "openapi.json", "Books", http.NotFound)
	for _, target := range []string{"/docs", "/docs/"} {
		content := ask(t, h, http.MethodGet, target).Body.String()
		for name, pattern := range map[string]string{
			"address elsewhere": `https?:|"//`,
			"inline script":     `<script[^>]*>[^<]`,
			"script by event":   `\son[a-z]+=`,
			"inline style":      `<style|\sstyle=`,
		} {
			if found := regexp.MustCompile(pattern).FindString(content); found != "" {
				t.Errorf("%s has an %s: %s", target, name, found)
			}
		}
	}
}

func TestPageEscapes(t *testing.T) {
	t.Parallel()

	const attack = `</title><script>alert("1")</script>'&`
	h := docsui.Page(`/docs"><script>`, `/a"><script>b.json?c=<&d="`, attack, http.NotFound)
	content := ask(t, h, http.MethodGet, `/docs%22%3e%3cscript%3e`).Body.String()
	if strings.Count(content, "<script") != 2 {
		t.Errorf("the page gained a script: %s", content)
	}
	for _, want := range []string{
		`<title>&lt;/title&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&#39;&amp;</title>`,
		`data-spec="/a%22%3E%3Cscript%3Eb.json?c=&lt;&amp;d=&#34;"`,
		`src="./docs%22%3E%3Cscript%3E/assets/`,
	} {
		if !strings.Contains(content, want) {
			t.Errorf("no %s in %s", want, content)
		}
	}
}

func TestPageRefusesAddress(t *testing.T) {
	t.Parallel()

	for _, spec := range []string{
		"", "javascript:alert(1)", "data:,{}", "file:///etc/passwd", "https:", "https:openapi.json", "https://[",
		"http://a:b@example.com/", "//a;script-src/", "\x00",
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()

			defer func() {
				message, _ := recover().(string)
				if !strings.HasPrefix(message, `docs page "/docs": `) {
					t.Errorf("panicked with %q, which does not name the page", message)
				}
			}()
			docsui.Page("/docs", spec, "Books", http.NotFound)
		})
	}
}
