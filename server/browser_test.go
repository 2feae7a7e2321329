package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
)

func TestCORS(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{CORSOrigins: []string{"https://app.example.com"}})
	preflight := func(origin, path string) answer {
		return b.do(t, call{method: http.MethodOptions, path: path, header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization",
		}})
	}

	allowed := preflight("https://app.example.com", runPath)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "https://app.example.com",
		"Access-Control-Allow-Methods": "OPTIONS, POST",
		"Access-Control-Allow-Headers": "Authorization, Cache-Control, Content-Type, Idempotency-Key, Last-Event-ID",
		"Access-Control-Max-Age":       "600",
		"Allow":                        "OPTIONS, POST",
	} {
		if got := allowed.header.Get(name); allowed.status != http.StatusNoContent || got != want {
			t.Errorf("preflight: %d, %s: %q, want %q", allowed.status, name, got, want)
		}
	}
	if other := preflight("https://evil.example", runPath); other.header.Get("Access-Control-Allow-Origin") != "" ||
		other.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("preflight of another origin: %v", other.header)
	}

	for origin, want := range map[string]string{
		"https://app.example.com": "https://app.example.com", "https://evil.example": "", "null": "", "": "",
	} {
		got := b.do(t, call{
			method: http.MethodGet, path: threadsPath, token: tokenA, header: map[string]string{"Origin": origin},
		})
		if got.header.Get("Access-Control-Allow-Origin") != want || got.header.Get("Vary") != "Origin" {
			t.Errorf("origin %q: %v", origin, got.header)
		}
	}
	denied := b.do(t, call{
		method: http.MethodGet, path: threadsPath, header: map[string]string{"Origin": "https://app.example.com"},
	})
	if denied.status != http.StatusUnauthorized || denied.header.Get("Access-Control-Expose-Headers") == "" {
		t.Errorf("a page cannot read why it was refused: %d %v", denied.status, denied.header)
	}
}

