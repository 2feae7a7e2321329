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

// verdict is what is known of a request before an object is.
type verdict uint8

const (
	no    verdict = iota // refused
	maybe                // the object or the scope of the list decides
	yes                  // allowed, whatever the object
)

// answer is a verdict with the reason of a no, or the fault that kept it from being found.
type answer struct {
	verdict verdict
	fault   error
	// refusal is the reason, and by makes one when there is none yet: most refusals of a
	// member of Any are never told to anybody.
	refusal error
	by      denier
}

// denier is what can say why it refused, without being asked again whether it does.
type denier interface{ denial() error }

// tester is a permission of this package that is true or false.
type tester interface {
	denier
	allows(ctx context.Context) bool
}

// err is what the answer is to the caller of a permission.
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

// ended reports whether no other member changes the answer of a conjunction.
func (a answer) ended() bool { return a.fault != nil || a.verdict == no }

// node is a permission as this package combines it.
type node interface {
	// decide judges the request. Without exact, a maybe may stand for a yes.
	decide(ctx context.Context, exact bool) answer
	// judges reports whether a rule about objects of the type is in the node, and about any
	// objects when the type is nil.
	judges(object reflect.Type) bool
	// judge judges the object. Unless asked is true, the request must be judged too. It is
	// called on nodes that judge its type, and answers yes or no.
	judge(ctx context.Context, object any, asked bool) answer
	// narrows is judges for the lists.
	narrows(item reflect.Type) bool
	// scope returns what is shown of a list: nil is everything, and the answer no means
	// nothing. Unless asked is true, the request must be judged too. It is called on nodes
	// that narrow the list.
	scope(ctx context.Context, item reflect.Type, asked bool) (query.Expr, answer)
}

// nodeOf returns p itself if it is a combination, and a leaf with it otherwise.
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

// permissionOf makes a permission of a node. One without a rule about objects must not look
// as if it had one: a route whose object permissions do not apply is an error.
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
		return nil, nil //nolint:nilnil // no expression is the whole list
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

// NarrowsLists reports whether a rule about lists is in it, and one about lists of the items.
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
		return fmt.Errorf("a permission was asked about a %T, which it does not judge", object)
	}
	return c.node.judge(ctx, object, true).err()
}

// leaf is a permission that is no combination.
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

// answerOf tells a refusal from a fault.
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
