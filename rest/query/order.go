package query

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

// OrderOption lets a client choose the order of a list; see [Order].
type OrderOption struct {
	allowed []string
	param   string
	ignore  bool
	keep    bool
}

// Order lets a client order a list by the parameter ordering: paths separated by commas, each
// with a minus for descending. A client may use a path of allowed in both directions, but a
// path with a minus only descending. Any other name is refused. The parameter may also be
// repeated, as some generated clients do: ordering=price&ordering=-id.
//
// The model's key is appended to the order, so that pages do not overlap.
//
// If the client sends no ordering and the handler has not called [Set.OrderBy], the list is
// ordered by all names in allowed and then by the key: Order("price", "-id") orders by price,
// and equal prices by descending id. This holds for slices too, whatever their order. Three
// things replace this order: [OrderDefault]; a cursor, which has its own order (page.By, or
// the key); and [OrderOption.KeepOrder], which leaves the list as it is. An empty parameter
// (ordering=) also leaves the list as it is.
func Order(allowed ...string) OrderOption {
	return OrderOption{allowed: slices.Clone(allowed), param: "ordering"}
}

// Param sets the parameter's name. Defaults to "ordering".
func (o OrderOption) Param(name string) OrderOption {
	o.param = name
	return o
}

// IgnoreUnknown ignores names that are not allowed, instead of refusing the request.
func (o OrderOption) IgnoreUnknown() OrderOption {
	o.ignore = true
	return o
}

// KeepOrder keeps the order of the handler's list if the client asks for no order.
func (o OrderOption) KeepOrder() OrderOption {
	o.keep = true
	return o
}

// RestRoute marks the type as a route option.
func (OrderOption) RestRoute(option.Seal) {}

// Compile implements [Option].
func (o OrderOption) Compile(m *driver.Model, place string) (stage.Stage, error) {
	if len(o.allowed) == 0 {
		return nil, fmt.Errorf("%s: query.Order: no field is allowed", place)
	}
	s := &orderStage{name: o.param, ignore: o.ignore, sorts: map[string]driver.Sort{}}
	var (
		errs  []error
		first []driver.Sort
	)
	for _, text := range o.allowed {
		sort := driver.ParseSort(text)
		key, err := m.SortKey(sort)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: query.Order(%q): %w", place, text, err))
			continue
		}
		s.keys = append(s.keys, key)
		if !slices.ContainsFunc(first, func(f driver.Sort) bool { return f.Path == sort.Path }) {
			first = append(first, sort)
		}
		both := []driver.Sort{sort}
		if !sort.Desc {
			both = append(both, driver.Sort{Path: sort.Path, Desc: true})
		}
		for _, sort := range both {
			s.sorts[sort.String()] = sort
			s.allowed = append(s.allowed, sort.String())
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if !o.keep {
		s.said, s.initial = first, m.StableOrder(first, s.keys)
	}
	s.params = []bind.Param{s.param(o.allowed)}
	return s, nil
}

// param returns the parameter, a list of the allowed names with their directions.
func (s *orderStage) param(allowed []string) bind.Param {
	names := make([]string, len(s.allowed))
	for i, name := range s.allowed {
		names[i], _ = name.(string)
	}
	list := reflect.TypeFor[[]string]()
	return bind.Param{
		Name: s.name, In: fault.Query, Type: list, Nullable: true,
		Doc: "Order of the result: " + strings.Join(allowed, ", ") +
			", separated by commas. A minus in front means descending.",
		Field: reflect.StructField{
			Name: "Order", Type: list, Tag: reflect.StructTag("enum:" + strconv.Quote(strings.Join(names, ","))),
		},
	}
}

type orderStage struct {
	name    string
	params  []bind.Param
	sorts   map[string]driver.Sort
	keys    []driver.Key
	allowed []any
	ignore  bool
	said    []driver.Sort // initial without the model's key
	initial []driver.Sort // the order if neither the client nor the handler sets one
}

// Columns implements [stage.Stage].
func (s *orderStage) Columns() []*driver.Column { return columnsOf(s.keys) }

// Leading implements [stage.Sorter]: a client may begin with any of the names.
func (s *orderStage) Leading() []driver.Key { return s.keys }

// Params implements [stage.Stage].
func (s *orderStage) Params() []bind.Param { return s.params }

// Apply implements [stage.Stage].
func (s *orderStage) Apply(_ context.Context, in *bind.Input, l *driver.List) (*driver.List, []fault.Fault) {
	if !sent(in, s.name) {
		if len(s.initial) > 0 && len(l.Order()) == 0 {
			return l.OrderBy(s.initial...), nil
		}
		return l, nil
	}
	texts, faults := in.QueryTexts(s.name)
	if len(texts) == 0 || len(faults) > 0 {
		return l, faults
	}
	var order []driver.Sort
	i := 0
	for name := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		name = strings.TrimSpace(name)
		sort, ok := s.sorts[name]
		switch {
		case ok && !slices.ContainsFunc(order, func(o driver.Sort) bool { return o.Path == sort.Path }):
			order = append(order, sort)
		case !ok && name != "" && !s.ignore:
			faults = append(faults, fault.Enum(fault.Query, []any{s.name, i}, s.allowed))
		}
		if i++; i > maxSorts || len(faults) > 0 {
			break
		}
	}
	if len(faults) > 0 || len(order) == 0 {
		return l, faults
	}
	return l.OrderBy(order...).Stable(), nil
}

