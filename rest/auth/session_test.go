package auth_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

// door logs people in and out.
type door struct {
	sessions *auth.Sessions[*rest.User]
}

func (d *door) Routes(r *rest.Routes) {
	rest.Post(r, "/login", d.login, rest.NoAuth())
	rest.Post(r, "/logout", d.logout, rest.NoAuth())
	whoami{}.Routes(r)
}

type loginQuery struct {
	User string `query:"user"`
}

func (d *door) login(ctx context.Context, in loginQuery) (string, error) {
	cookie, err := d.sessions.Login(rest.RequestOf(ctx), &rest.User{ID: in.User})
	if err != nil {
		return "", err
	}
	rest.ResponseOf(ctx).SetCookie(cookie)
	return "welcome", nil
}

func (d *door) logout(ctx context.Context, _ struct{}) (string, error) {
	cookie, err := d.sessions.Logout(rest.RequestOf(ctx))
	if err != nil {
		return "", err
	}
	rest.ResponseOf(ctx).SetCookie(cookie)
	return "bye", nil
}

// people is a lookup by ID, in which bob no longer is.
func people(_ context.Context, id string) (*rest.User, error) {
	if id == "bob" {
		return nil, rest.ErrBadCredentials
	}
	return &rest.User{ID: id}, nil
}

// browser keeps a cookie and sends it.
type browser struct {
	api    http.Handler
	cookie *http.Cookie
	header http.Header
}

func (b *browser) do(method, target string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "https://shop.example.org"+target, nil)
	maps.Copy(r.Header, b.header)
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookie = c; c.MaxAge < 0 {
			b.cookie = nil
		}
	}
	return w
}

func (b *browser) who() string {
	return strings.Trim(strings.TrimSpace(b.do(http.MethodGet, "/me").Body.String()), `"`)
}

func newDoor(store auth.SessionStore, options ...auth.Option) http.Handler {
	d := &door{sessions: auth.Session(store, people, options...)}
	api := rest.New(rest.Auth(d.sessions))
	api.Register(d)
	return api
}

func TestSession(t *testing.T) {
	t.Parallel()

	store := &auth.MemorySessions{}
	b := &browser{api: newDoor(store)}
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
		t.Fatalf("before the log-in: %d", got)
	}
	if got := b.do(http.MethodPost, "/login?user=ada").Code; got != http.StatusOK {
		t.Fatalf("log-in: %d", got)
	}
	if got := b.who(); got != "ada" {
		t.Errorf("it is %s, want ada", got)
	}

	c := b.cookie
	if c.Name != "__Host-session" || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteLaxMode || c.MaxAge != 86400 {
		t.Errorf("cookie %v", c)
	}
	if len(c.Value) < 40 || strings.Contains(c.Value, "ada") {
		t.Errorf("the id %q is not a random one", c.Value)
	}
	if _, ok, _ := store.Load(t.Context(), c.Value); ok {
		t.Error("the store has the id itself")
	}

	if got := b.do(http.MethodPost, "/logout").Code; got != http.StatusOK || b.cookie != nil {
		t.Fatalf("log-out: %d, cookie %v", got, b.cookie)
	}
	b.cookie = c
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
		t.Errorf("the old id after the log-out: %d, want 401", got)
	}
	if store.Len() != 0 {
		t.Errorf("%d sessions are left", store.Len())
	}
}

func TestSessionNewIDAtLogin(t *testing.T) {
	t.Parallel()

	store := &auth.MemorySessions{}
	b := &browser{api: newDoor(store)}
	b.do(http.MethodPost, "/login?user=ada")
	first := b.cookie
	b.do(http.MethodPost, "/login?user=eve")
	if b.cookie.Value == first.Value {
		t.Error("the id is the old one")
	}
	if got := b.who(); got != "eve" {
		t.Errorf("it is %s, want eve", got)
	}
	b.cookie = first
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized || store.Len() != 1 {
		t.Errorf("the id from before: %d, and %d sessions", got, store.Len())
	}

	// An id that somebody made up is not taken over.
	planted := &http.Cookie{Name: "__Host-session", Value: strings.Repeat("x", len(first.Value))}
	b.cookie = planted
	b.do(http.MethodPost, "/login?user=ada")
	if b.cookie.Value == planted.Value {
		t.Error("a planted id was taken over")
	}
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &browser{api: newDoor(&auth.MemorySessions{}, auth.Lifetime(time.Hour))}
		b.do(http.MethodPost, "/login?user=ada")
		<-time.After(time.Hour - time.Second)
		if got := b.who(); got != "ada" {
			t.Errorf("just before the end it is %s", got)
		}
		<-time.After(time.Second)
		if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
			t.Errorf("after the end: %d, want 401", got)
		}
	})
}

// keeper is a store that never forgets.
type keeper struct{ session auth.SessionData }

func (k *keeper) Save(_ context.Context, _ string, session auth.SessionData) error {
	k.session = session
	return nil
}

func (k *keeper) Load(context.Context, string) (auth.SessionData, bool, error) {
	return k.session, true, nil
}

func (*keeper) Delete(context.Context, string) error { return nil }

