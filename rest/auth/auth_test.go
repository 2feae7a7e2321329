package auth_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

// whoami answers who asks.
type whoami struct{}

func (whoami) Routes(r *rest.Routes) {
	me := func(ctx context.Context, _ struct{}) (string, error) {
		if p := rest.PrincipalOf(ctx); p != nil {
			return p.PrincipalID(), nil
		}
		return "nobody", nil
	}
	rest.Handle(r, []string{http.MethodGet, http.MethodPost}, "/me", me)
}

func newAPI(a ...rest.Authenticator) *rest.API {
	api := rest.New(rest.Auth(a...))
	api.Register(whoami{})
	return api
}

// answer is what a request got: who it was, or the status and code, and the challenge.
type answer struct {
	Who       string
	Status    int
	Code      string
	Challenge []string
}

func send(t *testing.T, api http.Handler, r *http.Request) answer {
	t.Helper()
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		var who string
		if err := json.Unmarshal(w.Body.Bytes(), &who); err != nil {
			t.Fatal(err)
		}
		return answer{Who: who, Status: w.Code}
	}
	var problem struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return answer{Status: w.Code, Code: problem.Code, Challenge: w.Header().Values("WWW-Authenticate")}
}

// ledger is a lookup that keeps what it was asked.
type ledger struct{ asked []string }

var (
	ada     = &rest.User{ID: "ada"}
	errAway = errors.New("the database is away")
)

func (l *ledger) find(_ context.Context, key string) (*rest.User, error) {
	l.asked = append(l.asked, key)
	switch key {
	case "s3cret", "s3 cret&", "YWRh":
		return ada, nil
	case "nil":
		return nil, nil //nolint:nilnil // a wrong key
	case "broken":
		return ada, errAway
	case "bad":
		return nil, errors.Join(rest.ErrBadCredentials)
	case "none":
		return nil, rest.ErrNoCredentials
	case "locked":
		return nil, rest.Errorf(http.StatusLocked, "the account is locked")
	default:
		return nil, rest.ErrBadCredentials
	}
}

// outcomes of a route whose second authenticator is rest.Anonymous: only who sends no
// credentials at all is let through.
const (
	isAda    = "ada"
	isNobody = "nobody"
	isBad    = "401"
	isBroken = "500"
	isLocked = "423"
)

func outcome(a answer) string {
	if a.Status == http.StatusOK {
		return a.Who
	}
	return http.StatusText(a.Status)
}

func want(status string) string {
	switch status {
	case isBad:
		return http.StatusText(http.StatusUnauthorized)
	case isBroken:
		return http.StatusText(http.StatusInternalServerError)
	case isLocked:
		return http.StatusText(http.StatusLocked)
	default:
		return status
	}
}

// request is a case: what is sent, what comes back, and what was looked up.
type request struct {
	name   string
	target string
	header http.Header
	want   string
	asked  []string
}

func run(t *testing.T, build func(*ledger) rest.Authenticator, requests []request) {
	t.Helper()
	for _, test := range requests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := &ledger{}
			api := newAPI(build(l), rest.Anonymous)
			r := httptest.NewRequest(http.MethodGet, "/me"+test.target, nil)
			maps.Copy(r.Header, test.header)
			if got := outcome(send(t, api, r)); got != want(test.want) {
				t.Errorf("got %s, want %s", got, want(test.want))
			}
			if diff := cmp.Diff(test.asked, l.asked); diff != "" {
				t.Errorf("looked up (-want +got):\n%s", diff)
			}
		})
	}
}

func header(name string, values ...string) http.Header { return http.Header{name: values} }

func TestAPIKeyQuery(t *testing.T) {
	t.Parallel()

	run(t, func(l *ledger) rest.Authenticator { return auth.APIKeyQuery("key", l.find) }, []request{
		{name: "right", target: "?key=s3cret", want: isAda, asked: []string{"s3cret"}},
		{name: "beside others", target: "?a=1&key=s3cret&b=%zz", want: isAda, asked: []string{"s3cret"}},
		{name: "encoded", target: "?%6bey=s3+cret%26", want: isAda, asked: []string{"s3 cret&"}},
		{name: "absent", target: "", want: isNobody},
		{name: "another", target: "?keys=s3cret&Key=s3cret&xkey=s3cret", want: isNobody},
		{name: "empty", target: "?key=", want: isNobody},
		{name: "bare", target: "?key", want: isNobody},
		{name: "wrong", target: "?key=x", want: isBad, asked: []string{"x"}},
		{name: "twice", target: "?key=s3cret&key=s3cret", want: isBad},
		{name: "twice, one encoded", target: "?key=s3cret&%6bey=x", want: isBad},
		{name: "twice, one empty", target: "?key=&key=s3cret", want: isBad},
		{name: "a semicolon", target: "?key=s3cret;a=b", want: isBad},
		{name: "badly encoded", target: "?key=%zz", want: isBad},
		{name: "too long", target: "?key=" + strings.Repeat("x", 4097), want: isBad},
		{name: "in a header", header: header("Key", "s3cret"), want: isNobody},
	})
}

