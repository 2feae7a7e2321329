package permission

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/rest"
)

// Rule is a permission without configuration.
type Rule uint8

// The rules. Reading means the methods GET, HEAD and OPTIONS.
const (
	// AllowAny allows every request.
	AllowAny Rule = iota + 1
	// IsAuthenticated allows requests with a principal.
	IsAuthenticated
	// IsAdmin allows principals with a method IsAdmin() bool that returns true.
	IsAdmin
	// IsAuthenticatedOrReadOnly allows requests with a principal, and everybody to read.
	IsAuthenticatedOrReadOnly
	// IsAdminOrReadOnly allows what IsAdmin allows, and everybody to read.
	IsAdminOrReadOnly
	// ReadOnly allows reading.
	ReadOnly
)

// Check implements [rest.Permission].
func (r Rule) Check(ctx context.Context) error { return check(ctx, r) }

func (r Rule) allows(ctx context.Context) bool {
	switch r {
	case AllowAny:
		return true
	case IsAuthenticated:
		return rest.PrincipalOf(ctx) != nil
	case IsAdmin:
		return isAdmin(ctx)
	case IsAuthenticatedOrReadOnly:
		return reads(ctx) || rest.PrincipalOf(ctx) != nil
	case IsAdminOrReadOnly:
		return reads(ctx) || isAdmin(ctx)
	case ReadOnly:
		return reads(ctx)
	default:
		return false
	}
}

func (r Rule) denial() error {
	switch r {
	case IsAdmin, IsAdminOrReadOnly:
		return rest.Denied("Only administrators may do this.")
	case ReadOnly:
		return rest.Denied("This is read only.")
	default:
		return rest.Denied("")
	}
}

// String returns the rule's name.
func (r Rule) String() string {
	names := [...]string{
		"", "AllowAny", "IsAuthenticated", "IsAdmin", "IsAuthenticatedOrReadOnly", "IsAdminOrReadOnly", "ReadOnly",
	}
	if int(r) < len(names) {
		return names[r]
	}
	return ""
}

// Scope allows principals that have the scope, such as "books:write": those with a method
// HasScope(string) bool that returns true for it. It panics without a scope.
//
// Use [All] and [Any] to combine several scopes.
func Scope(scope string) rest.Permission {
	if scope == "" {
		panic("permission: Scope needs the name of a scope")
	}
	return granted(scope)
}

type granted string

func (g granted) Check(ctx context.Context) error { return check(ctx, g) }

func (g granted) allows(ctx context.Context) bool {
	p, ok := rest.PrincipalOf(ctx).(interface{ HasScope(scope string) bool })
	return ok && p.HasScope(string(g))
}

func (g granted) denial() error { return rest.Denied("This needs the scope " + string(g) + ".") }

// Func returns a permission for a function. The function returns nil to allow the request,
// [rest.Denied] to refuse it, and another error if it cannot decide.
func Func(allowed func(ctx context.Context) error) rest.Permission {
	if allowed == nil {
		panic("permission: Func needs a function")
	}
	return checker(allowed)
}

type checker func(context.Context) error

func (c checker) Check(ctx context.Context) error { return c(ctx) }

// If allows requests for which allowed returns true.
func If(allowed func(ctx context.Context) bool) rest.Permission {
	if allowed == nil {
		panic("permission: If needs a function")
	}
	return condition(allowed)
}

type condition func(context.Context) bool

func (c condition) Check(ctx context.Context) error { return check(ctx, c) }
func (c condition) allows(ctx context.Context) bool { return c(ctx) }
func (condition) denial() error                     { return rest.Denied("") }

func check[T tester](ctx context.Context, t T) error {
	if t.allows(ctx) {
		return nil
	}
	return t.denial()
}

func isAdmin(ctx context.Context) bool {
	p, ok := rest.PrincipalOf(ctx).(interface{ IsAdmin() bool })
	return ok && p.IsAdmin()
}

func reads(ctx context.Context) bool {
	r := rest.RequestOf(ctx)
	if r == nil {
		return false
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}
