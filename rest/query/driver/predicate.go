package driver

// Expr is a condition on the rows of a list. It is immutable, and belongs to no model until it
// is used with one.
type Expr interface {
	// Resolve checks the condition against a model, and returns what a source evaluates.
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
	// OddOf is XOR: an odd number of the conditions.
	OddOf
)

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
