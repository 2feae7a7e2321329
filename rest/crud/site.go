package crud

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/query"
)

// site is where the routes of a controller are registered: below a path with parents, and
// with an address of rows of some kind.
type site struct {
	routes  *rest.Routes
	path    string
	parents int
	kind    kind
}

// root is the path of the list.
func (s *site) root() string {
	if s.path == "" {
		return "/"
	}
	return s.path
}

// address is what a path says.
type address struct {
	parents [maxParents]string
	row     any // int64 or string
}

const maxParents = 2

// kind is what stands for a row in a path.
type kind int

const (
	texts kind = iota
	slugs
	numbers
	uuids
)

// segment returns the part of a path for a row.
func (k kind) segment() string {
	return [...]string{"/{id}", "/{slug:id}", "/{int:id}", "/{uuid:id}"}[k]
}

// uuidText is a parameter that is documented as a UUID.
type uuidText string

// Schema returns the schema of the parameter.
func (uuidText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// The inputs of routes. Their parameters have names that no configuration changes, since
// those are tags.
type (
	parents0 struct{}
	parents1 struct {
		Parent string `path:"parent"`
	}
	parents2 struct {
		Parent  string `path:"parent"`
		Parent2 string `path:"parent2"`
	}

	create0[B any] struct {
		parents0

		Body B
	}
	create1[B any] struct {
		parents1

		Body B
	}
	create2[B any] struct {
		parents2

		Body B
	}

	item0[A any] struct {
		ID A `path:"id"`
	}
	item1[A any] struct {
		parents1

		ID A `path:"id"`
	}
	item2[A any] struct {
		parents2

		ID A `path:"id"`
	}

	change0[A, B any] struct {
		item0[A]

		Body B
	}
	change1[A, B any] struct {
		item1[A]

		Body B
	}
	change2[A, B any] struct {
		item2[A]

		Body B
	}
)

func (parents0) address() address   { return address{} }
func (p parents1) address() address { return address{parents: [maxParents]string{p.Parent}} }
func (p parents2) address() address {
	return address{parents: [maxParents]string{p.Parent, p.Parent2}}
}

func (i item0[A]) address() address { return address{row: rowOf(i.ID)} }
func (i item1[A]) address() address {
	return address{i.parents1.address().parents, rowOf(i.ID)}
}

func (i item2[A]) address() address {
	return address{i.parents2.address().parents, rowOf(i.ID)}
}

func rowOf(id any) any {
	if text, ok := id.(uuidText); ok {
		return string(text)
	}
	return id
}

type addressed interface{ address() address }

func addList[T any](s *site, h func(context.Context, address) (query.Set[T], error), options []rest.RouteOption) {
	switch s.parents {
	case 0:
		listAs[parents0](s, h, options)
	case 1:
		listAs[parents1](s, h, options)
	default:
		listAs[parents2](s, h, options)
	}
}

func listAs[In addressed, T any](s *site, h func(context.Context, address) (query.Set[T], error), options []rest.RouteOption) {
	rest.List(s.routes, s.root(), func(ctx context.Context, in In) (query.Set[T], error) { return h(ctx, in.address()) }, options...)
}

func addCreate[B any](s *site, h func(context.Context, address, B) (*rest.Reply, error), options []rest.RouteOption) {
	path := s.root()
	switch s.parents {
	case 0:
		rest.Post(s.routes, path, func(ctx context.Context, in create0[B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	case 1:
		rest.Post(s.routes, path, func(ctx context.Context, in create1[B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	default:
		rest.Post(s.routes, path, func(ctx context.Context, in create2[B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	}
}

// link writes the path of a row.
type link func(address) (string, error)

func addItem[Out any](s *site, method string, h func(context.Context, address) (Out, error), options []rest.RouteOption) link {
	switch s.kind {
	case numbers:
		return itemOf[int64](s, method, h, options)
	case uuids:
		return itemOf[uuidText](s, method, h, options)
	default:
		return itemOf[string](s, method, h, options)
	}
}

func itemOf[A ~int64 | ~string, Out any](s *site, method string, h func(context.Context, address) (Out, error), options []rest.RouteOption) link {
	switch s.parents {
	case 0:
		e := itemAs[item0[A]](s, method, h, options)
		return func(a address) (string, error) { return e.URL(item0[A]{ID: idOf[A](a)}) }
	case 1:
		e := itemAs[item1[A]](s, method, h, options)
		return func(a address) (string, error) {
			return e.URL(item1[A]{parents1{a.parents[0]}, idOf[A](a)})
		}
	default:
		e := itemAs[item2[A]](s, method, h, options)
		return func(a address) (string, error) {
			return e.URL(item2[A]{parents2{a.parents[0], a.parents[1]}, idOf[A](a)})
		}
	}
}

// idOf returns what stands for the row as the type of the parameter.
func idOf[A ~int64 | ~string](a address) (id A) {
	if v := reflect.ValueOf(a.row); v.IsValid() && v.CanConvert(reflect.TypeFor[A]()) {
		reflect.ValueOf(&id).Elem().Set(v.Convert(reflect.TypeFor[A]()))
	}
	return id
}

func itemAs[In addressed, Out any](s *site, method string, h func(context.Context, address) (Out, error), options []rest.RouteOption) *rest.Endpoint[In, Out] {
	return rest.Handle(s.routes, []string{method}, s.path+s.kind.segment(),
		func(ctx context.Context, in In) (Out, error) { return h(ctx, in.address()) }, options...)
}

func addChange[B any](s *site, method string, h func(context.Context, address, B) (*rest.Reply, error), options []rest.RouteOption) {
	switch s.kind {
	case numbers:
		changeOf[int64](s, method, h, options)
	case uuids:
		changeOf[uuidText](s, method, h, options)
	default:
		changeOf[string](s, method, h, options)
	}
}

func changeOf[A, B any](s *site, method string, h func(context.Context, address, B) (*rest.Reply, error), options []rest.RouteOption) {
	methods, path := []string{method}, s.path+s.kind.segment()
	switch s.parents {
	case 0:
		rest.Handle(s.routes, methods, path, func(ctx context.Context, in change0[A, B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	case 1:
		rest.Handle(s.routes, methods, path, func(ctx context.Context, in change1[A, B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	default:
		rest.Handle(s.routes, methods, path, func(ctx context.Context, in change2[A, B]) (*rest.Reply, error) {
			return h(ctx, in.address(), in.Body)
		}, options...)
	}
}

var (
	parameter  = regexp.MustCompile(`\{(?:(\w+):)?(\w+)\}`)
	errParents = errors.New("there may be two parameters")
)

// parsePath takes the names from a path with parameters, and puts ours in their place.
func parsePath(path string) (renamed string, names []string, err error) {
	renamed = parameter.ReplaceAllStringFunc(path, func(p string) string {
		parts := parameter.FindStringSubmatch(p)
		names = append(names, parts[2])
		name := "parent"
		if len(names) > 1 {
			name = fmt.Sprintf("parent%d", len(names))
		}
		if parts[1] != "" {
			name = parts[1] + ":" + name
		}
		return "{" + name + "}"
	})
	if len(names) > maxParents {
		return "", nil, fmt.Errorf("path %q: %w", path, errParents)
	}
	return strings.TrimSuffix(renamed, "/"), names, nil
}
