package command

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
)

// scraped returns the answer to GET /metrics of a guard.
func scraped(t *testing.T, m metricsAccess, host string, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	r.Host, r.Header["Authorization"] = host, authorization
	w := httptest.NewRecorder()
	m.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
	return w
}

// Without a token, a page whose name points at the server reads nothing.
func TestMetricsHost(t *testing.T) {
	t.Parallel()

	type hosts map[string]int
	for name, c := range map[string]struct {
		address, names string
		hosts          hosts
	}{
		"Loopback": {"127.0.0.1:9464", "", hosts{
			"localhost:9464": 200, "127.0.0.1:9464": 200, "[::1]:9464": 200, "LOCALHOST.": 200, "a.localhost:9464": 200,
			"127.9.9.9": 200, "evil.example": 403, "evil.example:9464": 403, "127.0.0.1.evil.example": 403,
			"localhost.evil.example": 403, "": 403, "10.0.0.5:9464": 403, "0.0.0.0:9464": 403, "spool:9464": 403,
			"evillocalhost": 403,
		}},
		"Named": {"localhost:9464", "Metrics.Example, other.example.", hosts{
			"metrics.example:9464": 200, "other.example": 200, "METRICS.example.": 200, "localhost": 200, "evil.example": 403,
			"x.metrics.example": 403,
		}},
		"Everywhere": {":9464", "", hosts{
			"10.0.0.5:9464": 200, "[fd00::5]:9464": 200, "spool:9464": 200, "localhost:9464": 200,
			"evil.example:9464": 403, "spool.monitoring.svc:9464": 403, "": 403,
		}},
		"EverywhereNamed": {"0.0.0.0:9464", "spool.monitoring.svc", hosts{"spool.monitoring.svc:9464": 200, "evil.svc": 403}},
	} {
		m, err := readMetricsAccess(c.address, c.names, func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		for host, want := range c.hosts {
			if got := scraped(t, m, host); got.Code != want {
				t.Errorf("%s, Host %q: %d, want %d", name, host, got.Code, want)
			}
		}
	}
}

// A proxy in front of a port of this machine publishes no metrics, as it does not publish the API.
func TestMetricsBehindProxy(t *testing.T) {
	t.Parallel()

	const token = "token-of-the-metrics"
	for name, c := range map[string]struct {
		address, names, token string
		want                  int
	}{
		"Loopback":      {"127.0.0.1:9464", "", "", http.StatusForbidden},
		"LoopbackNamed": {"127.0.0.1:9464", "metrics.example", "", http.StatusOK},
		"Token":         {"127.0.0.1:9464", "", token, http.StatusOK},
		"Everywhere":    {":9464", "", "", http.StatusOK},
	} {
		m, err := readMetricsAccess(c.address, c.names, func(string) (string, bool) { return c.token, c.token != "" })
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range []string{
			"X-Forwarded-For", "X-Forwarded", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP",
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
			r.Host = "127.0.0.1:9464" // of nginx, unless it is told otherwise
			r.Header.Set(header, "203.0.113.9")
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			m.guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%s, %s: %d, want %d", name, header, w.Code, c.want)
			}
		}
	}
}

// With a token, whoever has it reads the metrics by any name, and nobody else does.
func TestMetricsToken(t *testing.T) {
	t.Parallel()

	const token = "token-of-the-metrics"
	m, err := readMetricsAccess("127.0.0.1:9464", "", func(string) (string, bool) { return token, true })
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		given []string
		want  int
	}{
		"Right":  {[]string{"Bearer " + token}, 200},
		"Lower":  {[]string{"bearer  " + token}, 200},
		"None":   {nil, 401},
		"Empty":  {[]string{""}, 401},
		"Wrong":  {[]string{"Bearer another-one-of-the-length"}, 401},
		"Longer": {[]string{"Bearer " + token + "x"}, 401},
		"Scheme": {[]string{"Basic " + token}, 401},
		"Bare":   {[]string{token}, 401},
		"Twice":  {[]string{"Bearer " + token, "Bearer " + token}, 401},
	} {
		for _, host := range []string{"localhost:9464", "evil.example"} {
			got := scraped(t, m, host, c.given...)
			if got.Code != c.want || (got.Header().Get("WWW-Authenticate") != "") != (c.want == 401) {
				t.Errorf("%s at %s: %d %v", name, host, got.Code, got.Header())
			}
		}
	}
}

// The token and the guard are there on the port that the process opens.
func TestMetricsOfAProcess(t *testing.T) {
	t.Parallel()

	const token = "token-of-the-metrics"
	for env, want := range map[string]map[string]int{"": {"": 200, token: 200}, token: {"": 401, token: 200}} {
		p := startWith(t, []string{"SPOOL_METRICS_TOKEN=" + env}, t.TempDir(), "--metrics-addr", "127.0.0.1:0")
		at := regexp.MustCompile(`metrics (http://\S+)/metrics`).FindStringSubmatch(p.banner)
		if at == nil || regexp.MustCompile(token).MatchString(p.banner) {
			t.Fatalf("the banner:\n%s", p.banner)
		}
		for given, status := range want {
			if got := (&process{url: at[1]}).with(t, given, "/metrics"); got != status {
				t.Errorf("token %q, given %q: %d, want %d", env, given, got, status)
			}
		}
		r, err := http.NewRequestWithContext(patiently(t), http.MethodGet, at[1]+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			t.Errorf("token %q: a page reads the metrics", env)
		}
	}
}
