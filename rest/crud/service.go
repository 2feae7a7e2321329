package crud

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Service does what the routes of a controller want done. [NewService] is the usual one; a
// program embeds it and overrides what it does in another way, or writes its own.
//
// The controller calls it in a transaction that it has begun by Tx, and with functions that
// judge and change a row. A row that is not there, or that the reference does not lead to, is
// [rest.ErrNotFound].
type Service[T, K any] interface {
	// GetAll returns all rows, for any caller. Filters, scopes and the page come later.
	GetAll(ctx context.Context) (query.Set[T], error)
	// GetOne returns the row that ref leads to.
	GetOne(ctx context.Context, ref Ref[K]) (T, error)
	// Create stores a new row, which afterwards is as it is stored.
	Create(ctx context.Context, row *T) error
	// Update stores all fields of the row after edit has changed it, and returns it as it is
	// stored. Nobody else changes the row between edit and that. An error of edit is
	// returned, and nothing is written.
	Update(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error)
	// Patch is Update that stores only what edit changes, and nothing when that is nothing.
	Patch(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error)
	// Delete removes the row when judge agrees.
	Delete(ctx context.Context, ref Ref[K], judge func(ctx context.Context, row T) error) error
	// Tx calls f with the context of a transaction.
	Tx(ctx context.Context, f func(ctx context.Context) error) error
}

// Ref leads to a row.
type Ref[K any] struct {
	// Key is the row's, when Lookup is empty.
	Key K
	// Lookup is the logical name of another field, whose value is Value.
	Lookup string
	// Value is what that field has to be, as [query.Where] takes it.
	Value any
	// Scope is what else has to hold for the row.
	Scope []query.Expr
}

// DefaultService is a [Service] of a [Store].
type DefaultService[T, K any] struct {
	store Store[T, K]
	model *model
}

// NewService returns the service of a store. It panics when T cannot be a model.
func NewService[T, K any](store Store[T, K]) *DefaultService[T, K] {
	m, err := modelFor[T, K]()
	if err == nil && store == nil {
		err = errors.New("there is no store")
	}
	must(err, "crud.NewService")
	return &DefaultService[T, K]{store, m}
}

// modelFor returns the model of T, whose key has to be a K.
func modelFor[T, K any]() (*model, error) {
	m, err := modelOf(reflect.TypeFor[T]())
	if err == nil && m.key.Type != reflect.TypeFor[K]() {
		err = fmt.Errorf("model %v: its key %s is %v, not %v", m.typ, m.key.Go, m.key.Type, reflect.TypeFor[K]())
	}
	return m, err
}

// must panics with the place of a mistake in a registration.
func must(err error, place string) {
	if err != nil {
		panic(place + ": " + err.Error())
	}
}

// GetAll implements [Service].
func (s *DefaultService[T, K]) GetAll(ctx context.Context) (query.Set[T], error) {
	return s.store.Set(ctx), nil
}

// GetOne implements [Service].
func (s *DefaultService[T, K]) GetOne(ctx context.Context, ref Ref[K]) (T, error) {
	if ref.Lookup == "" && len(ref.Scope) == 0 {
		return s.store.Get(ctx, ref.Key)
	}
	return s.find(ctx, ref)
}

// find reads the row by what else is said of it.
func (s *DefaultService[T, K]) find(ctx context.Context, ref Ref[K]) (T, error) {
	set := s.store.Set(ctx).Where(s.where(ref)).Where(ref.Scope...)
	if ref.Lookup != "" {
		set = set.OrderBy(s.model.key.Name)
	}
	row, ok, err := set.First(ctx)
	if err == nil && !ok {
		err = rest.ErrNotFound
	}
	return row, err
}

func (s *DefaultService[T, K]) where(ref Ref[K]) query.Expr {
	if ref.Lookup == "" {
		return driver.On(s.model.key.Name, driver.Exact, ref.Key)
	}
	return driver.On(ref.Lookup, driver.Exact, ref.Value)
}

// lock reads the row so that nobody else changes it until the transaction ends.
func (s *DefaultService[T, K]) lock(ctx context.Context, ref Ref[K]) (T, K, error) {
	var none T
	key := ref.Key
	if ref.Lookup != "" {
		found, err := s.find(ctx, ref)
		if err != nil {
			return none, key, err
		}
		key = s.keyOf(&found)
	}
	row, err := s.store.Get(ctx, key)
	if err != nil || ref.Lookup == "" && len(ref.Scope) == 0 {
		return row, key, err
	}
	// What was found may have changed before it was locked, and from here on does not.
	ref.Scope = append([]query.Expr{s.where(ref)}, ref.Scope...)
	row, err = s.find(ctx, Ref[K]{Key: key, Scope: ref.Scope})
	return row, key, err
}

func (s *DefaultService[T, K]) keyOf(row *T) K {
	key, _ := reflect.TypeAssert[K](reflect.ValueOf(row).Elem().FieldByIndex(s.model.key.Index))
	return key
}

// Create implements [Service].
func (s *DefaultService[T, K]) Create(ctx context.Context, row *T) error {
	return s.store.Insert(ctx, row)
}

// Update implements [Service].
func (s *DefaultService[T, K]) Update(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error) {
	return s.write(ctx, ref, edit, func(ctx context.Context, key K, _, row *T) error {
		return s.store.Update(ctx, key, row, nil)
	})
}

// Patch implements [Service].
func (s *DefaultService[T, K]) Patch(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error) {
	return s.write(ctx, ref, edit, func(ctx context.Context, key K, before, row *T) error {
		fields := s.model.changed(reflect.ValueOf(before).Elem(), reflect.ValueOf(row).Elem())
		if len(fields) == 0 {
			return nil
		}
		return s.store.Update(ctx, key, row, fields)
	})
}

func (s *DefaultService[T, K]) write(
	ctx context.Context, ref Ref[K],
	edit func(ctx context.Context, row *T) error,
	store func(ctx context.Context, key K, before, row *T) error,
) (T, error) {
	var row T
	err := s.store.Tx(ctx, func(ctx context.Context) error {
		before, key, err := s.lock(ctx, ref)
		if err != nil {
			return err
		}
		row = before
		if err := edit(ctx, &row); err != nil {
			return err
		}
		// The key is the row's for ever, whatever edit did to it.
		into := reflect.ValueOf(&row).Elem().FieldByIndex(s.model.key.Index)
		into.Set(reflect.ValueOf(&key).Elem())
		return store(ctx, key, &before, &row)
	})
	return row, err
}

// Delete implements [Service].
func (s *DefaultService[T, K]) Delete(ctx context.Context, ref Ref[K], judge func(ctx context.Context, row T) error) error {
	return s.store.Tx(ctx, func(ctx context.Context) error {
		row, key, err := s.lock(ctx, ref)
		if err != nil {
			return err
		}
		if err := judge(ctx, row); err != nil {
			return err
		}
		return s.store.Delete(ctx, key)
	})
}

// Tx implements [Service].
func (s *DefaultService[T, K]) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	return s.store.Tx(ctx, f)
}