func TestAPIKeyHeader(t *testing.T) {
	t.Parallel()

	run(t, func(l *ledger) rest.Authenticator {
		return auth.APIKeyHeader("x-api-KEY", l.find, auth.MaxLength(10))
	}, []request{
		{name: "right", header: header("X-Api-Key", "s3cret"), want: isAda, asked: []string{"s3cret"}},
		{name: "absent", want: isNobody},
		{name: "empty", header: header("X-Api-Key", ""), want: isNobody},
		{name: "wrong", header: header("X-Api-Key", "S3CRET"), want: isBad, asked: []string{"S3CRET"}},
		{name: "twice", header: header("X-Api-Key", "s3cret", "s3cret"), want: isBad},
		{name: "too long", header: header("X-Api-Key", "s3cret12345"), want: isBad},
		{name: "in the query", target: "?x-api-KEY=s3cret", want: isNobody},
	})
}

func TestAPIKeyCookie(t *testing.T) {
	t.Parallel()

	run(t, func(l *ledger) rest.Authenticator { return auth.APIKeyCookie("key", l.find) }, []request{
		{name: "right", header: header("Cookie", "a=b; key=s3cret"), want: isAda, asked: []string{"s3cret"}},
		{name: "absent", header: header("Cookie", "a=b"), want: isNobody},
		{name: "empty", header: header("Cookie", "key="), want: isNobody},
		{name: "wrong", header: header("Cookie", "key=x"), want: isBad, asked: []string{"x"}},
		{name: "twice", header: header("Cookie", "key=s3cret; key=s3cret"), want: isBad},
	})
}

func TestBearer(t *testing.T) {
	t.Parallel()

	token := func(text string) http.Header { return header("Authorization", text) }
	run(t, func(l *ledger) rest.Authenticator { return auth.Bearer(l.find) }, []request{
		{name: "right", header: token("Bearer s3cret"), want: isAda, asked: []string{"s3cret"}},
		{name: "another case", header: token("bEARER s3cret"), want: isAda, asked: []string{"s3cret"}},
		{name: "more space", header: token("Bearer   s3cret "), want: isAda, asked: []string{"s3cret"}},
		{name: "all characters", header: token("Bearer aZ09-._~+/=="), want: isBad, asked: []string{"aZ09-._~+/=="}},
		{name: "absent", want: isNobody},
		{name: "empty", header: token(""), want: isNobody},
		{name: "another scheme", header: token("Basic YWRhOng="), want: isNobody},
		{name: "a longer scheme", header: token("Bearers s3cret"), want: isNobody},
		{name: "no token", header: token("Bearer"), want: isBad},
		{name: "a token of space", header: token("Bearer  "), want: isBad},
		{name: "a token of padding", header: token("Bearer =="), want: isBad},
		{name: "padding inside", header: token("Bearer a=b"), want: isBad},
		{name: "two tokens", header: token("Bearer s3cret token"), want: isBad},
		{name: "a comma", header: token("Bearer s3cret,s3cret"), want: isBad},
		{name: "no ASCII", header: token("Bearer s3crét"), want: isBad},
		{name: "twice", header: header("Authorization", "Bearer s3cret", "Bearer s3cret"), want: isBad},
		{name: "with another", header: header("Authorization", "Bearer s3cret", "Basic x"), want: isBad},
		{name: "too long", header: token("Bearer " + strings.Repeat("x", 4097)), want: isBad},
		{name: "wrong", header: token("Bearer x"), want: isBad, asked: []string{"x"}},

		{name: "a typed nil", header: token("Bearer nil"), want: isBad, asked: []string{"nil"}},
		{name: "a lookup's bad", header: token("Bearer bad"), want: isBad, asked: []string{"bad"}},
		{name: "a lookup's none", header: token("Bearer none"), want: isBad, asked: []string{"none"}},
		{name: "a lookup's fault", header: token("Bearer broken"), want: isBroken, asked: []string{"broken"}},
		{name: "a lookup's answer", header: token("Bearer locked"), want: isLocked, asked: []string{"locked"}},
	})
}

