package crud

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// MemoryConfig sets the constraints of a [Memory]. It uses the logical names of fields.
type MemoryConfig struct {
	// Unique lists combinations of fields that no two rows may share. Null equals nothing.
	//
	// Defaults to none. The key is always unique.
	Unique [][]string
	// Required lists fields that must be neither null nor zero.
	//
	// Defaults to none.
	Required []string
	// References has functions that report whether the row that a field refers to exists. They
	// are not called for null.
	//
	// Defaults to none.
	References map[string]func(ctx context.Context, value any) (bool, error)
	// Referenced reports whether other rows refer to the row with the key. If so, it cannot be
	// deleted.
	//
	// Defaults to never.
	Referenced func(ctx context.Context, key any) (bool, error)
}

// Memory returns a store in memory, for tests and small programs. A zero key that is a whole
// number is set to the next number, from 1; any other key must be set. Data behind pointers
// and slices in rows is shared with every caller that has the row, and must not be changed.
//
// A write copies the list of rows. Writes wait for each other; reads never wait. Two
// transactions over two stores can deadlock, so they have to begin their transactions in the
// same order.
//
// Memory panics if T is not a valid model with the key K, or if a field does not exist.
func Memory[T, K any](config MemoryConfig) Store[T, K] {
	m, err := modelFor[T, K]()
	must(err, "crud.Memory")
	s := &memory[T, K]{
		model: m, references: config.References, referenced: config.Referenced, writing: make(chan struct{}, 1),
	}
	field := func(name string) *driver.Field {
		f := m.logical.Field(name)
		if f == nil {
			must(fmt.Errorf("%v has no field %q", m.typ, name), "crud.Memory")
		}
		return f
	}
	s.unique = [][]*driver.Field{{m.key}}
	for _, names := range config.Unique {
		var fields []*driver.Field
		for _, name := range names {
			fields = append(fields, field(name))
		}
		s.unique = append(s.unique, fields)
	}
	for _, name := range config.Required {
		s.required = append(s.required, field(name))
	}
	for name := range config.References {
		field(name)
	}
	s.rows.Store(&[]T{})
	return s
}

type memory[T, K any] struct {
	model      *model
	unique     [][]*driver.Field
	required   []*driver.Field
	references map[string]func(context.Context, any) (bool, error)
	referenced func(context.Context, any) (bool, error)

	rows    atomic.Pointer[[]T] // the slice is never changed, only replaced
	last    atomic.Int64        // the greatest key so far
	writing chan struct{}       // has an element during a transaction
}

type transaction[T any] struct{ rows []T }

type memoryKey struct{ store any }

// current returns the rows that ctx sees. They must not be changed.
func (s *memory[T, K]) current(ctx context.Context) []T {
	if tx := s.joined(ctx); tx != nil {
		return tx.rows
	}
	return *s.rows.Load()
}

func (s *memory[T, K]) joined(ctx context.Context) *transaction[T] {
	tx, _ := ctx.Value(memoryKey{s}).(*transaction[T])
	return tx
}

// Tx implements [Store].
func (s *memory[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if s.joined(ctx) != nil {
		return f(ctx)
	}
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.writing }()
	tx := &transaction[T]{rows: *s.rows.Load()}
	if err := f(context.WithValue(ctx, memoryKey{s}, tx)); err != nil {
		return err
	}
	s.rows.Store(&tx.rows)
	return nil
}

// Set implements [Store].
func (s *memory[T, K]) Set(ctx context.Context) query.Set[T] {
	return query.Slice(s.current(ctx))
}

// Get implements [Store].
func (s *memory[T, K]) Get(ctx context.Context, key K) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	rows := s.current(ctx)
	if i := s.find(rows, key); i >= 0 {
		return rows[i], nil
	}
	var none T
	return none, rest.ErrNotFound
}

func (s *memory[T, K]) find(rows []T, key K) int {
	want := reflect.ValueOf(&key).Elem()
	return slices.IndexFunc(rows, func(row T) bool { return same(s.keyOf(&row), want) })
}

func (s *memory[T, K]) keyOf(row *T) reflect.Value {
	return reflect.ValueOf(row).Elem().FieldByIndex(s.model.key.Index)
}

// Insert implements [Store].
func (s *memory[T, K]) Insert(ctx context.Context, row *T) error {
	return s.change(ctx, func(ctx context.Context, rows []T) ([]T, error) {
		next := *row
		if err := s.giveKey(&next); err != nil {
			return nil, err
		}
		if err := s.check(ctx, rows, -1, &next); err != nil {
			return nil, err
		}
		*row = next
		return append(slices.Clone(rows), next), nil
	})
}

