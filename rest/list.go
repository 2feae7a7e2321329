package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/internal/wire"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// List registers a GET handler that answers with a list: a slice, or a [query.Set], from which
// only the requested page is read. Filters, ordering, searching and paging are options. The
// answer type and the document are generated from the list and its options.
//
//	rest.List(r, "/", c.list, page.Number(), query.Filter[BookFilter](), query.Order("price"))
//
// A request is read, checked, filtered, paged and answered in this order. Without a paginator
// option, the list has the paginator of the controller or the API ([Paginate]). With
// page.None(), the answer is a plain array.
func List[In, L any](
	r *Routes, path string, h func(ctx context.Context, in In) (L, error), options ...RouteOption,
) *Endpoint[In, L] {
	endpoint := &Endpoint[In, L]{}
	e := &entry{
		methods: []string{http.MethodGet}, path: path, handler: &typed[In, L]{f: h}, list: true,
		resolved: func(rt *route) { endpoint.route = rt },
	}
	e.config.name, e.config.function = funcName(h), fullName(h)
	r.add(e, options)
	return endpoint
}

// View makes the answer's items another type than the list's rows. The rows are filtered,
// ordered and paged; f then converts each row of the page to an item.
func View[Row, Item any](f func(Row) Item) RouteOption {
	v := &view{row: reflect.TypeFor[Row](), item: reflect.TypeFor[Item](), all: func(rows any) any {
		from, _ := rows.([]Row)
		to := make([]Item, len(from))
		for i := range from {
			to[i] = f(from[i])
		}
		return to
	}}
	return routeOption(func(c *routeConfig) { c.view = v })
}

type view struct {
	row, item reflect.Type
	all       func(rows any) any
}

// list is the compiled list of a route.
type list struct {
	elem      reflect.Type // of the rows
	item      reflect.Type // of the answer
	stages    []stage.Stage
	paginator page.Paginator
	view      *view
	scopes    []ScopePermission
}

// params returns the query parameters of a list, those of the paginator first.
func (l *list) params() []bind.Param {
	all := append([]bind.Param{}, l.paginator.Params()...)
	for _, s := range l.stages {
		all = append(all, s.Params()...)
	}
	return all
}

func (rt *route) compileList(out reflect.Type) error {
	elem, err := elemOf(out)
	if err != nil {
		return err
	}
	config := rt.entry.config
	l := &list{elem: elem, item: elem, paginator: rt.paginator, view: config.view}
	if v := config.view; v != nil {
		if v.row != elem {
			return fmt.Errorf("the view is of %v, and the list of %v", v.row, elem)
		}
		l.item = v.item
	}
	for _, p := range rt.permissions {
		if s, ok := p.(ScopePermission); ok {
			l.scopes = append(l.scopes, s)
		}
	}
	if err := checkNarrowing(rt.permissions, elem); err != nil {
		return err
	}
	if err := l.compileStages(config.stages, rt.name, out.Kind() != reflect.Slice); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, p := range l.params() {
		if seen[p.Name] {
			return fmt.Errorf("the query parameter %q belongs to two options of the list", p.Name)
		}
		seen[p.Name] = true
	}
	rt.list, rt.wire = l, wire.PlanOf(reflect.SliceOf(l.item))
	rt.warnUnnarrowed()
	return nil
}

func (l *list) compileStages(options []query.Option, place string, free bool) error {
	checker, checks := l.paginator.(page.ModelChecker)
	if len(options) == 0 && !checks {
		return nil
	}
	if structOf(l.elem).Kind() != reflect.Struct && len(options) > 0 {
		return fmt.Errorf("a list of %v has no fields to filter or order by", l.elem)
	}
	model := driver.ModelOf(l.elem)
	if checks {
		if err := checker.CheckModel(model); err != nil {
			return err //nolint:wrapcheck // the caller adds the place
		}
	}
	for _, o := range options {
		compiled, err := o.Compile(model, place)
		if err != nil {
			return err //nolint:wrapcheck // the caller adds the place
		}
		l.stages = append(l.stages, compiled)
	}
	owned, ok := l.paginator.(interface{ OrdersByDefault() bool })
	l.stages = stage.SettleOrder(l.stages, ok && owned.OrdersByDefault(), free)
	return nil
}

// elemOf returns the item type of a slice or a set.
func elemOf(t reflect.Type) (reflect.Type, error) {
	if t.Kind() == reflect.Slice {
		return t.Elem(), nil
	}
	if l, ok := reflect.TypeAssert[interface{ List() *driver.List }](reflect.Zero(t)); ok && t.Kind() == reflect.Struct {
		return l.List().Elem(), nil
	}
	return nil, fmt.Errorf("the handler of a list answers %v; it has to be a slice or a query.Set", t)
}

// answerList answers with the requested page of the list that the handler returned.
func (c *routeContext) answerList(out any) error {
	l := c.route.list
	rows, ok := driver.ListOf(out)
	if !ok {
		return fmt.Errorf("%s returned a %T", c.route.name, out)
	}
	for _, s := range l.scopes {
		seen, err := s.ListScope(c, l.elem)
		if err != nil {
			return c.refusal(c, err)
		}
		if seen != nil {
			rows = rows.Where(seen)
		}
	}
	in := c.parameters()
	faults := in.QueryFaults()
	var more []fault.Fault
	for _, s := range l.stages {
		rows, more = s.Apply(c, in, rows)
		faults = append(faults, more...)
	}
	if len(faults) > 0 {
		// Mistakes in the page parameters are reported too. The empty list is never read.
		_, more, _ := l.paginator.Page(c, (*page.Input)(in), driver.Slice([]struct{}{}), page.Links{})
		return Invalid(append(faults, more...)...)
	}
	return c.answerPage(rows, in)
}

func (c *routeContext) answerPage(rows *driver.List, in *bind.Input) error {
	l := c.route.list
	result, faults, err := l.paginator.Page(c, (*page.Input)(in), rows,
		page.NewLinks(c.route.api.config.baseURL, c.request.URL, c.route.secrets))
	switch {
	case err != nil:
		if past, ok := errors.AsType[*page.PastEndError](err); ok {
			return &Error{Status: http.StatusNotFound, Code: "page_not_found", Detail: past.Error(), Err: err}
		}
		return err //nolint:wrapcheck // the list's own error
	case len(faults) > 0:
		return Invalid(faults...)
	}
	addAll(c.response.Header(), result.Header)
	items := result.Items
	if l.view != nil {
		items = l.view.all(items)
	}
	if err := c.checkRows(items); err != nil {
		return err
	}
	if result.Body != nil {
		return c.write(c.route.status, result.Body(items))
	}
	return c.write(c.route.status, items)
}

// checkRows returns an error if an item is a nil pointer, because the document promises an
// object.
func (c *routeContext) checkRows(items any) error {
	v := reflect.ValueOf(items)
	if v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Pointer {
		return nil
	}
	for i := range v.Len() {
		if v.Index(i).IsNil() {
			return fmt.Errorf("%s has a nil %v in its list, at %d", c.route.name, v.Type().Elem(), i)
		}
	}
	return nil
}

// mayEnd reports whether the paginator may answer 404, for a page past the end.
func (l *list) mayEnd() bool {
	p, ok := l.paginator.(interface{ MayBeNotFound() bool })
	return ok && p.MayBeNotFound()
}
