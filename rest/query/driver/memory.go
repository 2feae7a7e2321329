package driver

import (
	"context"
	"reflect"
	"slices"
)

// memory is a source that reads a slice. Its rows are in the order of the slice, and sorting
// is stable.
type memory struct{ items items }

// items is a slice whose element type may be known only at run time.
type items interface {
	size() int
	// at returns the i-th element, and false if it is a nil pointer.
	at(i int) (reflect.Value, bool)
	// cut returns the elements from:to, and pick those at the indexes.
	cut(from, to int) any
	pick(indexes []int) any
}

type rows[T any] []T

func (r rows[T]) size() int { return len(r) }

func (r rows[T]) at(i int) (reflect.Value, bool) { return settle(reflect.ValueOf(&r[i])) }

func (r rows[T]) cut(from, to int) any {
	if from >= to {
		return []T{}
	}
	return []T(r[from:to:to])
}

func (r rows[T]) pick(indexes []int) any {
	picked := make([]T, len(indexes))
	for i, at := range indexes {
		picked[i] = r[at]
	}
	return picked
}

type anyRows struct{ list reflect.Value }

func (r anyRows) size() int { return r.list.Len() }

func (r anyRows) at(i int) (reflect.Value, bool) { return settle(r.list.Index(i)) }

func (r anyRows) cut(from, to int) any {
	if from >= to {
		return reflect.MakeSlice(r.list.Type(), 0, 0).Interface()
	}
	return r.list.Slice3(from, to, to).Interface()
}

func (r anyRows) pick(indexes []int) any {
	picked := reflect.MakeSlice(r.list.Type(), len(indexes), len(indexes))
	for i, at := range indexes {
		picked.Index(i).Set(r.list.Index(at))
	}
	return picked.Interface()
}

func (m memory) fetch(ctx context.Context, plan Plan) (found any, n int, err error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if plan.Where == nil && len(plan.Order) == 0 {
		from, to := window(m.items.size(), plan)
		return m.items.cut(from, to), to - from, nil
	}
	stop := -1
	if len(plan.Order) == 0 && plan.Limit >= 0 {
		stop = int(min(plan.Offset+plan.Limit, int64(m.items.size())))
	}
	indexes, err := m.match(ctx, plan.Where, stop)
	if err != nil {
		return nil, 0, err
	}
	m.sort(indexes, plan.Order)
	from, to := window(len(indexes), plan)
	return m.items.pick(indexes[from:to]), to - from, nil
}

func (m memory) count(ctx context.Context, plan Plan) (int64, error) {
	if plan.Where == nil {
		return int64(m.items.size()), ctx.Err()
	}
	indexes, err := m.match(ctx, plan.Where, -1)
	return int64(len(indexes)), err
}

func (m memory) estimate(ctx context.Context, plan Plan) (int64, error) { return m.count(ctx, plan) }

func (memory) ordered() bool { return true }

// window returns the range of n rows that the plan asks for.
func window(n int, plan Plan) (from, to int) {
	from = int(min(plan.Offset, int64(n)))
	to = n
	if plan.Limit >= 0 {
		to = from + int(min(plan.Limit, int64(n-from)))
	}
	return from, to
}

// match returns the indexes of the rows that match where. If stop is not negative, it returns
// at most stop indexes.
func (m memory) match(ctx context.Context, where Predicate, stop int) ([]int, error) {
	holds, err := matcherOf(where)
	if err != nil {
		return nil, err
	}
	indexes := make([]int, 0, m.items.size())
	for i := range m.items.size() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if stop >= 0 && len(indexes) >= stop {
			break
		}
		if where == nil {
			indexes = append(indexes, i)
		} else if row, ok := m.items.at(i); ok && holds(row) == yes {
			indexes = append(indexes, i)
		}
	}
	return indexes, nil
}

// sort sorts the indexes. It reads each column of each row only once.
func (m memory) sort(indexes []int, order []Key) {
	if len(order) == 0 {
		return
	}
	type sorted struct {
		index int
		data  []datum
	}
	data := make([]datum, len(indexes)*len(order))
	all := make([]sorted, len(indexes))
	for i, index := range indexes {
		all[i] = sorted{index, data[i*len(order) : (i+1)*len(order)]}
		row, ok := m.items.at(index)
		for k, key := range order {
			all[i].data[k] = datum{null: true}
			if ok {
				all[i].data[k] = key.Column.read(row)
			}
		}
	}
	slices.SortFunc(all, func(a, b sorted) int {
		for k, key := range order {
			c := key.Column.Field.sort(&a.data[k], &b.data[k])
			if key.Desc {
				c = -c
			}
			if c != 0 {
				return c
			}
		}
		return a.index - b.index
	})
	for i := range all {
		indexes[i] = all[i].index
	}
}

// read returns the datum at the end of a path through to-one relations.
func (c *Column) read(row reflect.Value) datum {
	for _, step := range c.Steps {
		next, ok := follow(row, step)
		if !ok {
			return datum{null: true}
		}
		row = next
	}
	return c.Field.read(row)
}