// maxSorts is the maximum number of names that are read.
const maxSorts = 64

// OrderDefault sets the order of a list for which neither the client nor the handler has set
// one. Each text is a path with an optional minus. The model's key is appended.
func OrderDefault(sorts ...string) Option {
	return orderDefault{sorts: driver.ParseSorts(sorts)}
}

type orderDefault struct {
	said  []driver.Sort
	sorts []driver.Sort // including the model's key
	keys  []driver.Key
}

// RestRoute marks the type as a route option.
func (orderDefault) RestRoute(option.Seal) {}

// Compile implements [Option].
func (o orderDefault) Compile(m *driver.Model, place string) (stage.Stage, error) {
	keys := make([]driver.Key, len(o.sorts))
	for i, sort := range o.sorts {
		key, err := m.SortKey(sort)
		if err != nil {
			return nil, fmt.Errorf("%s: query.OrderDefault: %w", place, err)
		}
		keys[i] = key
	}
	return orderDefault{said: o.sorts, sorts: m.StableOrder(o.sorts, keys), keys: keys}, nil
}

// Columns implements [stage.Stage].
func (o orderDefault) Columns() []*driver.Column { return columnsOf(o.keys) }

// Leading implements [stage.Sorter].
func (o orderDefault) Leading() []driver.Key { return o.keys[:min(1, len(o.keys))] }

func columnsOf(keys []driver.Key) []*driver.Column {
	columns := make([]*driver.Column, len(keys))
	for i, key := range keys {
		columns[i] = key.Column
	}
	return columns
}

// Params implements [stage.Stage].
func (orderDefault) Params() []bind.Param { return nil }

// Apply implements [stage.Stage].
func (o orderDefault) Apply(_ context.Context, _ *bind.Input, l *driver.List) (*driver.List, []fault.Fault) {
	if len(l.Order()) > 0 {
		return l, nil
	}
	return l.OrderBy(o.sorts...), nil
}

// DefaultOrder implements [stage.Defaulter].
func (o orderDefault) DefaultOrder() []driver.Sort { return o.said }

// Ordered implements [stage.Orderer].
func (s *orderStage) Ordered(another bool, sorts []driver.Sort, free bool) stage.Stage {
	ordered := *s
	if another {
		ordered.said, ordered.initial = sorts, nil
	}
	ordered.params = slices.Clone(s.params)
	ordered.params[0].Doc += withoutAsking(ordered.said, free)
	return &ordered
}

// withoutAsking returns a text for the document: the order if the client asks for none.
func withoutAsking(said []driver.Sort, free bool) string {
	if len(said) == 0 {
		return ""
	}
	names := make([]string, len(said))
	for i, sort := range said {
		names[i] = sort.String()
	}
	text := " Without it the list is ordered by " + strings.Join(names, ", ")
	if free {
		text += ", unless it has an order of its own"
	}
	return text + "."
}
