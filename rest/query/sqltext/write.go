package sqltext

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Write returns the SQL for a plan. root is the quoted alias of the table. The plan's offset
// and limit are left to the adapter.
func Write(d Dialect, t Table, root string, plan driver.Plan) (*Statement, error) {
	if d != Postgres && d != SQLite {
		return nil, errors.New("lists are read from PostgreSQL and SQLite only")
	}
	w := &writer{dialect: d, collate: collate(plan.Collation)}
	s := &scope{table: t, alias: root}
	out := &Statement{}
	if plan.Where != nil {
		where, err := w.predicate(s, plan.Where)
		if err != nil {
			return nil, err
		}
		out.Where = where
	}
	for _, key := range plan.Order {
		part, err := w.order(s, key)
		if err != nil {
			return nil, err
		}
		out.Order = append(out.Order, part)
	}
	for _, j := range s.joins {
		out.Joins = append(out.Joins, j.clause)
	}
	return out, nil
}

type writer struct {
	dialect Dialect
	collate string
	aliases int
}

// scope is one SELECT: its table and the joined tables.
type scope struct {
	table Table
	alias string
	joins []joined
}

type joined struct {
	from   string
	step   *driver.Relation
	alias  string
	table  Table
	clause Clause
}

func text(format string, args ...any) Clause { return Clause{Text: fmt.Sprintf(format, args...)} }

func wrap(parts ...Clause) Clause {
	var b strings.Builder
	var args []any
	for _, p := range parts {
		b.WriteString(p.Text)
		args = append(args, p.Args...)
	}
	return Clause{Text: b.String(), Args: args}
}

func between(separator string, items []Clause) Clause {
	parts := make([]Clause, 0, 2*len(items))
	for i, item := range items {
		if i > 0 {
			parts = append(parts, text("%s", separator))
		}
		parts = append(parts, item)
	}
	return wrap(parts...)
}

func (w *writer) predicate(s *scope, p driver.Predicate) (Clause, error) {
	switch p := p.(type) {
	case driver.Constant:
		if p {
			return text("1 = 1"), nil
		}
		return text("1 = 0"), nil
	case *driver.Negation:
		item, err := w.predicate(s, p.Item)
		return wrap(text("NOT ("), item, text(")")), err
	case *driver.Group:
		return w.group(s, p)
	case *driver.Test:
		return w.test(s, p, s.table, s.alias, p.Column.Steps)
	default:
		return Clause{}, fmt.Errorf("predicate %T is unknown", p)
	}
}

func (w *writer) group(s *scope, g *driver.Group) (Clause, error) {
	items := make([]Clause, len(g.Items))
	for i, item := range g.Items {
		c, err := w.predicate(s, item)
		if err != nil {
			return Clause{}, err
		}
		items[i] = wrap(text("("), c, text(")"))
	}
	switch g.Op {
	case driver.AllOf:
		return between(" AND ", items), nil
	case driver.AnyOf:
		return between(" OR ", items), nil
	default:
		odd := items[0]
		for _, item := range items[1:] {
			odd = wrap(text("("), odd, text(" <> "), item, text(")"))
		}
		return odd, nil
	}
}

// test follows the steps of a path and compares the column at its end.
func (w *writer) test(s *scope, t *driver.Test, at Table, alias string, steps []*driver.Relation) (Clause, error) {
	for i, step := range steps {
		if step.Many {
			return w.exists(t, at, alias, steps[i:])
		}
		j, err := w.join(s, at, alias, step)
		if err != nil {
			return Clause{}, err
		}
		at, alias = j.table, j.alias
	}
	column, err := at.Column(t.Column.Field)
	if err != nil {
		return Clause{}, err
	}
	return w.compare(t, alias+"."+column.Name, column.Zoneless), nil
}

