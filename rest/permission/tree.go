package permission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// verdict is what is known about a request before the object is known.
type verdict uint8

const (
	no    verdict = iota // refused
	maybe                // the object or the scope of the list decides
	yes                  // allowed for every object
)

// answer is a verdict with the refusal if it is no, or the fault that prevented a verdict.
type answer struct {
	verdict verdict
	fault   error
	// refusal is the error of a permission that refuses. Nil: by creates it when it is needed, because most
	// refusals inside Any are never returned.
	refusal error
	by      denier
}

// denier returns its refusal without checking the request again.
type denier interface{ denial() error }

// tester is a permission of this package that only allows or refuses.
type tester interface {
	denier
	allows(ctx context.Context) bool
}

// err returns the error for the caller of a permission.
func (a answer) err() error {
	switch {
	case a.fault != nil:
		return a.fault
	case a.verdict != no:
		return nil
	case a.refusal != nil:
		return a.refusal
	default:
		return a.by.denial()
	}
}

// ended reports whether the answer is final for [All]: no other member can change it.
func (a answer) ended() bool { return a.fault != nil || a.verdict == no }

// node is a permission in the tree of a combination.
type node interface {
	// decide checks the request. If exact is false, a maybe may stand for a yes.
	decide(ctx context.Context, exact bool) answer
	// judges reports whether the node contains a rule about objects of the type, or about any
	// objects if the type is nil.
	judges(object reflect.Type) bool
	// judge checks the object, and also the request unless asked is true. It is called only if
	// the node judges the object's type. It answers yes or no.
	judge(ctx context.Context, object any, asked bool) answer
	// narrows reports whether the node contains a rule about lists of the item type, or any
	// lists if the type is nil.
	narrows(item reflect.Type) bool
	// scope returns the condition for the rows of a list; nil means all rows, and the answer
	// no means none. It also checks the request unless asked is true. It is called only if the
	// node narrows the list.
	scope(ctx context.Context, item reflect.Type, asked bool) (query.Expr, answer)
}

// nodeOf returns the node of p if p is a combination, and otherwise a leaf with p.
func nodeOf(p rest.Permission) node {
	switch p := p.(type) {
	case nil:
		panic("permission: a member of a combination is nil")
	case *combined:
		return p.node
	case *combinedObject:
		return p.node
	default:
		l := &leaf{permission: p}
		l.object, _ = p.(rest.ObjectPermission)
		l.scopes, _ = p.(rest.ScopePermission)
		l.test, _ = p.(tester)
		return l
	}
}

// permissionOf returns a permission for the node. It is an ObjectPermission only if the node
// has a rule about objects: a route whose object permissions do not apply to an object answers
// an error.
func permissionOf(n node) rest.Permission {
	c := combined{node: n}
	if n.judges(nil) {
		return &combinedObject{c}
	}
	return &c
}

type combined struct{ node node }

// Check implements [rest.Permission].
func (c *combined) Check(ctx context.Context) error {
	return c.node.decide(ctx, false).err()
}

// ListScope implements [rest.ScopePermission].
func (c *combined) ListScope(ctx context.Context, item reflect.Type) (query.Expr, error) {
	if !c.node.narrows(item) {
		return nil, nil //nolint:nilnil // nil means the whole list
	}
	expr, a := c.node.scope(ctx, item, true)
	if a.fault != nil {
		return nil, a.fault
	}
	if a.verdict == no {
		return query.Or(), nil
	}
	return expr, nil
}

// NarrowsLists reports whether c has a rule about lists, and whether it has one about the item
// type.
func (c *combined) NarrowsLists(item reflect.Type) (some, these bool) {
	return c.node.narrows(nil), c.node.narrows(item)
}

type combinedObject struct{ combined }

// AppliesTo implements [rest.ObjectPermission].
func (c *combinedObject) AppliesTo(object reflect.Type) bool {
	return object != nil && c.node.judges(object)
}

// CheckObject implements [rest.ObjectPermission].
func (c *combinedObject) CheckObject(ctx context.Context, object any) error {
	if !c.AppliesTo(reflect.TypeOf(object)) {
		return fmt.Errorf("a permission was called with a %T, which it does not check", object)
	}
	return c.node.judge(ctx, object, true).err()
}

// leaf is a permission that is not a combination.
type leaf struct {
	permission rest.Permission
	object     rest.ObjectPermission
	scopes     rest.ScopePermission
	test       tester
}

func (l *leaf) decide(ctx context.Context, _ bool) answer {
	if l.test != nil {
		if l.test.allows(ctx) {
			return answer{verdict: yes}
		}
		return answer{by: l.test}
	}
	a := answerOf(l.permission.Check(ctx))
	if a.verdict == yes && (l.object != nil || l.scopes != nil) {
		a.verdict = maybe
	}
	return a
}

func (l *leaf) judges(object reflect.Type) bool {
	return l.object != nil && (object == nil || l.object.AppliesTo(object))
}

func (l *leaf) judge(ctx context.Context, object any, asked bool) answer {
	if !asked {
		if a := l.decide(ctx, true); a.ended() {
			return a
		}
	}
	return answerOf(l.object.CheckObject(ctx, object))
}

func (l *leaf) narrows(item reflect.Type) bool {
	if own, ok := l.permission.(*listScope); ok {
		return item == nil || own.typ.is(item)
	}
	return l.scopes != nil
}

func (l *leaf) scope(ctx context.Context, item reflect.Type, asked bool) (query.Expr, answer) {
	if !asked {
		if a := l.decide(ctx, true); a.ended() {
			return nil, a
		}
	}
	expr, err := l.scopes.ListScope(ctx, item)
	return expr, answerOf(err)
}

// answerOf returns the answer for an error: nil allows, 401 and 403 refuse, anything else is a
// fault.
func answerOf(err error) answer {
	if err == nil {
		return answer{verdict: yes}
	}
	var e *rest.Error
	if errors.As(err, &e) && (e.Status == http.StatusForbidden || e.Status == http.StatusUnauthorized) {
		return answer{refusal: err}
	}
	return answer{fault: err}
}
