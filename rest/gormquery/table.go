package gormquery

import (
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// table adapts gorm's schema of a model to [sqltext.Table].
type table struct {
	db     *gorm.DB
	schema *schema.Schema
}

// Source implements [sqltext.Table].
func (t table) Source() string { return t.quote(t.schema.Table) }

func (t table) quote(name string) string { return t.db.Statement.Quote(name) }

// Column implements [sqltext.Table].
func (t table) Column(f *driver.Field) (sqltext.Column, error) {
	for _, column := range t.schema.Fields {
		if column.DBName != "" && column.Readable && slices.Equal(plain(column.StructField.Index), f.Index) {
			return sqltext.Column{Name: t.quote(column.DBName), Zoneless: sqltext.Zoneless(column.TagSettings["TYPE"])}, nil
		}
	}
	return sqltext.Column{}, fmt.Errorf("%s.%s is no column for gorm", t.schema.Name, f.Go)
}

// plain returns a field's index in the form of package reflect. gorm writes a step through an
// embedded pointer as a negative number.
func plain(index []int) []int {
	index = slices.Clone(index)
	for i, at := range index {
		index[i] = max(at, -at-1)
	}
	return index
}

// Join implements [sqltext.Table].
func (t table) Join(r *driver.Relation) (*sqltext.Join, error) {
	var rel *schema.Relationship
	for _, known := range t.schema.Relationships.Relations {
		if slices.Equal(plain(known.Field.StructField.Index), r.Index) {
			rel = known
		}
	}
	if rel == nil {
		return nil, fmt.Errorf("%s.%s is not a relation of gorm", t.schema.Name, r.Go)
	}
	j := &sqltext.Join{Target: table{t.db, rel.FieldSchema}}
	if rel.JoinTable != nil {
		j.Through = &sqltext.Through{Source: t.quote(rel.JoinTable.Table)}
	}
	for _, ref := range rel.References {
		t.reference(j, ref)
	}
	if j.Through != nil {
		j.Fixed = append(j.Fixed, table{t.db, rel.JoinTable}.Live()...)
	}
	return j, nil
}

// reference adds a pair of equal columns, or the fixed column of a polymorphic relation.
func (t table) reference(j *sqltext.Join, ref *schema.Reference) {
	foreign := t.quote(ref.ForeignKey.DBName)
	switch {
	case ref.PrimaryValue != "":
		j.Fixed = append(j.Fixed, sqltext.Fixed{Column: foreign, Value: ref.PrimaryValue})
	case ref.OwnPrimaryKey:
		j.On = append(j.On, sqltext.Pair{Left: t.quote(ref.PrimaryKey.DBName), Right: foreign})
	case j.Through != nil:
		j.Through.On = append(j.Through.On, sqltext.Pair{Left: foreign, Right: t.quote(ref.PrimaryKey.DBName)})
	default:
		j.On = append(j.On, sqltext.Pair{Left: foreign, Right: t.quote(ref.PrimaryKey.DBName)})
	}
}

// Live implements [sqltext.Table].
func (t table) Live() []sqltext.Fixed {
	var live []sqltext.Fixed
	for _, c := range t.schema.QueryClauses {
		if deleted, ok := c.(gorm.SoftDeleteQueryClause); ok {
			live = append(live, sqltext.Fixed{Column: t.quote(deleted.Field.DBName)})
			if deleted.ZeroValue.Valid {
				live[len(live)-1].Value = deleted.ZeroValue.String
			}
		}
	}
	return live
}
