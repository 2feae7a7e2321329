package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest/query"
)

// Permission decides whether a request may go on. Package permission has the usual ones
// and combines them.
type Permission interface {
	// Check returns nil to allow, and an error that says why not: usually [Denied].
	//
	// It runs after authentication and throttles and before any input is read. It is safe
	// for concurrent use, and keeps nothing of a request.
	Check(ctx context.Context) error
}

// ObjectPermission is a permission that also judges the object a request is about.
type ObjectPermission interface {
	Permission
	// AppliesTo reports whether it judges objects of the type.
	AppliesTo(object reflect.Type) bool
	// CheckObject is Check for the object. It is called with objects that it applies to.
	CheckObject(ctx context.Context, object any) error
}

// ScopePermission is a permission that narrows lists to the rows that the caller may see.
type ScopePermission interface {
	Permission
	// ListScope returns what may be seen of a list of the type of items. A nil expression
	// is all.
	ListScope(ctx context.Context, item reflect.Type) (query.Expr, error)
}

// listNarrower is a [ScopePermission] that knows before any request whether it narrows
// lists at all, and those of the items. A list with such permissions of which none is about
// its items refuses to register: it would look narrowed and not be.
type listNarrower interface {
	NarrowsLists(item reflect.Type) (some, these bool)
}

func checkNarrowing(permissions []Permission, item reflect.Type) error {
	some, these := false, false
	for _, p := range permissions {
		if n, ok := p.(listNarrower); ok {
			a, t := n.NarrowsLists(item)
			some, these = some || a, these || t
		}
	}
	if some && !these {
		return fmt.Errorf("the permissions narrow lists, but none of them those of %v: give the route permissions of its own by rest.Permit", item)
	}
	return nil
}

// warnUnnarrowed says in the log that the list shows what its object permissions would refuse
// one by one. It is no error: the handler may narrow the list itself.
func (rt *route) warnUnnarrowed() {
	judged := false
	for _, p := range rt.permissions {
		if n, ok := p.(listNarrower); ok {
			if _, these := n.NarrowsLists(rt.list.elem); these {
				return
			}
		} else if _, ok := p.(ScopePermission); ok {
			return
		}
		judge, ok := p.(ObjectPermission)
		judged = judged || ok && judge.AppliesTo(rt.list.elem)
	}
	if judged {
		rt.api.config.logger.log().Warn("an object permission does not narrow a list: add permission.ListScope["+rt.list.elem.String()+
			"] to the permissions of the route, or give it others by rest.Permit or rest.Open",
			"route", rt.name, "method", rt.methods[0], "path", rt.path.document())
	}
}

// Denied is the refusal of a [Permission]. The answer is 403, or 401 when the request has no
// principal and the route has authenticators. An empty message stands for the usual
// sentence.
func Denied(message string) *Error {
	if message == "" {
		message = "You do not have permission to perform this action."
	}
	return &Error{Status: http.StatusForbidden, Code: "permission_denied", Detail: message}
}

// CheckObjectPermission asks the permissions of the route about the object, in their order, and
// returns the first refusal. If the route has object permissions and none of them applies to the
// object's type, it returns an error (500): the route would look guarded and not be.
//
// A controller that implements [ObjectPermissionChecker] is asked instead.
func CheckObjectPermission[T any](ctx context.Context, object T) error {
	c := contextOf(ctx)
	if c == nil {
		return errNoRoute
	}
	c.judged.Store(true)
	if own, ok := c.route.controller.(ObjectPermissionChecker); ok && !overridden(ctx, checkHelper) {
		return own.CheckObjectPermission(override(ctx, checkHelper), object)
	}
	return c.checkObject(ctx, object)
}

// ObjectPermissionChecker is a controller with a [CheckObjectPermission] of its own.
type ObjectPermissionChecker interface {
	// CheckObjectPermission returns nil to allow, and else what the function of that name
	// returns, which it may call with its own ctx to do the usual.
	CheckObjectPermission(ctx context.Context, object any) error
}

func (c *routeContext) checkObject(ctx context.Context, object any) error {
	t := reflect.TypeOf(object)
	guarded, judged := false, false
	for _, p := range c.route.permissions {
		judge, ok := p.(ObjectPermission)
		if !ok {
			continue
		}
		guarded = true
		if !judge.AppliesTo(t) {
			continue
		}
		judged = true
		if err := judge.CheckObject(ctx, object); err != nil {
			return c.refusal(ctx, err)
		}
	}
	if guarded && !judged {
		return fmt.Errorf("no object permission of %s applies to %v", c.route.name, t)
	}
	return nil
}

// checkPermissions asks the permissions of the route about the request.
func (c *routeContext) checkPermissions(ctx context.Context) error {
	for _, p := range c.route.permissions {
		if err := p.Check(ctx); err != nil {
			return c.refusal(ctx, err)
		}
	}
	return nil
}

// refusal turns the 403 of a request without a principal into a 401 where it could authenticate.
func (c *routeContext) refusal(ctx context.Context, err error) error {
	if e := asError(err); e != nil && e.Status == http.StatusForbidden && len(c.route.auth) > 0 && PrincipalOf(ctx) == nil {
		return c.route.unauthorized("")
	}
	return err
}
