package query

import (
	"context"
	"reflect"
	"slices"
)

// List is a [Set] whose element type is known at run time only: what options and paginators
// work on. Every Set is one, and [ListOf] makes one of any slice. It is immutable.
//
//nolint:interfacebloat // one thing, a list, whose own type knows what a paginator cannot
type List interface {
	// Elem returns the element type T.
	Elem() reflect.Type
	// Model returns the logical fields of T.
	Model() *Model
	// WithWhere returns the rows for which all exprs hold.
	WithWhere(exprs ...Expr) List
	// WithOrder returns the list in another order.
	WithOrder(sorts ...Sort) List
	// Order returns what the list was ordered by.
	Order() []Sort
	// Stable returns the list with the model's key at the end of its order, so that two
	// pages of it never overlap. A list that has an order by itself, as a slice has, and was
	// given no other one, keeps that.
	Stable() List
	// Reversed returns the list with each part of its order turned around. A list without an
	// order is returned as it is.
	Reversed() List
	// Position returns the values of the order's columns for the i-th of items, which is a
	// []T, as texts that [List.After] reads; nil stands for null. It fails when a column is
	// behind a relation that was not loaded.
	Position(items any, i int) ([]*string, error)
	// After returns the rows that come after position in the list's order. It fails when
	// position is not one of this order, such as when a client made it up.
	After(position []*string) (List, error)
	// CountItems returns how many rows there are.
	CountItems(ctx context.Context) (int64, error)
	// FetchItems returns up to limit rows after the first offset ones as a []T that is never
	// nil, and how many they are. A negative limit means all.
	FetchItems(ctx context.Context, offset, limit int64) (items any, n int, err error)
}

// Estimator is a list that may know about how long it is for less than counting costs. It
// counts when it does not.
type Estimator interface {
	// Estimate returns about how many rows there are.
	Estimate(ctx context.Context) (int64, error)
}

// ListOf returns v as a list: v itself when it is one, and the items of a slice of any type, or
// of what a pointer to one points to. It reports false for everything else.
func ListOf(v any) (List, bool) {
	if l, ok := v.(List); ok {
		return l, true
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

// list is the one implementation, below typed sets and plain slices.
type list struct {
	elem  reflect.Type
	src   source
	where Predicate
	order []Key
	sorts []Sort
	err   error
}

// source is a [Source] without its type.
type source interface {
	fetch(ctx context.Context, plan Plan) (items any, n int, err error)
	count(ctx context.Context, plan Plan) (int64, error)
	// estimate may be a count.
	estimate(ctx context.Context, plan Plan) (int64, error)
	// ordered reports whether rows come in the same order each time.
	ordered() bool
}

func newList(elem reflect.Type, src source) *list {
	return &list{elem: elem, src: src}
}

// sliceList is a list of a slice with its source, in one piece of memory: each answer that is
// a slice makes one.
type sliceList struct {
	list

	memory memory
	rows   anyRows
}

func newSliceList(items reflect.Value) *list {
	l := &sliceList{list: list{elem: items.Type().Elem()}, rows: anyRows{items}}
	l.memory = memory{&l.rows}
	l.src = &l.memory
	return &l.list
}

func (l *list) narrow(exprs []Expr) *list {
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
	next.where = joinPredicates(AllOf, items)
	return &next
}

func (l *list) sorted(sorts []Sort) *list {
	if l.err != nil {
		return l
	}
	next := *l
	next.sorts, next.order = slices.Clone(sorts), make([]Key, len(sorts))
	model := l.Model()
	for i, s := range sorts {
		key, err := model.sortKey(s)
		if err != nil {
			next.err = err
			return &next
		}
		next.order[i] = key
	}
	return &next
}

func (l *list) Elem() reflect.Type { return l.elem }

// Model is looked for when something asks: a plain page of a slice needs none.
func (l *list) Model() *Model { return ModelOf(l.elem) }

func (l *list) WithWhere(exprs ...Expr) List { return l.narrow(exprs) }

func (l *list) WithOrder(sorts ...Sort) List { return l.sorted(sorts) }

func (l *list) Order() []Sort { return l.sorts }

func (l *list) Stable() List {
	if l.err != nil {
		return l
	}
	if len(l.order) == 0 && l.src.ordered() {
		return l
	}
	sorts := l.Model().stable(l.sorts, l.order)
	if len(sorts) == len(l.sorts) {
		return l
	}
	return l.sorted(sorts)
}

func (l *list) Reversed() List {
	sorts := slices.Clone(l.sorts)
	for i := range sorts {
		sorts[i].Desc = !sorts[i].Desc
	}
	return l.sorted(sorts)
}

func (l *list) plan(offset, limit int64) Plan {
	return Plan{Where: l.where, Order: l.order, Offset: max(offset, 0), Limit: max(limit, -1)}
}

func (l *list) CountItems(ctx context.Context) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	return l.src.count(ctx, l.plan(0, -1))
}

func (l *list) Estimate(ctx context.Context) (int64, error) {
	if l.err != nil {
		return 0, l.err
	}
	return l.src.estimate(ctx, l.plan(0, -1))
}

func (l *list) FetchItems(ctx context.Context, offset, limit int64) (items any, n int, err error) {
	if l.err != nil {
		return nil, 0, l.err
	}
	return l.src.fetch(ctx, l.plan(offset, limit))
}

// typedSource is a Source as list sees it.
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
