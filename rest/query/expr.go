package query

// Expr is a condition on the rows of a list. It is made by [Where], [On], [And], [Or], [Xor]
// and [Not], is immutable, and belongs to no model until it is used with one.
type Expr interface {
	resolve(m *Model) (Predicate, error)
}

// Where compares the column at the end of a path with a value. The path may end in a part
// and a lookup, as in author__name__iexact, and means [Exact] otherwise. A path that ends in
// a relation is its key.
func Where(path string, value any) Expr { return cond{path: path, value: value} }

// On is [Where] with the lookup apart from the path, which may still end in a part.
func On(path string, lookup Lookup, value any) Expr {
	return cond{path: path, lookup: lookup, value: value}
}

// And holds when all of exprs hold, and so when there are none.
func And(exprs ...Expr) Expr { return group{AllOf, exprs} }

// Or holds when one of exprs holds, and so not when there are none.
func Or(exprs ...Expr) Expr { return group{AnyOf, exprs} }

// Xor holds when an odd number of exprs hold, and is unknown when one of them is.
func Xor(exprs ...Expr) Expr { return group{OddOf, exprs} }

// Not holds when expr is false, and is unknown when expr is.
func Not(expr Expr) Expr { return negated{expr} }

// Connector joins conditions.
type Connector uint8

// The connectors.
const (
	// AllOf is AND.
	AllOf Connector = iota
	// AnyOf is OR.
	AnyOf
	// OddOf is XOR: an odd number of the conditions.
	OddOf
)

type cond struct {
	path   string
	lookup Lookup
	value  any
}

type group struct {
	op    Connector
	exprs []Expr
}

type negated struct{ expr Expr }

// Predicate is an expression whose paths, lookups and values were checked against a model,
// and which a [Source] gets to evaluate. It is one of *[Test], *[Group], *[Negation] and
// [Constant], and can be used as an expression of that model again.
type Predicate interface {
	Expr
	predicate()
}

// Test compares a column with values.
type Test struct {
	Column *Column
	// Part is what of a time is compared, and never Year or Date.
	Part   Part
	Lookup Lookup
	// Values has one value, two for [Range], any number but none for [In]. They are bool,
	// int64, uint64 (only when beyond int64), float64, string, time.Time (in UTC, whole
	// microseconds) or []byte after the kind of the column, and of the column's own type for
	// [Other]. [IsNull] has a bool, and a part has int64.
	Values []any
}

// Group joins predicates.
type Group struct {
	Op    Connector
	Items []Predicate
}

// Negation is the opposite of a predicate.
type Negation struct{ Item Predicate }

// Constant is a predicate that does not look at the row.
type Constant bool

// Column is where a path ends.
type Column struct {
	// Model is where the path begins.
	Model *Model
	// Steps are the relations that the path leads through.
	Steps []*Relation
	// Field is the column itself. It is nil when the path ends in a relation to many, which
	// only takes [IsNull].
	Field *Field
}

// Path returns the logical path of c.
func (c *Column) Path() string {
	path := ""
	for _, step := range c.Steps {
		path = below(path, step.Name)
	}
	if c.Field == nil {
		return path
	}
	return below(path, c.Field.Name)
}

// Nullable reports whether the column of some row may be null.
func (c *Column) Nullable() bool { return len(c.Steps) > 0 || c.Field == nil || c.Field.Nullable }

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "__" + name
}

func (*Test) predicate()     {}
func (*Group) predicate()    {}
func (*Negation) predicate() {}
func (Constant) predicate()  {}

func (t *Test) resolve(m *Model) (Predicate, error) {
	if t.Column.Model != m {
		return nil, foreign(t.Column.Model, m)
	}
	return t, nil
}

func (g *Group) resolve(m *Model) (Predicate, error) {
	for _, item := range g.Items {
		if _, err := item.resolve(m); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (n *Negation) resolve(m *Model) (Predicate, error) {
	if _, err := n.Item.resolve(m); err != nil {
		return nil, err
	}
	return n, nil
}

func (c Constant) resolve(*Model) (Predicate, error) { return c, nil }
