package crud_test

import (
	"context"
	"errors"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/crud/crudtest"
	"github.com/spoolhq/spool/rest/query"
)

func TestMemory(t *testing.T) {
	t.Parallel()

	crudtest.TestStore(t, func(*testing.T) crud.Store[crudtest.Item, int64] {
		var store crud.Store[crudtest.Item, int64]
		store = crud.Memory[crudtest.Item, int64](crud.MemoryConfig{
			Unique: [][]string{{"slug"}}, Required: []string{"label"},
			References: map[string]func(context.Context, any) (bool, error){
				"parent_id": func(ctx context.Context, key any) (bool, error) {
					id, _ := key.(int64)
					_, err := store.Get(ctx, id)
					if errors.Is(err, rest.ErrNotFound) {
						return false, nil
					}
					return err == nil, err
				},
			},
			Referenced: func(ctx context.Context, key any) (bool, error) {
				n, err := store.Set(ctx).Where(query.Where("parent_id", key)).Count(ctx)
				return n > 0, err
			},
		})
		return store
	}, crudtest.Features{})
}