func TestSessionEndsWhateverTheStore(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := &browser{api: newDoor(&keeper{}, auth.Lifetime(time.Hour))}
		b.do(http.MethodPost, "/login?user=ada")
		<-time.After(time.Hour)
		if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
			t.Errorf("after the end: %d, want 401", got)
		}
	})
}

func TestSessionOfNobody(t *testing.T) {
	t.Parallel()

	b := &browser{api: newDoor(&auth.MemorySessions{})}
	b.do(http.MethodPost, "/login?user=bob")
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
		t.Errorf("somebody who is gone: %d, want 401", got)
	}
	if got := b.do(http.MethodPost, "/login?user=").Code; got != http.StatusInternalServerError {
		t.Errorf("a log-in of nobody: %d, want 500", got)
	}
	b.cookie = &http.Cookie{Name: "__Host-session", Value: "short"}
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusUnauthorized {
		t.Errorf("an id that is none: %d, want 401", got)
	}
}

// away is a store that cannot be reached.
type away struct{ auth.MemorySessions }

func (*away) Save(context.Context, string, auth.SessionData) error { return errors.New("away") }
func (*away) Load(context.Context, string) (auth.SessionData, bool, error) {
	return auth.SessionData{}, false, errors.New("away")
}

func TestSessionStoreAway(t *testing.T) {
	t.Parallel()

	b := &browser{api: newDoor(&away{})}
	if got := b.do(http.MethodPost, "/login?user=ada").Code; got != http.StatusInternalServerError || b.cookie != nil {
		t.Errorf("log-in: %d with %v", got, b.cookie)
	}
	b.cookie = &http.Cookie{Name: "__Host-session", Value: strings.Repeat("x", 43)}
	if got := b.do(http.MethodGet, "/me").Code; got != http.StatusInternalServerError {
		t.Errorf("a request: %d, want 500", got)
	}
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()

	const trusted = "https://app.example.org"
	sessions := newDoor(&auth.MemorySessions{}, auth.TrustOrigins(trusted))
	login := &browser{api: sessions}
	login.do(http.MethodPost, "/login?user=ada")
	keys := newAPI(auth.APIKeyCookie("key", auth.Keys(map[string]*rest.User{"s3cret": ada}), auth.TrustOrigins(trusted)))
	for name, b := range map[string]browser{
		"session": *login,
		"api key": {api: keys, cookie: &http.Cookie{Name: "key", Value: "s3cret"}},
	} {
		for _, test := range []struct {
			name   string
			method string
			header http.Header
			want   int
		}{
			{"no browser", http.MethodPost, nil, 200},
			{"same origin", http.MethodPost, header("Sec-Fetch-Site", "same-origin"), 200},
			{"typed in", http.MethodPost, header("Sec-Fetch-Site", "none"), 200},
			{"another site", http.MethodPost, header("Sec-Fetch-Site", "cross-site"), 403},
			{"another subdomain", http.MethodPost, header("Sec-Fetch-Site", "same-site"), 403},
			{"another origin of old", http.MethodPost, header("Origin", "https://evil.example"), 403},
			{"no origin of old", http.MethodPost, header("Origin", "null"), 403},
			{"trusted", http.MethodPost, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {trusted}}, 200},
			{"reading", http.MethodGet, header("Sec-Fetch-Site", "cross-site"), 200},
		} {
			b.header = test.header
			w := b.do(test.method, "/me")
			if w.Code != test.want {
				t.Errorf("%s, %s: %d, want %d", name, test.name, w.Code, test.want)
			}
			if test.want == http.StatusForbidden && !strings.Contains(w.Body.String(), `"cross_origin"`) {
				t.Errorf("%s, %s: %s", name, test.name, w.Body)
			}
		}
		b.header, b.cookie = header("Sec-Fetch-Site", "cross-site"), nil
		if got := b.do(http.MethodPost, "/me").Code; got != http.StatusUnauthorized {
			t.Errorf("%s, without a cookie: %d, want 401", name, got)
		}
	}

	login.header = header("Sec-Fetch-Site", "cross-site")
	for _, path := range []string{"/login?user=eve", "/logout"} {
		if got := login.do(http.MethodPost, path).Code; got != http.StatusForbidden {
			t.Errorf("%s from another site: %d, want 403", path, got)
		}
	}
	login.header = nil
	if got := login.who(); got != "ada" {
		t.Errorf("after that it is %s, want ada", got)
	}
}

func TestMemorySessionsForget(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		store := &auth.MemorySessions{}
		for i := range 1000 {
			session := auth.SessionData{PrincipalID: "ada", Expires: time.Now().Add(time.Minute)}
			if err := store.Save(t.Context(), strconv.Itoa(i), session); err != nil {
				t.Fatal(err)
			}
			<-time.After(time.Second)
		}
		if got := store.Len(); got > 200 {
			t.Errorf("%d sessions are kept of 60 that last", got)
		}
		if _, ok, _ := store.Load(t.Context(), "999"); !ok {
			t.Error("the last session is gone")
		}
		<-time.After(time.Minute)
		if _, ok, _ := store.Load(t.Context(), "999"); ok {
			t.Error("a session outlived its time")
		}
	})
}