func TestBasic(t *testing.T) {
	t.Parallel()

	basic := func(text string) http.Header {
		return header("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
	}
	build := func(l *ledger) rest.Authenticator {
		return auth.Basic(func(_ context.Context, user, password string) (*rest.User, error) {
			l.asked = append(l.asked, user, password)
			if auth.Equal(user, "ada") && auth.Equal(password, "pa:ß wörd") {
				return ada, nil
			}
			return nil, nil
		}, auth.MaxLength(100))
	}
	run(t, build, []request{
		{name: "right", header: basic("ada:pa:ß wörd"), want: isAda, asked: []string{"ada", "pa:ß wörd"}},
		{name: "wrong", header: basic("ada:x"), want: isBad, asked: []string{"ada", "x"}},
		{name: "empty password", header: basic("ada:"), want: isBad, asked: []string{"ada", ""}},
		{name: "percents stay", header: basic("%61da:x"), want: isBad, asked: []string{"%61da", "x"}},
		{name: "absent", want: isNobody},
		{name: "another scheme", header: header("Authorization", "Bearer YWRhOng="), want: isNobody},
		{name: "no scheme", header: header("Authorization", "YWRhOng="), want: isNobody},
		{name: "no colon", header: basic("ada"), want: isBad},
		{name: "no base64", header: header("Authorization", "Basic YWRh!"), want: isBad},
		{name: "no padding", header: header("Authorization", "Basic YWRhOng"), want: isBad},
		{name: "odd bits", header: header("Authorization", "Basic YWRhOnh="), want: isBad},
		{name: "base64url", header: header("Authorization", "Basic YWRhOn__"), want: isBad},
		{name: "no UTF-8", header: basic("ada:\xff"), want: isBad},
		{name: "a control", header: basic("ada:\x00"), want: isBad},
		{name: "a line", header: basic("ada\n:x"), want: isBad},
		{name: "nothing", header: header("Authorization", "Basic "), want: isBad},
		{name: "too long", header: basic("ada:" + strings.Repeat("x", 200)), want: isBad},
		{name: "twice", header: header("Authorization", "Basic YWRhOng=", "Basic YWRhOng="), want: isBad},
	})
}

func TestChallenges(t *testing.T) {
	t.Parallel()

	keys := auth.Keys(map[string]*rest.User{"s3cret": ada})
	password := func(context.Context, string, string) (*rest.User, error) { return nil, rest.ErrBadCredentials }
	api := newAPI(
		auth.APIKeyQuery("key", keys), auth.APIKeyHeader("X-Key", keys, auth.Realm(`a "shop"`)),
		auth.Bearer(keys), auth.Basic(password, auth.Realm("shop")),
		auth.Session(&auth.MemorySessions{}, keys),
	)
	none := send(t, api, httptest.NewRequest(http.MethodGet, "/me", nil))
	want := answer{Status: http.StatusUnauthorized, Code: "unauthorized", Challenge: []string{
		`ApiKey realm="api", in="query", name="key"`,
		`ApiKey realm="a \"shop\"", in="header", name="X-Key"`,
		`Bearer realm="api"`,
		`Basic realm="shop", charset="UTF-8"`,
		`Session realm="api"`,
	}}
	if diff := cmp.Diff(want, none); diff != "" {
		t.Errorf("without credentials (-want +got):\n%s", diff)
	}

	r := httptest.NewRequest(http.MethodGet, "/me", nil)
	r.Header.Set("Authorization", "Bearer x")
	want.Challenge[2] = `Bearer realm="api", error="invalid_token"`
	if diff := cmp.Diff(want, send(t, api, r)); diff != "" {
		t.Errorf("with a wrong token (-want +got):\n%s", diff)
	}
}

// TestOneAfterTheOther has two authenticators: the second one may know who the first one
// does not.
func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()

	l := &ledger{}
	api := newAPI(auth.APIKeyQuery("key", l.find), auth.Bearer(auth.Keys(map[string]*rest.User{"token": {ID: "bob"}})))
	for target, want := range map[string]string{
		"": "bob", "?key=x": "bob", "?key=s3cret": "ada", "?key=broken": http.StatusText(http.StatusInternalServerError),
	} {
		r := httptest.NewRequest(http.MethodGet, "/me"+target, nil)
		r.Header.Set("Authorization", "Bearer token")
		if got := outcome(send(t, api, r)); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

// Account is a program's own principal, a value.
type Account struct{ Name string }

// PrincipalID implements [rest.Principal].
func (a Account) PrincipalID() string { return a.Name }

func TestOwnPrincipals(t *testing.T) {
	t.Parallel()

	byValue := func(_ context.Context, key string) (Account, error) {
		if key == "s3cret" {
			return Account{"eve"}, nil
		}
		return Account{}, nil
	}
	byInterface := func(_ context.Context, key string) (rest.Principal, error) {
		switch key {
		case "s3cret":
			return Account{"eve"}, nil
		case "typed":
			return (*rest.User)(nil), nil
		default:
			return nil, nil //nolint:nilnil // a wrong key
		}
	}
	for name, a := range map[string]rest.Authenticator{
		"value": auth.Bearer(byValue), "interface": auth.Bearer(byInterface),
	} {
		api := newAPI(a)
		for key, want := range map[string]string{"s3cret": "eve", "x": "Unauthorized", "typed": "Unauthorized"} {
			r := httptest.NewRequest(http.MethodGet, "/me", nil)
			r.Header.Set("Authorization", "Bearer "+key)
			if got := outcome(send(t, api, r)); got != want {
				t.Errorf("%s, %s: %s, want %s", name, key, got, want)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()

	keys := auth.Keys(map[string]*rest.User{"a": {ID: "1"}, "b": {ID: "2"}, "ab": {ID: "3"}})
	for key, want := range map[string]string{"a": "1", "b": "2", "ab": "3", "": "", "c": "", "A": "", "abc": ""} {
		p, err := keys(t.Context(), key)
		switch {
		case want == "" && !errors.Is(err, rest.ErrBadCredentials):
			t.Errorf("%q: %v, %v, want bad credentials", key, p, err)
		case want != "" && (err != nil || p.ID != want):
			t.Errorf("%q: %v, %v, want %s", key, p, err, want)
		}
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		a, b string
		want bool
	}{{"", "", true}, {"a", "a", true}, {"a", "b", false}, {"a", "", false}, {"a", "ab", false}} {
		if got := auth.Equal(test.a, test.b); got != test.want {
			t.Errorf("Equal(%q, %q) = %v", test.a, test.b, got)
		}
	}
}

func TestSchemes(t *testing.T) {
	t.Parallel()

	keys := auth.Keys(map[string]*rest.User{"s3cret": ada})
	for want, a := range map[string]rest.Authenticator{
		"apiKeyQueryKey":      auth.APIKeyQuery("key", keys),
		"apiKeyHeaderXApiKey": auth.APIKeyHeader("X-API-key", keys),
		"apiKeyCookieKey1":    auth.APIKeyCookie("__key-1", keys),
		"bearer":              auth.Bearer(keys),
		"mine":                auth.Bearer(keys, auth.Name("mine"), auth.Describe("A token.")),
	} {
		s := a.Scheme()
		if !strings.EqualFold(s.Name, want) {
			t.Errorf("name %s, want %s", s.Name, want)
		}
		if want == "mine" && (s.Description != "A token." || s.Type != "http" || s.HTTP != "bearer") {
			t.Errorf("scheme %+v", s)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()

	keys := auth.Keys(map[string]*rest.User{"s3cret": ada})
	for name, build := range map[string]func(){
		"a query without name":    func() { auth.APIKeyQuery("", keys) },
		"a header that is none":   func() { auth.APIKeyHeader("X Key", keys) },
		"a cookie that is none":   func() { auth.APIKeyCookie("a=b", keys) },
		"no lookup of a key":      func() { auth.APIKeyQuery[*rest.User]("key", nil) },
		"no lookup of a token":    func() { auth.Bearer[*rest.User](nil) },
		"no lookup of a password": func() { auth.Basic[*rest.User](nil) },
		"no store":                func() { auth.Session(nil, keys) },
		"no name":                 func() { auth.Bearer(keys, auth.Name("")) },
		"a realm in two lines":    func() { auth.Bearer(keys, auth.Realm("a\r\nb")) },
		"no length":               func() { auth.Bearer(keys, auth.MaxLength(0)) },
		"an origin that is none":  func() { auth.APIKeyCookie("key", keys, auth.TrustOrigins("example.org")) },
		"an empty key":            func() { auth.Keys(map[string]*rest.User{"": ada}) },
		"a key of nobody":         func() { auth.Keys(map[string]*rest.User{"a": nil}) },
		"a session of no time":    func() { auth.Session(&auth.MemorySessions{}, keys, auth.Lifetime(0)) },
		"a cookie name":           func() { auth.Session(&auth.MemorySessions{}, keys, auth.CookieName("a b")) },
		"a name that needs secure": func() {
			auth.Session(&auth.MemorySessions{}, keys, auth.Insecure(), auth.CookieName("__Host-a"))
		},
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