func TestNoCORS(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	got := b.do(t, call{
		method: http.MethodGet, path: threadsPath, token: tokenA,
		header: map[string]string{"Origin": "https://app.example.com"},
	})
	if got.status != http.StatusOK || got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Vary") != "" {
		t.Errorf("got %d %v", got.status, got.header)
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{
		Insecure: true, Loopback: true, CORSOrigins: []string{"https://app.example.com", "http://localhost:5173"},
	})
	const body = `{"threadId":"none"}`
	for name, c := range map[string]struct {
		header map[string]string
		status int
	}{
		"Plain":         {nil, 409},
		"Localhost":     {map[string]string{"Host": "localhost:8080"}, 409},
		"Name":          {map[string]string{"Host": "spool.localhost"}, 409},
		"IPv6":          {map[string]string{"Host": "[::1]:8080"}, 409},
		"BareIPv6":      {map[string]string{"Host": "[::1]"}, 409},
		"Rebound":       {map[string]string{"Host": "evil.example:8080"}, 403},
		"ReboundIP":     {map[string]string{"Host": "192.168.1.7"}, 403},
		"Suffix":        {map[string]string{"Host": "localhost.evil.example"}, 403},
		"OwnOrigin":     {map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:8080"}, 409},
		"OwnIPv6":       {map[string]string{"Host": "[::1]:8080", "Origin": "http://[::1]:8080"}, 409},
		"DefaultPort":   {map[string]string{"Host": "localhost:80", "Origin": "http://localhost"}, 409},
		"OtherPort":     {map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:1"}, 403},
		"OtherName":     {map[string]string{"Host": "localhost:8080", "Origin": "http://127.0.0.1:8080"}, 403},
		"OtherScheme":   {map[string]string{"Host": "localhost:8080", "Origin": "https://localhost:8080"}, 403},
		"OriginPath":    {map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:8080/x"}, 403},
		"ListedPort":    {map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:5173"}, 409},
		"AllowedOrigin": {map[string]string{"Origin": "https://app.example.com"}, 409},
		"OtherOrigin":   {map[string]string{"Origin": "https://evil.example"}, 403},
		"NullOrigin":    {map[string]string{"Origin": "null"}, 403},
		"DevProxy": {
			map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:5174", "Sec-Fetch-Site": "same-origin"}, 409,
		},
		"DevProxySite": {
			map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:5174", "Sec-Fetch-Site": "same-site"}, 403,
		},
		"DevProxyCross": {
			map[string]string{"Host": "localhost:8080", "Origin": "http://localhost:5174", "Sec-Fetch-Site": "cross-site"}, 403,
		},
		"DevProxyOther": {
			map[string]string{"Host": "localhost:8080", "Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 403,
		},
		"DevProxyHost": {
			map[string]string{"Host": "evil.example", "Origin": "http://localhost:5174", "Sec-Fetch-Site": "same-origin"}, 403,
		},
		"Form":          {map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		"Text":          {map[string]string{"Content-Type": "text/plain"}, 415},
		"NoType":        {map[string]string{"Content-Type": ""}, 415},
		"Charset":       {map[string]string{"Content-Type": "application/json; charset=utf-8"}, 409},
		"Forwarded":     {map[string]string{"Forwarded": "for=192.0.2.1"}, 403},
		"ForwardedFor":  {map[string]string{"X-Forwarded-For": "192.0.2.1"}, 403},
		"ForwardedHost": {map[string]string{"X-Forwarded-Host": "agents.example"}, 403},
		"ForwardedSSL":  {map[string]string{"x-forwarded-ssl": "on"}, 403},
		"ForwardedBare": {map[string]string{"X-Forwarded": "for=192.0.2.1"}, 403},
		"ForwardedNone": {map[string]string{"X-Forwarded-For": ""}, 403},
		"RealIP":        {map[string]string{"X-Real-IP": "192.0.2.1"}, 403},
		"Via":           {map[string]string{"Via": "1.1 proxy"}, 403},
		"Cloudflare":    {map[string]string{"CF-Connecting-IP": "192.0.2.1"}, 403},
		"CloudflareRay": {map[string]string{"CF-Ray": "230b030023ae2822-SJC"}, 403},
		"ClientIP":      {map[string]string{"True-Client-IP": "192.0.2.1"}, 403},
		"CrossSite":     {map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"SameSite":      {map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		"UnknownSite":   {map[string]string{"Sec-Fetch-Site": "elsewhere"}, 403},
		"Typed":         {map[string]string{"Sec-Fetch-Site": "none"}, 409},
		"OwnSite":       {map[string]string{"Sec-Fetch-Site": "same-origin"}, 409},
		"AllowedSite":   {map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example.com"}, 409},
		"JSONSuffix":    {map[string]string{"Content-Type": "application/cloudevents+json"}, 409},
	} {
		got := b.do(t, call{method: http.MethodPost, path: controlPath, body: body, header: c.header})
		if got.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, got.status, got.body, c.status)
		}
	}
	linked := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
	for path, want := range map[string]int{"/docs": 200, threadsPath: 403, historyPath + "?threadId=t1": 403} {
		if got := b.do(t, call{method: http.MethodGet, path: path, header: linked}); got.status != want {
			t.Errorf("a link to %s: %d %s", path, got.status, got.body)
		}
	}
}

// The error of a refused page names its origin and what allows it. The log says so once for each
// origin, also of a preflight, whose answer no browser shows.
func TestRefusedOrigin(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]server.Config{
		"Loopback": {Insecure: true, Loopback: true},
		"Cookies":  {Authenticator: cookies, CookieAuth: true},
	} {
		b := setup(t, c)
		for _, origin := range []string{"http://localhost:5173", "http://localhost:5173", "http://localhost:3000"} {
			got := b.do(t, call{
				method: http.MethodPost, path: controlPath, body: `{}`, header: map[string]string{"Origin": origin},
			})
			want := `{"error":"pages of the origin ` + origin +
				` may not use this server: if they should, add it to cors.origins, ` +
				`or start spool serve with --cors-origin ` + origin + `","code":"forbidden"}`
			if got.status != http.StatusForbidden || got.body != want {
				t.Errorf("%s: %d %s, want %s", name, got.status, got.body, want)
			}
		}
		log := b.logged.String()
		if strings.Count(log, "origin=http://localhost:5173 ") != 1 ||
			strings.Count(log, "origin=http://localhost:3000 ") != 1 ||
			!strings.Contains(log, `allow="cors.origins, or --cors-origin http://localhost:3000"`) {
			t.Errorf("%s: the log says\n%s", name, log)
		}
	}

	b := setup(t, server.Config{})
	for range 2 {
		b.do(t, call{method: http.MethodOptions, path: runPath, header: map[string]string{
			"Origin": "http://localhost:5173", "Access-Control-Request-Method": "POST",
		}})
	}
	if log := b.logged.String(); strings.Count(log, "origin=http://localhost:5173 ") != 1 {
		t.Errorf("the log says of a preflight\n%s", log)
	}
}

// What anybody can make up is neither repeated in full nor logged without a bound.
func TestRefusedOrigins(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{Insecure: true, Loopback: true})
	for i := range 100 {
		origin := "https://" + strings.Repeat("a", 5000) + strconv.Itoa(i)
		if i > 0 {
			origin = "https://" + strconv.Itoa(i) + ".example"
		}
		got := b.do(t, call{method: http.MethodGet, path: threadsPath, header: map[string]string{"Origin": origin}})
		if got.status != http.StatusForbidden || len(got.body) > 400 {
			t.Errorf("%d: %d, %d bytes", i, got.status, len(got.body))
		}
	}
	if lines := strings.Count(b.logged.String(), "\n"); lines != 64 {
		t.Errorf("the log has %d lines", lines)
	}
	b = setup(t, server.Config{Insecure: true, Loopback: true})
	null := b.do(t, call{method: http.MethodGet, path: threadsPath, header: map[string]string{"Origin": "null"}})
	if null.body != `{"error":"pages of the origin null may not use this server","code":"forbidden"}` {
		t.Errorf("null: %s", null.body)
	}
	if log := b.logged.String(); !strings.Contains(log, "origin=null") || strings.Contains(log, "--cors-origin") {
		t.Errorf("the log advises what no flag takes:\n%s", log)
	}
}

// Browsers leave the port out that a scheme has anyway.
func TestCORSDefaultPort(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{
		CORSOrigins: []string{"https://app.example.com:443", "http://App.example.com:80", "https://other.example.com:80"},
	})
	for origin, want := range map[string]string{
		"https://app.example.com": "https://app.example.com", "http://app.example.com": "http://app.example.com",
		"https://other.example.com": "", "https://other.example.com:80": "https://other.example.com:80",
	} {
		got := b.do(t, call{
			method: http.MethodGet, path: threadsPath, token: tokenA, header: map[string]string{"Origin": origin},
		})
		if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != want {
			t.Errorf("origin %q: %q, want %q", origin, allowed, want)
		}
	}
}

func TestCORSCredentialsAndHeaders(t *testing.T) {
	t.Parallel()

	const origin = "https://app.example.com"
	b := setup(t, server.Config{
		CORSOrigins: []string{origin}, CORSAllowCredentials: true,
		CORSAllowHeaders: []string{"X-Tenant", "content-type"}, CORSExposeHeaders: []string{"X-Request-ID"},
	})
	allowed := b.do(t, call{method: http.MethodOptions, path: runPath, header: map[string]string{
		"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-tenant",
	}})
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":      origin,
		"Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Headers":     "Authorization, Cache-Control, Content-Type, Idempotency-Key, Last-Event-ID, X-Tenant",
		"Access-Control-Expose-Headers":    "Retry-After, WWW-Authenticate, X-Spool-Warning, X-Request-ID",
	} {
		if got := allowed.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, c := range map[string]server.Config{
		"All":     {CORSOrigins: []string{"*"}, CORSAllowCredentials: true},
		"Headers": {CORSAllowHeaders: []string{"*, X"}},
		"Exposed": {CORSExposeHeaders: []string{""}},
	} {
		c.Authenticator = twoTenants(t)
		if _, err := server.New(b.engine, c); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
