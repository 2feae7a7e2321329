package crud

import (
	"context"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest"
)

// kind is the kind of path parameter that identifies a row.
type kind int

const (
	texts kind = iota
	slugs
	numbers
	uuids
)

func (k kind) segment() string {
	return [...]string{"/{id}", "/{slug:id}", "/{int:id}", "/{uuid:id}"}[k]
}

func (k kind) parameter() reflect.Type {
	return [...]reflect.Type{
		texts: textType, slugs: textType, numbers: reflect.TypeFor[int64](), uuids: reflect.TypeFor[uuidText](),
	}[k]
}

var textType = reflect.TypeFor[string]()

// uuidText is a text that is documented as a UUID.
type uuidText string

// Schema returns the schema of the parameter.
func (uuidText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
}

// site registers the routes of a controller. It knows their path, the parents in it, and the
// kind of row parameter.
type site struct {
	routes  *rest.Routes
	path    string
	parents []string // names of the parent parameters
	kind    kind
}

// shape says what the input of a route has in addition to the parents.
type shape struct {
	row  bool         // the parameter id
	body reflect.Type // nil for none
}

// input returns the input type: the path parameters in order, and the body.
func (s *site) input(of shape) reflect.Type {
	fields := make([]reflect.StructField, 0, len(s.parents)+2)
	add := func(field, name string, t reflect.Type) {
		fields = append(fields, reflect.StructField{
			Name: field, Type: t, Tag: reflect.StructTag("path:" + strconv.Quote(name)),
		})
	}
	for i, name := range s.parents {
		add("Parent"+strconv.Itoa(i), name, textType)
	}
	if of.row {
		add("ID", "id", s.kind.parameter())
	}
	if of.body != nil {
		fields = append(fields, reflect.StructField{Name: "Body", Type: of.body})
	}
	return reflect.StructOf(fields)
}

type address struct {
	parents []string
	row     any // int64 or string
}

func (s *site) address(in reflect.Value, of shape) (at address) {
	for i := range s.parents {
		at.parents = append(at.parents, in.Field(i).String())
	}
	if of.row {
		at.row = segmentOf(in.Field(len(s.parents)))
	}
	return at
}

func (s *site) fill(in reflect.Value, at address) {
	for i, text := range at.parents {
		in.Field(i).SetString(text)
	}
	id := in.Field(len(s.parents))
	if row := reflect.ValueOf(at.row); row.IsValid() && row.CanConvert(id.Type()) {
		id.Set(row.Convert(id.Type()))
	}
}

// add registers a route with the function register. It returns a link to the route.
func add[Out any](
	s *site, of shape, h func(
		ctx context.Context, at address, body reflect.Value,
	) (Out, error), options []rest.RouteOption,
	register func(
		r *rest.Routes, path string, h func(context.Context, reflect.Value) (Out, error), options ...rest.RouteOption,
	) *rest.Endpoint[reflect.Value, Out],
) link {
	path, input := s.path, s.input(of)
	switch {
	case of.row:
		path += s.kind.segment()
	case path == "":
		path = "/"
	}
	endpoint := register(s.routes, path, func(ctx context.Context, in reflect.Value) (Out, error) {
		var body reflect.Value
		if of.body != nil {
			body = in.Field(in.NumField() - 1)
		}
		return h(ctx, s.address(in, of), body)
	}, append(options, rest.InputType(input))...)
	return func(at address) (string, error) {
		in := reflect.New(input).Elem()
		s.fill(in, at)
		return endpoint.URL(in)
	}
}

type link func(address) (string, error)

var parameter = regexp.MustCompile(`\{(?:\w+:)?(\w+)\}`)

// parsePath returns the path without its last slash, and the names of its parameters.
func parsePath(path string) (registered string, names []string) {
	for _, match := range parameter.FindAllStringSubmatch(path, -1) {
		names = append(names, match[1])
	}
	return strings.TrimSuffix(path, "/"), names
}
