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

// Service reads and writes rows for the routes of a controller. [NewService] returns the usual
// one. A program can embed it and override methods, or write its own.
//
// The controller calls the writing methods in a transaction that it has begun with Tx. The
// functions that it passes check and change a row. If the row does not exist or does not match
// the reference, the error is [rest.ErrNotFound].
type Service[T, K any] interface {
	// GetAll returns all rows. Filters, scopes and paging are applied to the result.
	GetAll(ctx context.Context) (query.Set[T], error)
	// GetOne returns the row that ref identifies.
	GetOne(ctx context.Context, ref Ref[K]) (T, error)
	// Create stores a new row and sets row to the stored row.
	Create(ctx context.Context, row *T) error
	// Update calls edit with the row and stores all its fields. It returns the stored row. No
	// other writer changes the row in between. If edit returns an error, Update returns it and
	// writes nothing.
	Update(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error)
	// Patch is like Update, but stores only the fields that edit changes. If there are none,
	// it writes nothing.
	Patch(ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error) (T, error)
	// Delete removes the row, unless judge returns an error.
	Delete(ctx context.Context, ref Ref[K], judge func(ctx context.Context, row T) error) error
	// Tx calls f with the context of a transaction.
	Tx(ctx context.Context, f func(ctx context.Context) error) error
}

// Ref identifies a row.
type Ref[K any] struct {
	// Key is the row's key. It is used if Lookup is empty.
	Key K
	// Lookup is the logical name of another field that identifies the row.
	Lookup string
	// Value is the value of that field, as for [query.Where].
	Value any
	// Scope are further conditions that the row must match.
	Scope []query.Expr
}

// DefaultService is a [Service] over a [Store].
type DefaultService[T, K any] struct {
	store Store[T, K]
	model *model
}

// NewService returns the service of a store. It panics if T is not a valid model.
func NewService[T, K any](store Store[T, K]) *DefaultService[T, K] {
	m, err := modelFor[T, K]()
	if err == nil && store == nil {
		err = errors.New("there is no store")
	}
	must(err, "crud.NewService")
	return &DefaultService[T, K]{store, m}
}

// modelFor returns the model of T. Its key must have the type K.
func modelFor[T, K any]() (*model, error) {
	m, err := modelOf(reflect.TypeFor[T]())
	if err == nil && m.key.Type != reflect.TypeFor[K]() {
		err = fmt.Errorf("model %v: its key %s is %v, not %v", m.typ, m.key.Go, m.key.Type, reflect.TypeFor[K]())
	}
	return m, err
}

// must panics if err is not nil. The message begins with place.
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

// lock returns the row, locked against changes by others until the transaction ends, and its
// key.
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
	// The row may have changed before it was locked, so check the conditions again.
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
func (s *DefaultService[T, K]) Update(
	ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error,
) (T, error) {
	return s.write(ctx, ref, edit, func(ctx context.Context, key K, _, row *T) error {
		return s.store.Update(ctx, key, row, nil)
	})
}

// Patch implements [Service].
func (s *DefaultService[T, K]) Patch(
	ctx context.Context, ref Ref[K], edit func(ctx context.Context, row *T) error,
) (T, error) {
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
		// Keep the key, even if edit has changed it.
		into := reflect.ValueOf(&row).Elem().FieldByIndex(s.model.key.Index)
		into.Set(reflect.ValueOf(&key).Elem())
		return store(ctx, key, &before, &row)
	})
	return row, err
}

// Delete implements [Service].
func (s *DefaultService[T, K]) Delete(
	ctx context.Context, ref Ref[K], judge func(ctx context.Context, row T) error,
) error {
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
