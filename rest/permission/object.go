package permission

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// Object allows every request and checks objects of type T. The function returns nil to allow
// the object, [rest.Denied] to refuse it, and another error if it cannot decide. If T is Book
// or *Book, Object checks both books and pointers to books. If T is an interface, Object checks
// every type that implements T. If only the pointer to the type implements T, the function gets
// a pointer to a copy.
//
// An object is checked only if the handler calls [rest.GetOrNotFound] or
// [rest.CheckObjectPermission]. Without that call, every object is allowed. Lists are not
// narrowed; see [ListScope].
func Object[T any](check func(ctx context.Context, object T) error) rest.Permission {
	if check == nil {
		panic("permission: Object needs a function")
	}
	return &objectRule[T]{check: check, typ: newTarget[T]()}
}

// Owner allows every request, and the objects whose owner is the principal. The function owner
// returns the principal's id; an object with an empty owner belongs to nobody. As with
// [Object], the handler has to ask for the check.
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

// ListScope allows every request, and narrows lists of T or *T to the items that match the
// expression. A nil expression shows all items.
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
		return nil, nil //nolint:nilnil // nil means the whole list
	}
	return l.scope(ctx), nil
}

// NarrowsLists reports that the permission narrows lists, and whether it narrows lists of the
// item type.
func (l *listScope) NarrowsLists(item reflect.Type) (some, these bool) { return true, l.typ.is(item) }

// target is an object type and its pointer type.
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

// as returns the object as a T. The object may also be a pointer to a T, or the value that T
// points to.
func as[T any](typ target, object any) (T, error) {
	var none T
	if v := reflect.ValueOf(object); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return none, fmt.Errorf("a permission was called with a nil %v", typ.base)
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
	return none, fmt.Errorf("a permission for %v was called with a %T", typ.base, object)
}
