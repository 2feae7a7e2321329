package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// Principal is the caller who makes a request. A program uses its own user type, or [User].
//
// If the principal also has a method IsAdmin() bool, permission.IsAdmin asks it. If it has a
// method HasScope(string) bool, permission.Scope asks it.
type Principal interface {
	// PrincipalID returns an id that is the same for all requests of a caller and different
	// for any other caller. Throttles use it as a key and logs show it, so it must not be a
	// secret.
	PrincipalID() string
}

// User is a ready-made principal, for tests and for programs without a user type of their own.
// permission.IsAdmin reads Admin, and permission.Scope reads Scopes.
type User struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`
	Admin  bool     `json:"admin,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// PrincipalID returns the user's ID.
func (u *User) PrincipalID() string { return u.ID }

// IsAdmin reports whether the user is an administrator.
func (u *User) IsAdmin() bool { return u.Admin }

// HasScope reports whether the user was granted the scope.
func (u *User) HasScope(scope string) bool { return slices.Contains(u.Scopes, scope) }

// Authenticator finds the principal of a request. Package auth has the usual authenticators.
type Authenticator interface {
	// Authenticate returns the caller who makes the request.
	//
	// It returns [ErrNoCredentials] if the request has no credentials of this kind, and
	// [ErrBadCredentials], possibly wrapped, if they are wrong. In both cases the route's next
	// authenticator is tried; after the last one the answer is 401. An [Error] is answered as
	// it is. Any other error, for example of a database, is answered 500. Authenticate must be
	// safe for concurrent use.
	Authenticate(r *http.Request) (Principal, error)
	// Scheme says how the credentials are sent. It returns the same at each call.
	Scheme() Scheme
}

// The errors of an [Authenticator] after which the next one is tried.
var (
	// ErrNoCredentials says that the request has no credentials of the authenticator's kind.
	ErrNoCredentials = errors.New("no credentials")
	// ErrBadCredentials says that the request has such credentials, but they are wrong.
	ErrBadCredentials = errors.New("bad credentials")
)

// Scheme says how credentials are sent: an OpenAPI security scheme, and the challenge of a
// 401.
type Scheme struct {
	// Name is the scheme's name in the document. Two different schemes of an API need
	// different names; otherwise registering the route panics.
	Name string
	// Type is "apiKey", "http", "oauth2" or "openIdConnect".
	Type string
	// In is "query", "header" or "cookie" for an apiKey, and Param is the name there.
	In, Param string
	// HTTP is "basic" or "bearer" for the type http.
	HTTP string
	// BearerFormat is a hint for readers, such as "JWT".
	BearerFormat string
	// DiscoveryURL is the address of an openIdConnect provider's metadata.
	DiscoveryURL string
	// Scopes are the scopes that the credentials must have.
	Scopes []string
	// Challenge is the value of the WWW-Authenticate header of a 401. If it is empty, the
	// header is not sent. An example is `Bearer realm="shop"`.
	Challenge   string
	Description string
}

// Anonymous lets requests without credentials through; the permissions then decide. It has to
// be the last authenticator of a route. A request with wrong credentials is still answered
// 401.
//
// The principal of such a request is nil.
var Anonymous Authenticator = anonymous{}

type anonymous struct{}

func (anonymous) Authenticate(*http.Request) (Principal, error) { return nil, nil } //nolint:nilnil // no principal
func (anonymous) Scheme() Scheme                                { return Scheme{} }

// PrincipalOf returns the principal of the request, or nil if there is none.
func PrincipalOf(ctx context.Context) Principal {
	if c := contextOf(ctx); c != nil && c.principal != nil {
		return c.principal
	}
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// PrincipalAs returns the principal of the request as the type P. It reports whether the
// request has a principal of that type.
func PrincipalAs[P Principal](ctx context.Context) (P, bool) {
	p, ok := PrincipalOf(ctx).(P)
	return p, ok
}

// WithPrincipal sets the principal of a request, for middleware that authenticates before the API.
// An authenticator of the route overrides it. A nil pointer means no principal, as nil does.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	if isNil(p) {
		p = nil // a typed nil is not equal to nil and would count as a principal
	}
	return context.WithValue(ctx, principalKey{}, p)
}

type principalKey struct{}
