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

// SessionStore stores sessions. [MemorySessions] is one. A program with several processes
// stores its sessions in a database.
type SessionStore interface {
	// Save stores a session under a key until it expires. It replaces an existing one. The key
	// is a hash of the browser's id, so a reader of the store cannot log in with it.
	Save(ctx context.Context, key string, session SessionData) error
	// Load returns the session of a key, and false if there is none. It may return an expired
	// session; the caller checks that.
	Load(ctx context.Context, key string) (SessionData, bool, error)
	// Delete removes a session. If there is none, that is not an error.
	Delete(ctx context.Context, key string) error
}

// SessionData is what a [SessionStore] stores for a session.
type SessionData struct {
	// PrincipalID is the id of the principal who has logged in.
	PrincipalID string
	// Expires is when the session ends.
	Expires time.Time
}

// Sessions authenticates browsers by a cookie with a random id, and logs principals in and
// out. It is safe for concurrent use.
type Sessions[P rest.Principal] struct {
	store    SessionStore
	lookup   Lookup[P]
	guard    *http.CrossOriginProtection
	cookie   string
	secure   bool
	lifetime time.Duration
	scheme   rest.Scheme
}

// CookieName sets the name of the cookie of a [Session]. Defaults to "__Host-session", or to
// "session" with [Insecure]. Browsers accept a name with "__Host-" only from the host itself.
func CookieName(name string) Option { return func(s *settings) { s.cookie = name } }

// Lifetime sets how long a [Session] lasts after the log-in. Defaults to 24 hours.
func Lifetime(d time.Duration) Option { return func(s *settings) { s.lifetime = d } }

// Insecure lets browsers send the cookie of a [Session] without TLS. Use it only for tests
// over plain HTTP on hosts other than localhost, which browsers treat as secure.
func Insecure() Option { return func(s *settings) { s.insecure = true } }

// Session returns sessions in a store. The lookup finds the principal by its id at each
// request, so a change of a principal's rights has effect at once.
//
// The cookie is Secure, HttpOnly and SameSite=Lax. Session panics if an option is invalid.
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
		return fmt.Errorf("%q is not a valid cookie name", s.cookie)
	case s.insecure && strings.HasPrefix(s.cookie, "__"):
		return fmt.Errorf("browsers want the cookie %s to be secure", s.cookie)
	case s.lifetime < time.Second:
		return fmt.Errorf("a session must last at least a second, not %s", s.lifetime)
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
		return nil, bad("the session id has the wrong length")
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

// Login starts a session for the principal and returns the cookie to set. The session of the
// request's cookie ends, so that an id which an attacker planted before the log-in gains
// nothing. Requests from other sites are refused, so another site can log nobody in or out. In
// a handler:
//
//	cookie, err := sessions.Login(rest.RequestOf(ctx), user)
//	if err != nil {
//		return nil, err
//	}
//	rest.ResponseOf(ctx).SetCookie(cookie)
func (s *Sessions[P]) Login(r *http.Request, p P) (*http.Cookie, error) {
	if none(p) || p.PrincipalID() == "" {
		return nil, errors.New("log in: the principal is nil or has no id")
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

// Logout ends the session of the request and returns the cookie that makes the browser delete
// its own. A request without a session is not an error.
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
