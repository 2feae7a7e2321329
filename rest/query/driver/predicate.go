package driver

// Expr is a condition on the rows of a list. It is immutable, and is checked against a model
// only when it is used.
type Expr interface {
	// Resolve checks the condition against a model and returns the predicate for a source.
	Resolve(m *Model) (Predicate, error)
}

// Connector joins conditions.
type Connector uint8

// The connectors.
const (
	// AllOf is AND.
	AllOf Connector = iota
	// AnyOf is OR.
	AnyOf
	// OddOf is XOR: an odd number of the conditions has to be true.
	OddOf
)

// Predicate is an expression whose paths, lookups and values were checked against a model. A
// [Source] evaluates it. It is a *[Test], *[Group], *[Negation] or [Constant], and can be used
// as an expression of that model again.
type Predicate interface {
	Expr
	predicate()
}

// Test compares a column with values.
type Test struct {
	Column *Column
	// Part is the part of a time that is compared. It is never Year or Date.
	Part   Part
	Lookup Lookup
	// Values has one value, two for [Range], or one or more for [In]. The column's kind
	// decides their type: bool, int64, uint64 (only beyond int64), float64, string, time.Time
	// (in UTC, whole microseconds), []byte, or the column's own type for [Other]. For [IsNull]
	// the value is a bool, for a part an int64.
	Values []any
}

// Group joins predicates.
type Group struct {
	Op    Connector
	Items []Predicate
}

// Negation negates a predicate.
type Negation struct{ Item Predicate }

// Constant is a predicate with the same result for every row.
type Constant bool

// Column is the column at the end of a path.
type Column struct {
	// Model is the model at which the path begins.
	Model *Model
	// Steps are the relations of the path.
	Steps []*Relation
	// Field is the column's field. It is nil if the path ends in a to-many relation, which
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

// Nullable reports whether the column can be null for some row.
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

// Resolve implements [Expr].
func (t *Test) Resolve(m *Model) (Predicate, error) {
	if t.Column.Model != m {
		return nil, foreign(t.Column.Model, m)
	}
	return t, nil
}

// Resolve implements [Expr].
func (g *Group) Resolve(m *Model) (Predicate, error) {
	for _, item := range g.Items {
		if _, err := item.Resolve(m); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Resolve implements [Expr].
func (n *Negation) Resolve(m *Model) (Predicate, error) {
	if _, err := n.Item.Resolve(m); err != nil {
		return nil, err
	}
	return n, nil
}

// Resolve implements [Expr].
func (c Constant) Resolve(*Model) (Predicate, error) { return c, nil }
