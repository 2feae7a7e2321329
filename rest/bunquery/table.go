package bunquery

import (
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun/schema"

	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// table adapts bun's schema of a model to [sqltext.Table].
type table struct{ schema *schema.Table }

// Source implements [sqltext.Table].
func (t table) Source() string { return string(t.schema.SQLNameForSelects) }

// Column implements [sqltext.Table].
func (t table) Column(f *driver.Field) (sqltext.Column, error) {
	for _, column := range t.schema.Fields {
		if slices.Equal(column.Index, f.Index) {
			return sqltext.Column{Name: string(column.SQLName), Zoneless: sqltext.Zoneless(column.CreateTableSQLType)}, nil
		}
	}
	return sqltext.Column{}, fmt.Errorf("%s.%s is no column for bun", t.schema.TypeName, f.Go)
}

// Join implements [sqltext.Table].
func (t table) Join(r *driver.Relation) (*sqltext.Join, error) {
	var rel *schema.Relation
	for _, known := range t.schema.Relations {
		if slices.Equal(known.Field.Index, r.Index) {
			rel = known
		}
	}
	switch {
	case rel == nil:
		return nil, fmt.Errorf("%s.%s is not a relation of bun", t.schema.TypeName, r.Go)
	case len(rel.Condition) > 0:
		return nil, fmt.Errorf("%s.%s is joined by a condition of its own", t.schema.TypeName, r.Go)
	}
	j := &sqltext.Join{Target: table{rel.JoinTable}}
	if rel.Type == schema.ManyToManyRelation {
		j.On = pairs(rel.BasePKs, rel.M2MBasePKs)
		j.Through = &sqltext.Through{Source: string(rel.M2MTable.SQLNameForSelects), On: pairs(rel.M2MJoinPKs, rel.JoinPKs)}
		return j, nil
	}
	j.On = pairs(rel.BasePKs, rel.JoinPKs)
	if rel.PolymorphicField != nil {
		j.Fixed = []sqltext.Fixed{{Column: string(rel.PolymorphicField.SQLName), Value: rel.PolymorphicValue}}
	}
	return j, nil
}

// Live implements [sqltext.Table].
func (t table) Live() []sqltext.Fixed {
	deleted := t.schema.SoftDeleteField
	switch {
	case deleted == nil:
		return nil
	case deleted.IsPtr || deleted.NullZero:
		return []sqltext.Fixed{{Column: string(deleted.SQLName)}}
	default:
		return []sqltext.Fixed{{Column: string(deleted.SQLName), Value: time.Time{}}}
	}
}

func pairs(left, right []*schema.Field) []sqltext.Pair {
	on := make([]sqltext.Pair, len(left))
	for i := range left {
		on[i] = sqltext.Pair{Left: string(left[i].SQLName), Right: string(right[i].SQLName)}
	}
	return on
}
