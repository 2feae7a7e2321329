package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Filter narrows a list by query parameters, which are the fields of the struct F:
//
//	type BookFilter struct {
//		Title    *string  `filter:"__icontains"`
//		MinPrice *float64 `filter:"price,gte"`
//		Author   *string  `filter:"author__name__iexact"`
//		Text     *string  `query:"q" filter:"title,icontains|author__name,icontains"`
//		Year     *int     `query:"published__year"`
//		IDs      []int64  `query:"id" filter:"__in"`
//		Popular  *bool
//	}
//
//	func (BookFilter) FilterPopular(yes bool) query.Expr { ... }
//
// A parameter is named by the tag query, otherwise by the field in snake_case, and may have
// the tags of limits that any parameter has. The tag filter says what it is compared with: a
// path, with its lookup after two underscores or a comma; with only a lookup after two leading
// underscores, the parameter's name is the path. Several of them are joined by | (or) or by &
// (and). Without the tag the parameter's name is the path and lookup.
//
// A field is a pointer, an Opt or a list, and no condition when it was not sent; a text cannot
// be null, so isnull is a lookup of its own with a bool. A field that has a default may be
// plain, and is always a condition. A list is for the lookups in, with up to 1000 values, and
// range, with two.
//
// Fields are joined by AND, unless [FilterOption.Any] or [FilterOption.Odd] says otherwise, or
// a method FilterConnector() driver.Connector of F. A method FilterX(v T) Expr makes the condition of a field X of type *T, Opt[T],
// or of a list T. A method Filter(context.Context) Expr makes the condition of all of F; it is
// called for each request, and other fields than those above are possible then. A nil Expr is
// no condition.
//
// That each path exists and its type fits is checked when the route is registered.
func Filter[F any]() FilterOption { return FilterOption{typ: reflect.TypeFor[F]()} }

// FilterOption narrows a list by query parameters.
type FilterOption struct {
	typ   reflect.Type
	join  *driver.Connector // nil: as F says
	regex bool
}

// All joins the fields that were sent by AND, whatever a method FilterConnector of F says.
func (o FilterOption) All() FilterOption { return o.joined(driver.AllOf) }

// Any joins the fields that were sent by OR.
func (o FilterOption) Any() FilterOption { return o.joined(driver.AnyOf) }

// Odd joins the fields that were sent by XOR: an odd number of them holds.
func (o FilterOption) Odd() FilterOption { return o.joined(driver.OddOf) }

func (o FilterOption) joined(by driver.Connector) FilterOption {
	o.join = &by
	return o
}

// AllowRegex lets the lookups regex and iregex into a filter. A client then writes patterns,
// of up to 256 bytes, for Go or for the database that reads the list. Go's patterns take linear
// time; a database's may not.
func (o FilterOption) AllowRegex() FilterOption {
	o.regex = true
	return o
}

// RestRoute marks an option of routes.
func (FilterOption) RestRoute(option.Seal) {}

// Compile implements [Option].
func (o FilterOption) Compile(m *driver.Model, place string) (stage.Stage, error) {
	plan, err := bind.Compile(o.typ, bind.Options{Default: fault.Query, Place: place, Format: filterFormat(m)})
	if err != nil {
		return nil, err
	}
	if _, has := reflect.PointerTo(o.typ).MethodByName("Validate"); has {
		return nil, fmt.Errorf("%s: the filter %s has a method Validate that is never called: "+
			"check its values in a method Filter, or FilterX of the field X, or by rest.Check", place, o.typ)
	}
	s := &filterStage{plan: plan, model: m, join: o.connector(), regex: o.regex}
	_, s.custom = reflect.TypeAssert[customFilter](reflect.New(o.typ))
	s.always = s.custom
	var errs []error
	for _, p := range plan.Params() {
		f, err := s.field(p)
		if err != nil {
			tag := ""
			if text, ok := p.Field.Tag.Lookup("filter"); ok {
				tag = fmt.Sprintf(" filter:%q", text)
			}
			errs = append(errs, fmt.Errorf("%s: %s.%s%s: %w", place, o.typ, p.Field.Name, tag, err))
			continue
		}
		s.names = append(s.names, p.Name)
		s.fields = append(s.fields, f)
		s.always = s.always || p.Default != nil
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// connector is what joins the fields that were sent.
func (o FilterOption) connector() driver.Connector {
	if o.join != nil {
		return *o.join
	}
	if v, ok := reflect.TypeAssert[interface{ FilterConnector() driver.Connector }](reflect.New(o.typ)); ok {
		return v.FilterConnector()
	}
	return driver.AllOf
}

// customFilter is a filter struct that makes its condition by itself.
type customFilter interface {
	Filter(ctx context.Context) Expr
}

type filterStage struct {
	plan   *bind.Plan
	model  *driver.Model
	join   driver.Connector
	regex  bool
	names  []string
	fields []filterField
	custom bool
	// always is set when the filter does something without any parameter.
	always bool
}

// Params implements [stage.Stage].
func (s *filterStage) Params() []bind.Param { return s.plan.Params() }

// Columns implements [stage.Stage].
func (s *filterStage) Columns() []*driver.Column {
	var columns []*driver.Column
	for _, f := range s.fields {
		for _, t := range f.targets {
			columns = append(columns, t.Column)
		}
	}
	return columns
}

// Apply implements [stage.Stage].
func (s *filterStage) Apply(ctx context.Context, in *bind.Input, l *driver.List) (*driver.List, []fault.Fault) {
	if !s.always && !sent(in, s.names...) {
		return l, nil
	}
	filter := reflect.New(s.plan.Type())
	faults := s.plan.Bind(in, filter.Interface())
	if len(faults) > 0 {
		return l, faults
	}
	if s.custom {
		c, _ := reflect.TypeAssert[customFilter](filter)
		if e := c.Filter(ctx); e != nil {
			return l.Where(e), nil
		}
		return l, nil
	}
	return s.apply(filter, l)
}

func (s *filterStage) apply(filter reflect.Value, l *driver.List) (*driver.List, []fault.Fault) {
	var items []driver.Predicate
	var faults []fault.Fault
	for i := range s.fields {
		f := &s.fields[i]
		v, ok := f.read(filter.Elem())
		if !ok {
			continue
		}
		if f.method >= 0 {
			e, _ := reflect.TypeAssert[Expr](filter.Method(f.method).Call([]reflect.Value{v})[0])
			if e == nil {
				continue
			}
			p, err := s.model.Resolve(e)
			if err != nil {
				return l.Where(e), nil // reading the list returns the error
			}
			items = append(items, p)
			continue
		}
		p, fs := f.predicate(v)
		if len(fs) > 0 {
			faults = append(faults, fs...)
			continue
		}
		items = append(items, p)
	}
	if len(faults) > 0 || len(items) == 0 {
		return l, faults
	}
	return l.Where(driver.Join(s.join, items)), nil
}