// join joins a to-one relation. The same step from the same table is joined only once.
func (w *writer) join(s *scope, at Table, alias string, step *driver.Relation) (joined, error) {
	i := slices.IndexFunc(s.joins, func(j joined) bool { return j.from == alias && j.step == step })
	if i >= 0 {
		return s.joins[i], nil
	}
	rel, err := at.Join(step)
	if err != nil {
		return joined{}, err
	}
	if rel.Through != nil {
		return joined{}, fmt.Errorf("relation %s goes through a table and leads to one", step.Name)
	}
	j := joined{from: alias, step: step, alias: w.alias(step), table: rel.Target}
	on := append(pairs(alias, j.alias, rel.On), fixed(j.alias, slices.Concat(rel.Fixed, rel.Target.Live()))...)
	j.clause = wrap(text("LEFT JOIN %s AS %s ON ", rel.Target.Source(), j.alias), between(" AND ", on))
	s.joins = append(s.joins, j)
	return j, nil
}

// maxAlias is less than the length at which PostgreSQL truncates names.
const maxAlias = 60

// alias returns a new alias. It is short enough for any database and differs from the
// program's names.
func (w *writer) alias(step *driver.Relation) string {
	w.aliases++
	name := "q" + strconv.Itoa(w.aliases)
	if ascii(step.Name) && len(step.Name) <= maxAlias-len(name) {
		name += "_" + step.Name
	}
	return `"` + name + `"`
}

// exists returns a condition that is true if the rest of the path matches for one related row.
func (w *writer) exists(t *driver.Test, at Table, alias string, steps []*driver.Relation) (Clause, error) {
	rel, err := at.Join(steps[0])
	if err != nil {
		return Clause{}, err
	}
	inner := &scope{table: rel.Target, alias: w.alias(steps[0])}
	from, on := w.related(rel, alias, inner.alias, steps[0])
	not := ""
	if t.Column.Field == nil && len(steps) == 1 {
		if t.Values[0] == true {
			not = "NOT "
		}
	} else {
		rest, err := w.test(inner, t, inner.table, inner.alias, steps[1:])
		if err != nil {
			return Clause{}, err
		}
		on = append(on, wrap(text("("), rest, text(")")))
	}
	parts := []Clause{text("%sEXISTS (SELECT 1 FROM ", not), from}
	for _, j := range inner.joins {
		parts = append(parts, text(" "), j.clause)
	}
	return wrap(append(parts, text(" WHERE "), between(" AND ", on), text("%s)", w.one()))...), nil
}

// one ends an EXISTS with a LIMIT in SQLite. Without it, SQLite (such as 3.53) turns an
// EXISTS over one table into a join, and OFFSET then skips related rows.
func (w *writer) one() string {
	if w.dialect == SQLite {
		return " LIMIT 1"
	}
	return ""
}

// related returns the FROM clause for related rows and the conditions that relate them.
func (w *writer) related(rel *Join, base, alias string, step *driver.Relation) (from Clause, on []Clause) {
	live := fixed(alias, rel.Target.Live())
	if rel.Through == nil {
		on = append(pairs(base, alias, rel.On), fixed(alias, rel.Fixed)...)
		return text("%s AS %s", rel.Target.Source(), alias), append(on, live...)
	}
	middle := w.alias(step)
	from = wrap(text("%s AS %s JOIN %s AS %s ON ", rel.Through.Source, middle, rel.Target.Source(), alias),
		between(" AND ", pairs(middle, alias, rel.Through.On)))
	on = append(pairs(base, middle, rel.On), fixed(middle, rel.Fixed)...)
	return from, append(on, live...)
}

func pairs(left, right string, on []Pair) []Clause {
	clauses := make([]Clause, len(on))
	for i, p := range on {
		clauses[i] = text("%s.%s = %s.%s", left, p.Left, right, p.Right)
	}
	return clauses
}

func fixed(alias string, columns []Fixed) []Clause {
	clauses := make([]Clause, len(columns))
	for i, f := range columns {
		clauses[i] = text("%s.%s IS NULL", alias, f.Column)
		if f.Value != nil {
			clauses[i] = Clause{Text: alias + "." + f.Column + " = ?", Args: []any{f.Value}}
		}
	}
	return clauses
}
