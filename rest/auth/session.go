package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest"
)

// SessionStore keeps the sessions of principals. [MemorySessions] is one; a program with several
// processes keeps sessions in its database.
type SessionStore interface {
	// Save keeps a session under a key until it expires, and replaces one that is there.
	// The key is a hash of what the browser has: a reader of the store cannot log in with it.
	Save(ctx context.Context, key string, session SessionData) error
	// Load returns the session of a key, and false when there is none. Whether it has
	// expired is looked at by the caller too.
	Load(ctx context.Context, key string) (SessionData, bool, error)
	// Delete forgets a session. One that is not there is no error.
	Delete(ctx context.Context, key string) error
}

// SessionData is what a [SessionStore] keeps of a session.
type SessionData struct {
	// PrincipalID is who has logged in.
	PrincipalID string
	// Expires is when the session ends.
	Expires time.Time
}

// Sessions authenticates browsers by a cookie with a random id, and logs them in and out. It
// is safe for concurrent use.
type Sessions[P rest.Principal] struct {
	store    SessionStore
	lookup   Lookup[P]
	guard    *http.CrossOriginProtection
	cookie   string
	secure   bool
	lifetime time.Duration
	scheme   rest.Scheme
}

// CookieName is the name of the cookie of a [Session]. Defaults to "__Host-session", a name
// that browsers accept only from this very host, and to "session" with [Insecure].
func CookieName(name string) Option { return func(s *settings) { s.cookie = name } }

// Lifetime is how long a [Session] lasts after the log-in. Defaults to 24 hours.
func Lifetime(d time.Duration) Option { return func(s *settings) { s.lifetime = d } }

// Insecure lets the cookie of a [Session] travel without TLS. Browsers treat localhost as
// secure, so this is for nothing but tests over plain HTTP on other hosts.
func Insecure() Option { return func(s *settings) { s.insecure = true } }

// Session returns sessions in a store. The lookup finds the principal by its ID with each
// request, so a principal that has lost its rights, or is gone, is so at once.
//
// The cookie is Secure, HttpOnly and SameSite=Lax. It panics when an option makes no sense.
func Session[P rest.Principal](store SessionStore, lookup Lookup[P], options ...Option) *Sessions[P] {
	if store == nil || lookup == nil {
		panic("auth: Session needs a store and a lookup")
	}
	s := settingsOf("session", options)
	if s.cookie == "" {
		s.cookie = "__Host-session"
		if s.insecure {
			s.cookie = "session"
		}
	}
	if err := s.checkCookie(); err != nil {
		panic(fmt.Sprintf("auth: %s: %v", s.name, err))
	}
	return &Sessions[P]{
		store: store, lookup: lookup, guard: s.protection(),
		cookie: s.cookie, secure: !s.insecure, lifetime: s.lifetime,
		scheme: rest.Scheme{
			Name: s.name, Type: "apiKey", In: "cookie", Param: s.cookie, Description: s.description,
			Challenge: "Session realm=" + quoted(s.realm),
		},
	}
}

func (s *settings) checkCookie() error {
	switch {
	case !token(s.cookie):
		return fmt.Errorf("%q is no name of a cookie", s.cookie)
	case s.insecure && strings.HasPrefix(s.cookie, "__"):
		return fmt.Errorf("browsers want the cookie %s to be secure", s.cookie)
	case s.lifetime < time.Second:
		return fmt.Errorf("a session that lasts %s is none", s.lifetime)
	default:
		return nil
	}
}

// Authenticate implements [rest.Authenticator].
func (s *Sessions[P]) Authenticate(r *http.Request) (rest.Principal, error) {
	id, err := cookieKey(r, s.cookie, s.guard)
	if err != nil {
		return nil, err
	}
	if len(id) != idLength {
		return nil, bad("the session id has another length than ours")
	}
	session, ok, err := s.store.Load(r.Context(), storeKey(id))
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	if !ok || !time.Now().Before(session.Expires) {
		return nil, bad("there is no such session")
	}
	return principal(s.lookup(r.Context(), session.PrincipalID))
}

// Scheme implements [rest.Authenticator].
func (s *Sessions[P]) Scheme() rest.Scheme { return s.scheme }

// Login starts a session of the principal, and returns the cookie to be set. The session
// that the request's cookie had ends: an id from before the log-in, which somebody else may
// have planted, is never worth more afterwards. Another site cannot log somebody in, nor
// out: a request from there is refused as one with a cookie is. In a handler:
//
//	cookie, err := sessions.Login(rest.RequestOf(ctx), user)
//	if err != nil {
//		return nil, err
//	}
//	rest.ResponseOf(ctx).SetCookie(cookie)
func (s *Sessions[P]) Login(r *http.Request, p P) (*http.Cookie, error) {
	if none(p) || p.PrincipalID() == "" {
		return nil, errors.New("log in: nobody")
	}
	if err := sameOrigin(r, s.guard, "cookies"); err != nil {
		return nil, err
	}
	if err := s.end(r); err != nil {
		return nil, err
	}
	var random [idBytes]byte
	_, _ = rand.Read(random[:]) // it never fails
	id := base64.RawURLEncoding.EncodeToString(random[:])
	session := SessionData{PrincipalID: p.PrincipalID(), Expires: time.Now().Add(s.lifetime)}
	if err := s.store.Save(r.Context(), storeKey(id), session); err != nil {
		return nil, fmt.Errorf("save session: %w", err)
	}
	return s.newCookie(id, int(s.lifetime/time.Second)), nil
}

// Logout ends the session of the request, and returns the cookie that makes the browser
// forget it. A request without a session is no error.
func (s *Sessions[P]) Logout(r *http.Request) (*http.Cookie, error) {
	if err := sameOrigin(r, s.guard, "cookies"); err != nil {
		return nil, err
	}
	if err := s.end(r); err != nil {
		return nil, err
	}
	return s.newCookie("", -1), nil
}

func (s *Sessions[P]) end(r *http.Request) error {
	for _, cookie := range r.CookiesNamed(s.cookie) {
		if len(cookie.Value) != idLength {
			continue
		}
		if err := s.store.Delete(r.Context(), storeKey(cookie.Value)); err != nil {
			return fmt.Errorf("delete session: %w", err)
		}
	}
	return nil
}

func (s *Sessions[P]) newCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure is false with the option Insecure alone
		Name: s.cookie, Value: value, Path: "/", MaxAge: maxAge,
		Secure: s.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

const idBytes = 32

var idLength = base64.RawURLEncoding.EncodedLen(idBytes)

func storeKey(id string) string {
	hash := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}
