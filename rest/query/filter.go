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

// Filter filters a list by query parameters, which are the fields of the struct F:
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
// The parameter's name comes from the tag query, or else it is the field's name in snake_case.
// The field may have the same tags of limits as any parameter. The tag filter says what the
// value is compared with: a path and a lookup, separated by two underscores or a comma. If the
// tag has only a lookup after two leading underscores, the path is the parameter's name.
// Several comparisons are joined by | (or) or by & (and). Without the tag, the parameter's
// name is the path and lookup.
//
// A field is a pointer, an Opt or a list. If its parameter is not sent, it adds no condition.
// A text cannot be null, so the lookup isnull takes a bool. A field with a default may also be
// a plain value, and always adds a condition. The lookup in takes a list of up to 1000 values,
// and range a list of two.
//
// Fields are joined by AND, unless [FilterOption.Any], [FilterOption.Odd] or F's method
// FilterConnector() driver.Connector says otherwise. A method FilterX(v T) Expr returns the
// condition of a field X, whose type is *T, Opt[T] or a list T. A method
// Filter(context.Context) Expr returns the condition of all of F. It is called for each
// request, and F may then have fields of other types. A nil Expr adds no condition.
//
// Registering the route panics if a path does not exist or its type does not fit.
func Filter[F any]() FilterOption { return FilterOption{typ: reflect.TypeFor[F]()} }

// FilterOption filters a list by query parameters; see [Filter].
type FilterOption struct {
	typ   reflect.Type
	join  *driver.Connector // nil: F's method FilterConnector, or AND
	regex bool
}

// All joins the sent fields by AND, even if F has a method FilterConnector.
func (o FilterOption) All() FilterOption { return o.joined(driver.AllOf) }

// Any joins the sent fields by OR.
func (o FilterOption) Any() FilterOption { return o.joined(driver.AnyOf) }

// Odd joins the sent fields by XOR: an odd number of them has to be true.
func (o FilterOption) Odd() FilterOption { return o.joined(driver.OddOf) }

func (o FilterOption) joined(by driver.Connector) FilterOption {
	o.join = &by
	return o
}

// AllowRegex allows the lookups regex and iregex in a filter. Clients can then send patterns
// of up to 256 bytes, for Go or for the database that reads the list. Go's patterns take
// linear time; those of a database may not.
func (o FilterOption) AllowRegex() FilterOption {
	o.regex = true
	return o
}

// RestRoute marks the type as a route option.
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

func (o FilterOption) connector() driver.Connector {
	if o.join != nil {
		return *o.join
	}
	if v, ok := reflect.TypeAssert[interface{ FilterConnector() driver.Connector }](reflect.New(o.typ)); ok {
		return v.FilterConnector()
	}
	return driver.AllOf
}

// customFilter is a filter struct that returns its whole condition itself.
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
	// always is true if the filter may add a condition without any parameter.
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
