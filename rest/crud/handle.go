package crud

import (
	"context"
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// doList returns the rows below the path's parents. The route applies all other conditions.
func (c *core[T, K]) doList(ctx context.Context, at address, _ reflect.Value) (query.Set[T], error) {
	above, err := c.above(at)
	if err != nil {
		return query.Set[T]{}, err
	}
	set, err := c.service.GetAll(ctx)
	if err != nil {
		return query.Set[T]{}, err
	}
	return set.Where(above...), nil
}

func (c *core[T, K]) doFind(ctx context.Context, at address, _ reflect.Value) (*rest.Reply, error) {
	ref, err := c.ref(ctx, at)
	if err != nil {
		return nil, err
	}
	row, err := rest.GetOrNotFound(ctx, c.service.GetOne, ref)
	if err != nil {
		return nil, err
	}
	reply, err := c.reply(http.StatusOK, row)
	if err != nil {
		return nil, err
	}
	if tag := reply.Header.Get("ETag"); tag != "" && noneMatch(rest.RequestOf(ctx), tag) {
		return &rest.Reply{Status: http.StatusNotModified, Header: reply.Header}, nil
	}
	return reply, nil
}

func (c *core[T, K]) doCreate(
	ctx context.Context, at address, body reflect.Value, location func(address) string,
) (*rest.Reply, error) {
	var row T
	if _, err := c.above(at); err != nil {
		return nil, err
	}
	err := c.service.Tx(ctx, func(ctx context.Context) error {
		row = *new(T) // the store may call this function again
		if err := c.create.apply(ctx, body, &row); err != nil {
			return err
		}
		c.adopt(&row, at)
		if h := c.config.Hooks.BeforeCreate; h != nil {
			if err := h(ctx, &row); err != nil {
				return err
			}
		}
		if err := c.model.validate(ctx, &row); err != nil {
			return err
		}
		c.firstVersion(&row)
		if err := c.service.Create(ctx, &row); err != nil {
			return err
		}
		if err := c.inScope(ctx, &row); err != nil {
			return err
		}
		if h := c.config.Hooks.AfterCreate; h != nil {
			return h(ctx, row)
		}
		return nil
	})
	if err != nil {
		return nil, c.refusal(err, Create)
	}
	reply, err := c.reply(http.StatusCreated, row)
	if err != nil {
		return nil, err
	}
	f := c.model.key
	if c.lookup != nil {
		f = c.lookup
	}
	at.row = segmentOf(reflect.ValueOf(&row).Elem().FieldByIndex(f.Index))
	if url := location(at); url != "" {
		reply.Header.Set("Location", url)
	}
	return reply, nil
}

func (c *core[T, K]) doChange(
	ctx context.Context, at address, route Route, apply func(context.Context, *T) error,
) (*rest.Reply, error) {
	ref, err := c.ref(ctx, at)
	if err != nil {
		return nil, err
	}
	if err := c.wantsMatch(ctx); err != nil {
		return nil, err
	}
	write := c.service.Update
	if route == Patch {
		write = c.service.Patch
	}
	var before, row T
	err = c.service.Tx(ctx, func(ctx context.Context) (err error) {
		row, err = write(ctx, ref, func(ctx context.Context, row *T) error {
			before = *row
			return c.edit(ctx, before, row, at, route, apply)
		})
		if err != nil {
			return err
		}
		if err := c.inScope(ctx, &row); err != nil {
			return err
		}
		if h := c.config.Hooks.AfterUpdate; h != nil {
			return h(ctx, before, row)
		}
		return nil
	})
	if err != nil {
		return nil, c.refusal(err, route)
	}
	return c.reply(http.StatusOK, row)
}

// edit checks the stored row and changes it into the next one.
func (c *core[T, K]) edit(
	ctx context.Context, before T, row *T, at address, route Route, apply func(context.Context, *T) error,
) error {
	if err := c.judge(ctx, before); err != nil {
		return err
	}
	if err := apply(ctx, row); err != nil {
		return err
	}
	c.adopt(row, at)
	if h := c.config.Hooks.BeforeUpdate; h != nil {
		if err := h(ctx, before, row); err != nil {
			return err
		}
	}
	if err := c.model.validate(ctx, row); err != nil {
		return err
	}
	from, to := reflect.ValueOf(&before).Elem(), reflect.ValueOf(row).Elem()
	if route == Update || len(c.model.changed(from, to)) > 0 {
		c.nextVersion(from, to)
	}
	return nil
}

func (c *core[T, K]) doDelete(ctx context.Context, at address) error {
	ref, err := c.ref(ctx, at)
	if err != nil {
		return err
	}
	if err := c.wantsMatch(ctx); err != nil {
		return err
	}
	err = c.service.Tx(ctx, func(ctx context.Context) error {
		var gone T
		err := c.service.Delete(ctx, ref, func(ctx context.Context, row T) error {
			gone = row
			if err := c.judge(ctx, row); err != nil {
				return err
			}
			if h := c.config.Hooks.BeforeDelete; h != nil {
				return h(ctx, row)
			}
			return nil
		})
		if h := c.config.Hooks.AfterDelete; err == nil && h != nil {
			return h(ctx, gone)
		}
		return err
	})
	return c.refusal(err, Delete)
}

// judge checks the object permissions for the row, and then If-Match.
func (c *core[T, K]) judge(ctx context.Context, row T) error {
	if err := rest.CheckObjectPermission(ctx, row); err != nil {
		return err
	}
	return c.checkMatch(ctx, row)
}

func (c *core[T, K]) reply(status int, row T) (*rest.Reply, error) {
	reply := &rest.Reply{Status: status, Body: c.out.show(row), Header: http.Header{}}
	tag, err := c.etag(&row)
	if err != nil {
		return nil, err
	}
	if tag != "" {
		reply.Header.Set("ETag", tag)
	}
	return reply, nil
}
