package permission

import (
	"context"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// All allows what every one of the permissions allows. It refuses with the first refusal. It
// panics without permissions.
func All(permissions ...rest.Permission) rest.Permission {
	return permissionOf(all(nodesOf("All", permissions)))
}

// Any allows what at least one of the permissions allows. It refuses with the last refusal. It
// panics without permissions.
//
// For an object, the same permission has to allow both the request and the object.
func Any(permissions ...rest.Permission) rest.Permission {
	return permissionOf(anyOf(nodesOf("Any", permissions)))
}

// Not allows what the permission refuses.
//
// If the permission contains a rule about objects, Not allows an object if the permission
// refuses the request or the object. Before the object is known, Not lets the request go on,
// unless the permission allows the request for every object.
func Not(permission rest.Permission) rest.Permission {
	return permissionOf(&negated{nodeOf(permission)})
}

// WithMessage returns the permission with another detail in its refusals, which are then 403.
func WithMessage(permission rest.Permission, message string) rest.Permission {
	return permissionOf(&reworded{inner: nodeOf(permission), detail: message})
}

// WithBody returns the permission with body as the whole body of its refusals, which are then
// 403. All requests share the body, so it must not change.
func WithBody(permission rest.Permission, body any) rest.Permission {
	return permissionOf(&reworded{inner: nodeOf(permission), body: body})
}

func nodesOf(name string, permissions []rest.Permission) []node {
	if len(permissions) == 0 {
		panic("permission: " + name + " needs permissions")
	}
	nodes := make([]node, len(permissions))
	for i, p := range permissions {
		nodes[i] = nodeOf(p)
	}
	return nodes
}

type all []node

func (n all) decide(ctx context.Context, exact bool) answer {
	least := yes
	for _, member := range n {
		a := member.decide(ctx, exact)
		if a.ended() {
			return a
		}
		least = min(least, a.verdict)
	}
	return answer{verdict: least}
}

func (n all) judges(object reflect.Type) bool { return oneJudges(n, object) }

func (n all) judge(ctx context.Context, object any, asked bool) answer {
	typ := reflect.TypeOf(object)
	for _, member := range n {
		var a answer
		switch {
		case member.judges(typ):
			a = member.judge(ctx, object, asked)
		case asked:
			continue
		default:
			a = member.decide(ctx, false)
		}
		if a.ended() {
			return a
		}
	}
	return answer{verdict: yes}
}

func (n all) narrows(item reflect.Type) bool { return oneNarrows(n, item) }

func (n all) scope(ctx context.Context, item reflect.Type, asked bool) (query.Expr, answer) {
	var exprs []query.Expr
	for _, member := range n {
		var (
			expr query.Expr
			a    answer
		)
		switch {
		case member.narrows(item):
			expr, a = member.scope(ctx, item, asked)
		case asked:
			continue
		default:
			a = member.decide(ctx, false)
		}
		if a.ended() {
			return nil, a
		}
		if expr != nil {
			exprs = append(exprs, expr)
		}
	}
	return join(exprs, query.And), answer{verdict: yes}
}

type anyOf []node

func (n anyOf) decide(ctx context.Context, exact bool) answer {
	best := answer{}
	for _, member := range n {
		a := member.decide(ctx, exact)
		if a.fault != nil || a.verdict == yes || a.verdict == maybe && !exact {
			return a
		}
		if a.verdict >= best.verdict {
			best = a
		}
	}
	return best
}

func (n anyOf) judges(object reflect.Type) bool { return oneJudges(n, object) }

func (n anyOf) judge(ctx context.Context, object any, _ bool) answer {
	typ := reflect.TypeOf(object)
	last := answer{}
	for _, member := range n {
		var a answer
		if member.judges(typ) {
			a = member.judge(ctx, object, false)
		} else {
			a = member.decide(ctx, true)
		}
		if a.fault != nil || a.verdict == yes {
			return a
		}
		if a.verdict == no { // a maybe comes from a rule about another type
			last = a
		}
	}
	return last
}

func (n anyOf) narrows(item reflect.Type) bool { return oneNarrows(n, item) }

func (n anyOf) scope(ctx context.Context, item reflect.Type, _ bool) (query.Expr, answer) {
	var exprs []query.Expr
	last := answer{}
	for _, member := range n {
		var (
			expr query.Expr
			a    answer
		)
		if member.narrows(item) {
			expr, a = member.scope(ctx, item, false)
		} else {
			a = member.decide(ctx, true)
		}
		switch {
		case a.fault != nil, a.verdict == yes && expr == nil:
			return nil, a
		case a.verdict == no:
			last = a
		case expr != nil:
			exprs = append(exprs, expr)
		}
	}
	if len(exprs) == 0 {
		return nil, last
	}
	return join(exprs, query.Or), answer{verdict: yes}
}

type negated struct{ inner node }

func (n *negated) decide(ctx context.Context, _ bool) answer {
	return n.flip(n.inner.decide(ctx, true))
}

func (n *negated) judges(object reflect.Type) bool { return n.inner.judges(object) }

func (n *negated) judge(ctx context.Context, object any, _ bool) answer {
	return n.flip(n.inner.judge(ctx, object, false))
}

func (n *negated) narrows(item reflect.Type) bool { return n.inner.narrows(item) }

func (n *negated) scope(ctx context.Context, item reflect.Type, _ bool) (query.Expr, answer) {
	expr, a := n.inner.scope(ctx, item, false)
	if a.fault == nil && a.verdict != no && expr != nil {
		return query.Not(expr), a
	}
	return nil, n.flip(a)
}

func (n *negated) flip(a answer) answer {
	switch {
	case a.fault != nil, a.verdict == maybe:
		return a
	case a.verdict == no:
		return answer{verdict: yes}
	default:
		return answer{by: n}
	}
}

func (*negated) denial() error { return rest.Denied("") }

// reworded is a node with another detail or body in its refusals.
type reworded struct {
	inner  node
	detail string
	body   any
}

func (r *reworded) decide(ctx context.Context, exact bool) answer {
	return r.replace(r.inner.decide(ctx, exact))
}

func (r *reworded) judges(object reflect.Type) bool { return r.inner.judges(object) }

func (r *reworded) judge(ctx context.Context, object any, asked bool) answer {
	return r.replace(r.inner.judge(ctx, object, asked))
}

func (r *reworded) narrows(item reflect.Type) bool { return r.inner.narrows(item) }

func (r *reworded) scope(ctx context.Context, item reflect.Type, asked bool) (query.Expr, answer) {
	expr, a := r.inner.scope(ctx, item, asked)
	return expr, r.replace(a)
}

func (r *reworded) replace(a answer) answer {
	if a.fault == nil && a.verdict == no {
		return answer{by: r}
	}
	return a
}

func (r *reworded) denial() error {
	e := rest.Denied(r.detail)
	e.Body = r.body
	return e
}

func oneJudges(nodes []node, object reflect.Type) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.judges(object) })
}

func oneNarrows(nodes []node, item reflect.Type) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.narrows(item) })
}

func join(exprs []query.Expr, by func(...query.Expr) query.Expr) query.Expr {
	switch len(exprs) {
	case 0:
		return nil
	case 1:
		return exprs[0]
	default:
		return by(exprs...)
	}
}
