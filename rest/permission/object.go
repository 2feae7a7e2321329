package permission

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// Object allows every request, and judges the objects of type T by a function that returns
// nil to allow, [rest.Denied] to refuse, and another error when it cannot tell. With T being
// Book or *Book, it judges both books and pointers to books; with an interface, whatever
// implements that, and whatever has a pointer that does: it is given a pointer to a copy then.
//
// Objects are judged when the handler asks, by [rest.GetOrNotFound] or
// [rest.CheckObjectPermission]; one that does not ask is open. Lists are not narrowed, see
// [ListScope].
func Object[T any](check func(ctx context.Context, object T) error) rest.Permission {
	if check == nil {
		panic("permission: Object needs a function")
	}
	return &objectRule[T]{check: check, typ: newTarget[T]()}
}

// Owner allows every request, and the objects whose owner, as owner returns it, is the
// principal. An object with an empty owner belongs to nobody. It is an [Object]: the handler has to ask.
func Owner[T any](owner func(object T) string) rest.Permission {
	if owner == nil {
		panic("permission: Owner needs a function")
	}
	return Object(func(ctx context.Context, object T) error {
		if p := rest.PrincipalOf(ctx); p != nil {
			if id := owner(object); id != "" && id == p.PrincipalID() {
				return nil
			}
		}
		return rest.Denied("")
	})
}

type objectRule[T any] struct {
	check func(context.Context, T) error
	typ   target
}

// Check implements [rest.Permission].
func (*objectRule[T]) Check(context.Context) error { return nil }

// AppliesTo implements [rest.ObjectPermission].
func (o *objectRule[T]) AppliesTo(object reflect.Type) bool { return o.typ.is(object) }

// CheckObject implements [rest.ObjectPermission].
func (o *objectRule[T]) CheckObject(ctx context.Context, object any) error {
	t, err := as[T](o.typ, object)
	if err != nil {
		return err
	}
	return o.check(ctx, t)
}

// ListScope allows every request, and narrows lists of T (or *T) to the items for which the
// expression holds. A nil expression shows them all.
func ListScope[T any](scope func(ctx context.Context) query.Expr) rest.Permission {
	if scope == nil {
		panic("permission: ListScope needs a function")
	}
	return &listScope{scope: scope, typ: newTarget[T]()}
}

type listScope struct {
	scope func(context.Context) query.Expr
	typ   target
}

// Check implements [rest.Permission].
func (*listScope) Check(context.Context) error { return nil }

// ListScope implements [rest.ScopePermission].
func (l *listScope) ListScope(ctx context.Context, item reflect.Type) (query.Expr, error) {
	if !l.typ.is(item) {
		return nil, nil //nolint:nilnil // no expression is the whole list
	}
	return l.scope(ctx), nil
}

// NarrowsLists reports that it narrows lists, and whether it narrows lists of the items.
func (l *listScope) NarrowsLists(item reflect.Type) (some, these bool) { return true, l.typ.is(item) }

// target is a type of objects, and the pointer to it.
type target struct {
	base, pointer reflect.Type
	face          bool
}

func newTarget[T any]() target {
	base := reflect.TypeFor[T]()
	if base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	return target{base: base, pointer: reflect.PointerTo(base), face: base.Kind() == reflect.Interface}
}

func (t target) is(object reflect.Type) bool {
	if object == nil {
		return false
	}
	return object == t.base || object == t.pointer ||
		t.face && (object.Implements(t.base) || reflect.PointerTo(object).Implements(t.base))
}

// as returns the object as T, of which it may be a pointer or what that points to.
func as[T any](typ target, object any) (T, error) {
	var none T
	if v := reflect.ValueOf(object); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return none, fmt.Errorf("a permission was asked about no %v", typ.base)
	}
	if t, ok := object.(T); ok {
		return t, nil
	}
	if t, ok := object.(*T); ok {
		return *t, nil
	}
	if kind := reflect.TypeOf(object); kind == typ.base || typ.face {
		v := reflect.New(kind)
		v.Elem().Set(reflect.ValueOf(object))
		if t, ok := reflect.TypeAssert[T](v); ok {
			return t, nil
		}
	}
	return none, fmt.Errorf("a permission about %v was asked about a %T", typ.base, object)
}
