package driver

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// List is a list whose element type is known only at run time, for options and paginators.
// Nothing is read before Count, Estimate or Fetch. It is immutable, and safe for concurrent
// use if its source is. A mistake in an expression, such as an unknown field, is the error of
// the first read.
type List struct {
	elem  reflect.Type
	src   source
	where Predicate
	order []Key
	sorts []Sort
	err   error

	collation *string // of [Plan]
}

// From returns the list of all rows of src.
func From[T any](src Source[T]) *List {
	return &List{elem: reflect.TypeFor[T](), src: typedSource[T]{src}}
}

// Slice returns the list of items in their order. The items must not be changed while the list
// is in use.
func Slice[T any](items []T) *List {
	return &List{elem: reflect.TypeFor[T](), src: memory{rows[T](items)}}
}

// ListOf returns v as a list. v may be a *List, a set, a slice of any type, or a pointer to a
// slice. For anything else it returns false.
func ListOf(v any) (*List, bool) {
	switch v := v.(type) {
	case *List:
		return v, true
	case interface{ List() *List }:
		return v.List(), true
	}
	items := reflect.ValueOf(v)
	if items.Kind() == reflect.Pointer {
		items = items.Elem()
	}
	if items.Kind() != reflect.Slice {
		return nil, false
	}
	return newSliceList(items), true
}

// Cut returns items[from:to] of a []T.
func Cut(items any, from, to int) any {
	return reflect.ValueOf(items).Slice3(from, to, to).Interface()
}

// Flip returns a copy of a []T in the opposite order.
func Flip(items any) any {
	list := reflect.ValueOf(items)
	n := list.Len()
	flipped := reflect.MakeSlice(list.Type(), n, n)
	for i := range n {
		flipped.Index(n - 1 - i).Set(list.Index(i))
	}
	return flipped.Interface()
}

// source is a [Source] without its type.
type source interface {
	fetch(ctx context.Context, plan Plan) (items any, n int, err error)
	count(ctx context.Context, plan Plan) (int64, error)
	// estimate may return an exact count.
	estimate(ctx context.Context, plan Plan) (int64, error)
	// ordered reports whether rows come in the same order each time, even without an order.
	ordered() bool
}

// sliceList is a list with its source in one allocation, because each answer that is a slice
// makes one.
type sliceList struct {
	list   List
	memory memory
	rows   anyRows
}

func newSliceList(items reflect.Value) *List {
	l := &sliceList{list: List{elem: items.Type().Elem()}, rows: anyRows{items}}
	l.memory = memory{&l.rows}
	l.list.src = &l.memory
	return &l.list
}

// Where returns the rows for which all exprs are true.
func (l *List) Where(exprs ...Expr) *List {
	if l.err != nil || len(exprs) == 0 {
		return l
	}
	next := *l
	items := make([]Predicate, 0, len(exprs)+1)
	if l.where != nil {
		items = append(items, l.where)
	}
	model := l.Model()
	for _, e := range exprs {
		p, err := model.Resolve(e)
		if err != nil {
			next.err = err
			return &next
		}
		items = append(items, p)
	}
	next.where = Join(AllOf, items)
	return &next
}

// OrderBy returns the list in another order. Without sorts the list has no order.
func (l *List) OrderBy(sorts ...Sort) *List {
	if l.err != nil {
		return l
	}
	next := *l
	next.sorts, next.order = slices.Clone(sorts), make([]Key, len(sorts))
	model := l.Model()
	for i, s := range sorts {
		key, err := model.SortKey(s)
		if err != nil {
			next.err = err
			return &next
		}
		next.order[i] = key
	}
	return &next
}

// Collate returns the list with a collation for PostgreSQL; see [Plan.Collation].
func (l *List) Collate(name string) *List {
	if l.err != nil {
		return l
	}
	next := *l
	next.collation, next.err = &name, CheckCollation(name)
	return &next
}

// CheckCollation returns an error if no collation has the name.
func CheckCollation(name string) error {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.@", r) {
			return fmt.Errorf("collation %q: a name has letters, digits and -_.@ only", name)
		}
	}
	return nil
}

// Elem returns the element type.
func (l *List) Elem() reflect.Type { return l.elem }

// Model returns the model of the element type. It is built on demand: a plain page of a slice
// does not need it.
func (l *List) Model() *Model { return ModelOf(l.elem) }

// Order returns the order that was set by [List.OrderBy].
func (l *List) Order() []Sort { return l.sorts }

// Stable returns the list with the model's key appended to its order, so that pages never
// overlap. A list whose source has a fixed order, such as a slice, is returned unchanged if no
// order is set.
func (l *List) Stable() *List {
	if l.err != nil {
		return l
	}
	if len(l.order) == 0 && l.src.ordered() {
		return l
	}
	sorts := l.Model().StableOrder(l.sorts, l.order)
	if len(sorts) == len(l.sorts) {
		return l
	}
	return l.OrderBy(sorts...)
}

// Reversed returns the list in the opposite order. A list without an order is returned
// unchanged.
func (l *List) Reversed() *List {
	sorts := slices.Clone(l.sorts)
	for i := range sorts {
		sorts[i].Desc = !sorts[i].Desc
	}
	return l.OrderBy(sorts...)
}

func (l *List) plan(offset, limit int64) Plan {
	return Plan{Where: l.where, Order: l.order, Offset: max(offset, 0), Limit: max(limit, -1), Collation: l.collation}
}

// Count returns the number of rows.
func (l *List) Count(ctx context.Context) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	return l.src.count(ctx, l.plan(0, -1))
}

// Estimate returns about how many rows there are if the source can estimate that. Otherwise it
// counts.
func (l *List) Estimate(ctx context.Context) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	return l.src.estimate(ctx, l.plan(0, -1))
}

// Fetch returns up to limit rows after skipping offset rows, as a []T that is never nil, and
// their number. A negative limit means all rows.
func (l *List) Fetch(ctx context.Context, offset, limit int64) (items any, n int, err error) {
	if l.err != nil {
		return nil, 0, l.err
	}
	return l.src.fetch(ctx, l.plan(offset, limit))
}

// typedSource adapts a [Source] to source.
type typedSource[T any] struct{ src Source[T] }

func (t typedSource[T]) fetch(ctx context.Context, plan Plan) (items any, n int, err error) {
	rows, err := t.src.Fetch(ctx, plan)
	if err != nil {
		return nil, 0, err
	}
	if rows == nil {
		rows = []T{}
	}
	return rows, len(rows), nil
}

func (t typedSource[T]) count(ctx context.Context, plan Plan) (int64, error) {
	return t.src.Count(ctx, plan)
}

func (t typedSource[T]) estimate(ctx context.Context, plan Plan) (int64, error) {
	if e, ok := t.src.(PlanEstimator); ok {
		return e.Estimate(ctx, plan)
	}
	return t.src.Count(ctx, plan)
}

func (typedSource[T]) ordered() bool { return false }
