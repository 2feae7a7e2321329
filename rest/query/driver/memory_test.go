package driver_test

import (
	"context"
	"testing"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/querytest"
)

func TestMemory(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(_ *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		return query.Slice(data.Books)
	})
}

// own is a source as somebody else would write it.
type own struct{ books query.Set[querytest.Book] }

func (o own) set(plan driver.Plan) query.Set[querytest.Book] {
	sorts := make([]string, len(plan.Order))
	for i, key := range plan.Order {
		sorts[i] = driver.Sort{Path: key.Column.Path(), Desc: key.Desc}.String()
	}
	books := o.books.OrderBy(sorts...)
	if plan.Where == nil {
		return books
	}
	return books.Where(plan.Where)
}

func (o own) Fetch(ctx context.Context, plan driver.Plan) ([]querytest.Book, error) {
	return o.set(plan).Fetch(ctx, plan.Offset, plan.Limit)
}

func (o own) Count(ctx context.Context, plan driver.Plan) (int64, error) {
	return o.set(plan).Count(ctx)
}

func TestFrom(t *testing.T) {
	t.Parallel()

	querytest.Test(t, func(_ *testing.T, data *querytest.Data) query.Set[querytest.Book] {
		return query.From(own{query.Slice(data.Books)})
	})
}
