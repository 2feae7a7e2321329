package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// Principal is who makes a request. A program uses its own type of user, or [User].
//
// A principal that also has an IsAdmin() bool method passes permission.IsAdmin when that
// returns true, and one that has a HasScope(string) bool method passes permission.Scope.
type Principal interface {
	// PrincipalID is the same for all requests of the same caller, and no two callers
	// share one. It is a key of throttles and is logged: it must not be a secret.
	PrincipalID() string
}

// User is a ready-made principal, for programs without a type of their own and for tests.
// Admin is what permission.IsAdmin asks, and Scopes what permission.Scope does.
type User struct {
	ID     string   `json:"id"`
	Name   string   `json:"name,omitempty"`
	Admin  bool     `json:"admin,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// PrincipalID returns the user's ID.
func (u *User) PrincipalID() string { return u.ID }

// IsAdmin reports whether the user is one of the administrators.
func (u *User) IsAdmin() bool { return u.Admin }

// HasScope reports whether the user was granted the scope.
func (u *User) HasScope(scope string) bool { return slices.Contains(u.Scopes, scope) }

// Authenticator finds the principal of a request. Package auth has the usual ones.
type Authenticator interface {
	// Authenticate returns who makes the request.
	//
	// It returns [ErrNoCredentials] when the request has no credentials of this kind and
	// [ErrBadCredentials], possibly wrapped, when it has wrong ones. In both cases the
	// next authenticator of the route is asked, and when there is none the answer is 401.
	// An [Error] ends the request with that; any other error, of a database for example,
	// ends it with 500. It is safe for concurrent use.
	Authenticate(r *http.Request) (Principal, error)
	// Scheme says how the credentials travel. It is the same at each call.
	Scheme() Scheme
}

// The outcomes of an [Authenticator] that let the next one try.
var (
	// ErrNoCredentials says that the request has none of the authenticator's kind.
	ErrNoCredentials = errors.New("no credentials")
	// ErrBadCredentials says that it has some, and that they are wrong.
	ErrBadCredentials = errors.New("bad credentials")
)

// Scheme is how credentials travel: a security scheme of OpenAPI, and the challenge of a 401.
type Scheme struct {
	// Name is its name among the components of the document. Two different schemes of an
	// API have different names; a route with a conflict refuses to register.
	Name string
	// Type is "apiKey", "http", "oauth2" or "openIdConnect".
	Type string
	// In is "query", "header" or "cookie", and Param the name there, of an apiKey.
	In, Param string
	// HTTP is the scheme of type http: "basic" or "bearer".
	HTTP string
	// BearerFormat is a hint for readers, such as "JWT".
	BearerFormat string
	// DiscoveryURL is where an openIdConnect provider describes itself.
	DiscoveryURL string
	// Scopes are what the credentials must have been granted.
	Scopes []string
	// Challenge is a value of the WWW-Authenticate header of a 401, such as
	// `Bearer realm="shop"`. Empty: none.
	Challenge   string
	Description string
}

// Anonymous lets requests without credentials through, so that permissions judge them. It has to be
// the last authenticator of a route. A request with wrong credentials is still answered 401.
//
// Its principal is nil.
var Anonymous Authenticator = anonymous{}

type anonymous struct{}

func (anonymous) Authenticate(*http.Request) (Principal, error) { return nil, nil } //nolint:nilnil // it found nobody
func (anonymous) Scheme() Scheme                                { return Scheme{} }

// PrincipalOf returns the principal of the request, and nil when there is none.
func PrincipalOf(ctx context.Context) Principal {
	if c := contextOf(ctx); c != nil && c.principal != nil {
		return c.principal
	}
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// PrincipalAs returns the principal of the request as the program's own type. It reports whether
// there is a principal of that type.
func PrincipalAs[P Principal](ctx context.Context) (P, bool) {
	p, ok := PrincipalOf(ctx).(P)
	return p, ok
}

// WithPrincipal sets the principal of a request, for middleware that authenticates before the API.
// An authenticator of the route overrides it. A nil pointer means no principal, as nil does.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	if isNil(p) {
		p = nil // a typed nil is not equal to nil, and would pass for somebody
	}
	return context.WithValue(ctx, principalKey{}, p)
}

type principalKey struct{}
