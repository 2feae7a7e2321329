package query

import "github.com/spoolhq/spool/rest/query/driver"

// Expr is a condition on the rows of a list. [Where], [And], [Or], [Xor] and [Not] make one. It
// is immutable, and belongs to no model until it is used with one.
type Expr = driver.Expr

// Where compares the column at the end of a path with a value. The path may end in a part of a
// time and in a lookup, as in author__name__iexact and published__year__gte, and means exact
// otherwise. A path that ends in a relation is its key.
func Where(path string, value any) Expr { return driver.On(path, "", value) }

// And holds when all of exprs hold, and so when there are none.
func And(exprs ...Expr) Expr { return group{driver.AllOf, exprs} }

// Or holds when one of exprs holds, and so not when there are none.
func Or(exprs ...Expr) Expr { return group{driver.AnyOf, exprs} }

// Xor holds when an odd number of exprs hold, and is unknown when one of them is.
func Xor(exprs ...Expr) Expr { return group{driver.OddOf, exprs} }

// Not holds when expr is false, and is unknown when expr is.
func Not(expr Expr) Expr { return negated{expr} }

type group struct {
	op    driver.Connector
	exprs []Expr
}

// Resolve implements [Expr].
func (g group) Resolve(m *driver.Model) (driver.Predicate, error) {
	items := make([]driver.Predicate, 0, len(g.exprs))
	for _, e := range g.exprs {
		if e == nil {
			continue
		}
		p, err := e.Resolve(m)
		if err != nil {
			return nil, err
		}
		items = append(items, p)
	}
	return driver.Join(g.op, items), nil
}

type negated struct{ expr Expr }

// Resolve implements [Expr].
func (n negated) Resolve(m *driver.Model) (driver.Predicate, error) {
	p, err := m.Resolve(n.expr)
	if err != nil {
		return nil, err
	}
	return &driver.Negation{Item: p}, nil
}