// giveKey sets a zero key to the next number, and remembers the greatest key.
func (s *memory[T, K]) giveKey(row *T) error {
	key := s.keyOf(row)
	switch {
	case key.CanInt() && key.IsZero():
		key.SetInt(s.last.Add(1))
	case key.CanUint() && key.IsZero():
		key.SetUint(uint64(s.last.Add(1))) //nolint:gosec // it counts up from zero
	case key.CanInt():
		s.raise(key.Int())
	case key.CanUint() && key.Uint() <= math.MaxInt64:
		s.raise(int64(key.Uint())) //nolint:gosec // the bound was just checked
	case key.IsZero():
		return &ConstraintError{Constraint: NotNull, Field: s.model.key.Name}
	}
	return nil
}

func (s *memory[T, K]) raise(key int64) {
	for last := s.last.Load(); key > last; last = s.last.Load() {
		s.last.CompareAndSwap(last, key)
	}
}

// Update implements [Store].
func (s *memory[T, K]) Update(ctx context.Context, key K, row *T, fields []string) error {
	return s.change(ctx, func(ctx context.Context, rows []T) ([]T, error) {
		i := s.find(rows, key)
		if i < 0 {
			return nil, rest.ErrNotFound
		}
		next := *row
		if fields != nil {
			next = rows[i]
			if err := s.copyFields(row, &next, fields); err != nil {
				return nil, err
			}
		}
		s.keyOf(&next).Set(reflect.ValueOf(&key).Elem())
		if err := s.check(ctx, rows, i, &next); err != nil {
			return nil, err
		}
		changed := slices.Clone(rows)
		changed[i], *row = next, next
		return changed, nil
	})
}

func (s *memory[T, K]) copyFields(from, to *T, fields []string) error {
	for _, name := range fields {
		f := s.model.logical.Field(name)
		if f == nil {
			return fmt.Errorf("%v has no field %q", s.model.typ, name)
		}
		reflect.ValueOf(to).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(from).Elem().FieldByIndex(f.Index))
	}
	return nil
}

// Delete implements [Store].
func (s *memory[T, K]) Delete(ctx context.Context, key K) error {
	return s.change(ctx, func(ctx context.Context, rows []T) ([]T, error) {
		i := s.find(rows, key)
		if i < 0 {
			return nil, rest.ErrNotFound
		}
		if s.referenced != nil {
			there, err := s.referenced(ctx, key)
			if err != nil {
				return nil, err
			}
			if there {
				return nil, &ConstraintError{Constraint: Referenced}
			}
		}
		return slices.Delete(slices.Clone(rows), i, i+1), nil
	})
}

func (s *memory[T, K]) change(ctx context.Context, f func(ctx context.Context, rows []T) ([]T, error)) error {
	return s.Tx(ctx, func(ctx context.Context) error {
		tx := s.joined(ctx)
		rows, err := f(ctx, tx.rows)
		if err == nil {
			tx.rows = rows
		}
		return err
	})
}

// check checks a row against the constraints. i is its index, or -1 for a new row.
func (s *memory[T, K]) check(ctx context.Context, rows []T, i int, next *T) error {
	row := reflect.ValueOf(next).Elem()
	for _, f := range s.required {
		if row.FieldByIndex(f.Index).IsZero() {
			return &ConstraintError{Constraint: NotNull, Field: f.Name}
		}
	}
	for _, fields := range s.unique {
		for j := range rows {
			if j != i && equalIn(fields, row, reflect.ValueOf(&rows[j]).Elem()) {
				return &ConstraintError{Constraint: Unique, Field: fields[0].Name}
			}
		}
	}
	return s.checkReferences(ctx, row)
}

func (s *memory[T, K]) checkReferences(ctx context.Context, row reflect.Value) error {
	for name, exists := range s.references {
		v := row.FieldByIndex(s.model.logical.Field(name).Index)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				continue
			}
			v = v.Elem()
		}
		ok, err := exists(ctx, v.Interface())
		if err != nil {
			return err
		}
		if !ok {
			return &ConstraintError{Constraint: ForeignKey, Field: name}
		}
	}
	return nil
}

// equalIn reports whether two rows are equal in all fields and none of them is null.
func equalIn(fields []*driver.Field, a, b reflect.Value) bool {
	for _, f := range fields {
		x, y := a.FieldByIndex(f.Index), b.FieldByIndex(f.Index)
		if x.Kind() == reflect.Pointer && (x.IsNil() || y.IsNil()) || !same(x, y) {
			return false
		}
	}
	return true
}
