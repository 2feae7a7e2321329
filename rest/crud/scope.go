package crud

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// ref returns the reference to the row of an address, limited to what the caller may see.
func (c *core[T, K]) ref(ctx context.Context, at address) (Ref[K], error) {
	var ref Ref[K]
	if c.lookup == nil {
		v, ok := convert(c.model.key.Type, at.row)
		if !ok {
			return ref, c.notFound()
		}
		reflect.ValueOf(&ref.Key).Elem().Set(v)
	} else {
		v, ok := convert(through(c.lookup.Type), at.row)
		if !ok {
			return ref, c.notFound()
		}
		ref.Lookup, ref.Value = c.lookup.Name, v.Interface()
	}
	above, err := c.above(at)
	if err != nil {
		return ref, err
	}
	scope, err := c.scope(ctx)
	if err != nil {
		return ref, err
	}
	ref.Scope = slices.Concat(above, scope)
	return ref, nil
}

// above returns the conditions for the parents in the path.
func (c *core[T, K]) above(at address) ([]query.Expr, error) {
	var above []query.Expr
	for i, f := range c.parents {
		v, ok := convert(through(f.Type), at.parents[i])
		if !ok {
			return nil, c.notFound()
		}
		above = append(above, driver.On(f.Name, driver.Exact, v.Interface()))
	}
	return above, nil
}

// adopt sets the parent fields of a row from the path.
func (c *core[T, K]) adopt(row *T, at address) {
	for i, f := range c.parents {
		if v, ok := convert(f.Type, at.parents[i]); ok {
			reflect.ValueOf(row).Elem().FieldByIndex(f.Index).Set(v)
		}
	}
}

func (c *core[T, K]) scope(ctx context.Context) ([]query.Expr, error) {
	var scope []query.Expr
	for _, p := range rest.PermissionsOf(ctx) {
		s, ok := p.(rest.ScopePermission)
		if !ok {
			continue
		}
		expr, err := s.ListScope(ctx, c.model.typ)
		if err != nil {
			return nil, err
		}
		if expr != nil {
			scope = append(scope, expr)
		}
	}
	return scope, nil
}

// inScope returns an error if the caller's lists would not show the written row.
func (c *core[T, K]) inScope(ctx context.Context, row *T) error {
	scope, err := c.scope(ctx)
	if err != nil || len(scope) == 0 {
		return err
	}
	set, err := c.service.GetAll(ctx)
	if err != nil {
		return err
	}
	key := reflect.ValueOf(row).Elem().FieldByIndex(c.model.key.Index).Interface()
	n, err := set.Where(driver.On(c.model.key.Name, driver.Exact, key)).Where(scope...).Count(ctx)
	if err == nil && n == 0 {
		err = rest.Denied("")
	}
	return err
}

func (c *core[T, K]) notFound() error {
	return &rest.Error{Status: http.StatusNotFound, Detail: c.model.name + " was not found."}
}
