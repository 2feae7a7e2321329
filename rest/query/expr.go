package query

import "github.com/spoolhq/spool/rest/query/driver"

// Expr is a condition on the rows of a list. [Where], [And], [Or], [Xor] and [Not] return one.
// It is immutable, and is checked against a model only when it is used.
type Expr = driver.Expr

// Where compares the column at the end of a path with a value. The path may end in a part of a
// time and in a lookup, as in author__name__iexact and published__year__gte. Without a lookup,
// the lookup is exact. A path that ends in a relation means the relation's key.
func Where(path string, value any) Expr { return driver.On(path, "", value) }

// And is true if all of exprs are true. Without exprs it is true.
func And(exprs ...Expr) Expr { return group{driver.AllOf, exprs} }

// Or is true if at least one of exprs is true. Without exprs it is false.
func Or(exprs ...Expr) Expr { return group{driver.AnyOf, exprs} }

// Xor is true if an odd number of exprs are true. It is unknown if one of them is unknown.
func Xor(exprs ...Expr) Expr { return group{driver.OddOf, exprs} }

// Not is true if expr is false, and unknown if expr is unknown.
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
