package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest/query"
)

// Permission decides whether a request may go on. Package permission has the usual permissions
// and combines them.
type Permission interface {
	// Check returns nil to allow the request, or an error that says why not: usually [Denied].
	//
	// It runs after authentication and throttles, before any input is read. It must be safe
	// for concurrent use, and must not keep the request.
	Check(ctx context.Context) error
}

// ObjectPermission is a permission that also checks the object that a request is about.
type ObjectPermission interface {
	Permission
	// AppliesTo reports whether the permission checks objects of this type.
	AppliesTo(object reflect.Type) bool
	// CheckObject is like Check, for one object. It is only called for types that AppliesTo
	// accepts.
	CheckObject(ctx context.Context, object any) error
}

// ScopePermission is a permission that narrows lists to the rows that the caller may see.
type ScopePermission interface {
	Permission
	// ListScope returns the condition for the rows that the caller may see, in a list of the
	// item type. Nil means all rows.
	ListScope(ctx context.Context, item reflect.Type) (query.Expr, error)
}

// listNarrower is a [ScopePermission] that knows at registration whether it narrows any lists
// (some) and whether it narrows lists of the item type (these). If the permissions of a list
// narrow some lists but not this one, registering this list panics: it would only look
// restricted.
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
		return fmt.Errorf(
			"the permissions narrow lists, but none of them those of %v: give the route permissions of its own by rest.Permit",
			item,
		)
	}
	return nil
}

// warnUnnarrowed logs a warning if the list may show objects that an object permission would
// refuse. It is not an error, because the handler may narrow the list itself.
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
		rt.api.config.logger.log().Warn("an object permission does not narrow a list: add permission.ListScope["+
			rt.list.elem.String()+
			"] to the permissions of the route, or give it others by rest.Permit or rest.Open",
			"route", rt.name, "method", rt.methods[0], "path", rt.path.document())
	}
}

// Denied returns the refusal of a [Permission]. The answer is 403, or 401 if the request has
// no principal and the route has authenticators. An empty message means the default sentence.
func Denied(message string) *Error {
	if message == "" {
		message = "You do not have permission to perform this action."
	}
	return &Error{Status: http.StatusForbidden, Code: "permission_denied", Detail: message}
}

// CheckObjectPermission calls the route's object permissions with the object, in order, and
// returns the first refusal. If the route has object permissions and none applies to the
// object's type, it returns an error (500): the route would only look guarded.
//
// If the controller implements [ObjectPermissionChecker], its method is called instead.
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

// ObjectPermissionChecker is a controller with its own version of [CheckObjectPermission].
type ObjectPermissionChecker interface {
	// CheckObjectPermission returns nil to allow the object, or the error to answer with. It
	// may call the function [CheckObjectPermission] with its own ctx for the usual checks.
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

// checkPermissions calls the permissions of the route in order and returns the first refusal.
func (c *routeContext) checkPermissions(ctx context.Context) error {
	for _, p := range c.route.permissions {
		if err := p.Check(ctx); err != nil {
			return c.refusal(ctx, err)
		}
	}
	return nil
}

// refusal turns a 403 into a 401 if the request has no principal and the route has
// authenticators.
func (c *routeContext) refusal(ctx context.Context, err error) error {
	if e := asError(err); e != nil && e.Status == http.StatusForbidden && len(c.route.auth) > 0 &&
		PrincipalOf(ctx) == nil {
		return c.route.unauthorized("")
	}
	return err
}
