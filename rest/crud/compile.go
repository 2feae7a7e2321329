package crud

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

func (c *core[T, K]) compile() error {
	m, err := modelFor[T, K]()
	if err != nil {
		return err
	}
	c.model, c.name = m, c.config.Name
	if c.name == "" {
		c.name = m.name
	}
	for _, step := range []func() error{
		c.compileRoutes, c.compileLookup, c.compilePath, c.compileVersions, c.compileNested, c.compileList,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if c.showsModel() {
		if err := m.checkJSON(); err != nil {
			return err
		}
	}
	c.compileDocuments()
	return nil
}

// showsModel reports whether a body or an answer has the fields of the model itself.
func (c *core[T, K]) showsModel() bool {
	has := func(r Route) bool { return slices.Contains(c.routes, r) }
	return c.config.Out == nil && slices.ContainsFunc(c.routes, func(r Route) bool { return r != Delete }) ||
		c.config.Create == nil && (has(Create) || has(Update) && c.config.Update == nil) ||
		c.config.Patch == nil && has(Patch)
}

func (c *core[T, K]) compileRoutes() error {
	allowed := c.config.AllowedRoutes
	if allowed == nil {
		allowed = AllRoutes()
	}
	for _, r := range allowed {
		if !slices.Contains(AllRoutes(), r) {
			return fmt.Errorf("config.AllowedRoutes: there is no route %q; there are %v", r, AllRoutes())
		}
	}
	if len(allowed) == 0 {
		return errRoutes
	}
	for r := range c.config.RouteOptions {
		if !slices.Contains(allowed, r) {
			return fmt.Errorf("config.RouteOptions: the route %q is not one of the controller's", r)
		}
	}
	c.routes = slices.DeleteFunc(AllRoutes(), func(r Route) bool { return !slices.Contains(allowed, r) })
	return nil
}

func (c *core[T, K]) compileLookup() (err error) {
	f := c.model.key
	if name := c.config.Lookup; name != "" && name != f.Name {
		if f = c.model.logical.Field(name); f == nil {
			return fmt.Errorf("config.Lookup: %v has no field %q", c.model.typ, name)
		}
		c.lookup = f
	}
	if c.kind, err = kindOf(f); err != nil {
		return fmt.Errorf("config.Lookup: field %s: %w", f.Go, err)
	}
	return nil
}

// kindOf returns the kind of path parameter for a field.
func kindOf(f *driver.Field) (kind, error) {
	t := through(f.Type)
	switch {
	case f.Kind == driver.Int:
		return numbers, nil
	case f.Kind == driver.String && f.Name == "slug":
		return slugs, nil
	case f.Kind == driver.String:
		return texts, nil
	case reflect.PointerTo(t).Implements(textUnmarshaler) && t.Kind() == reflect.Array && t.Len() == 16:
		return uuids, nil
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return texts, nil
	default:
		return 0, fmt.Errorf("a %v cannot stand in a path", f.Type)
	}
}

func (c *core[T, K]) compilePath() error {
	c.path, c.parentNames = parsePath(c.config.Path)
	for _, name := range c.parentNames {
		i := slices.IndexFunc(c.model.parents,
			func(f *driver.Field) bool { return f.Name == name || c.model.jsonName(f.Name) == name })
		if i < 0 {
			return fmt.Errorf("config.Path: %v has no field %q with the tag crud:\"parent\"", c.model.typ, name)
		}
		if _, err := kindOf(c.model.parents[i]); err != nil {
			return fmt.Errorf("config.Path: field %s: %w", c.model.parents[i].Go, err)
		}
		c.parents = append(c.parents, c.model.parents[i])
	}
	for _, f := range c.model.parents {
		if !slices.Contains(c.parents, f) {
			return fmt.Errorf("config.Path: %s has the tag crud:\"parent\", but no parameter {%s} fills it", f.Go, f.Name)
		}
	}
	return nil
}

func (c *core[T, K]) compileVersions() error {
	c.versions = c.config.Versions
	if c.versions == VersionField && c.model.version == nil {
		c.versions = NoVersions
	}
	if c.config.RequireMatch && c.versions == NoVersions {
		return errors.New("config.RequireMatch: the model has no versions to match")
	}
	return nil
}

func (c *core[T, K]) compileDocuments() {
	c.create = cmp.Or[Body[T]](c.config.Create, bodies[createBody[T], T]{applyCreate[T]})
	c.update = cmp.Or[Body[T]](c.config.Update, c.config.Create, bodies[updateBody[T], T]{applyUpdate[T]})
	c.patch = cmp.Or[Body[T]](c.config.Patch, bodies[patchBody[T], T]{applyPatch[T]})
	c.out = c.config.Out
	if c.out == nil {
		c.out = defaultAnswer[T](c.model)
	}
	if v := c.out.view(); v != nil {
		c.list = append(c.list, v)
	}
}

func (c *core[T, K]) compileList() error {
	p := c.config.Pagination
	filter, err := p.filter()
	if err != nil {
		return fmt.Errorf("config.Pagination: %w", err)
	}
	if filter != nil {
		c.list = append(c.list, filter)
	}
	if len(p.Searching) > 0 {
		c.list = append(c.list, query.Search(p.Searching...))
	}
	if len(p.Ordering) > 0 {
		c.list = append(c.list, query.Order(p.Ordering...))
	}
	if len(p.Ordering) == 0 || len(p.DefaultOrdering) > 0 {
		c.list = append(c.list, query.OrderDefault(p.DefaultOrdering...))
	}
	made, err := p.paginator()
	if err != nil {
		return fmt.Errorf("config.Pagination: %w", err)
	}
	if made != nil {
		c.list = append(c.list, rest.RouteOption(made))
	}
	return nil
}
