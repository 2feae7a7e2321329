package rest

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// guarded is the metadata key of a raw operation that went through Guard.
const guarded = "rest.guarded"

// Guard puts authentication, throttles and permissions before an operation that is registered
// with huma itself, and documents them:
//
//	op := rest.Guard(api, huma.Operation{Method: "GET", Path: "/raw"}, rest.Auth(bearer))
//	huma.Register(api.Huma(), op, handler)
//
// In the handler, [PrincipalOf] returns the principal.
func Guard(a *API, op huma.Operation, options ...Option) huma.Operation {
	place := fmt.Sprintf("rest.Guard: %s %s", op.Method, op.Path)
	e := &entry{methods: []string{op.Method}, path: op.Path}
	for _, o := range options {
		must(e.config.apply([]RouteOption{o}), place)
	}
	rt := &route{api: a, level: e.config.under(a.config.level), entry: e, name: place, input: &input{}}
	must(rt.checkSecurity(), place)
	op.Security = rt.securityNeeds()
	for _, status := range rt.failures() {
		if status != http.StatusInternalServerError && !slices.Contains(op.Errors, status) {
			op.Errors = append(slices.Clip(op.Errors), status)
		}
	}
	metadata := map[string]any{guarded: true}
	maps.Copy(metadata, op.Metadata)
	op.Metadata = metadata
	op.Middlewares = append(huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, w := unwrap(ctx)
		c, begun := &routeContext{}, &begunWriter{ResponseWriter: w}
		c.begin(rt, begun, r, r.URL.EscapedPath())
		defer c.end()
		if err := c.admit(); err != nil {
			c.fail(err)
			return
		}
		next(humago.NewContext(ctx.Operation(), r.WithContext(c), begun))
	}}, op.Middlewares...)
	return op
}

// rawAdapter registers huma's operations. It refuses an operation without Guard if the
// operation documents security, or if the API has authentication, throttles or permissions.
type rawAdapter struct {
	huma.Adapter

	api *API
}

// Handle registers an operation. It panics if the operation needs Guard and did not go through
// it.
func (r rawAdapter) Handle(op *huma.Operation, h func(huma.Context)) {
	if op.Metadata[guarded] == nil {
		place := fmt.Sprintf("%s %s", op.Method, op.Path)
		if len(op.Security) > 0 {
			must(errors.New("the operation documents a security that nothing enforces: register it through rest.Guard"), place)
		}
		if l := r.api.config.level; len(l.auth)+len(l.first)+len(l.throttles)+len(l.permissions) > 0 {
			must(errors.New("the operation would not have the authentication, throttles and permissions of the API: "+
				"register it through rest.Guard, which can also say rest.NoAuth()"), place)
		}
	}
	r.Adapter.Handle(op, h)
}

// rawMux serves huma's operations through the API's own routing.
type rawMux struct{ *API }

// HandleFunc adds a handler for a pattern: a method and a path.
func (m rawMux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	method, path, _ := strings.Cut(pattern, " ")
	err := m.plainHandler(method, path, func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = method + " " + m.config.basePath + path
		h(w, r)
	})
	must(err, pattern)
}

// rawOperation moves huma's operations below the base path, and documents their errors in the
// API's format.
func (d *document) rawOperation(all *huma.OpenAPI, op *huma.Operation) {
	if d.own {
		return
	}
	if base := d.api.config.basePath; base != "" {
		move(all, op, base+op.Path)
	}
	contentType, kind := d.api.config.renderer.Document()
	for status, response := range op.Responses {
		if status != "default" && !strings.HasPrefix(status, "4") && !strings.HasPrefix(status, "5") {
			continue
		}
		response.Content = map[string]*huma.MediaType{contentType: {Schema: d.answers.Of(kind, "Error")}}
	}
}

// rawError converts the errors of raw operations to the API's format. It drops the input
// values that huma repeats in them.
func (d *document) rawError(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	e := &Error{Status: model.Status, Detail: model.Detail}
	if len(model.Errors) > 0 {
		e.Code, e.Detail = "validation_failed", "The request is not valid."
	}
	if e.Status >= http.StatusInternalServerError {
		e.Detail = ""
	}
	for _, detail := range model.Errors {
		in, path, _ := strings.Cut(detail.Location, ".")
		f := fault.Fault{In: in, Kind: "value_error", Message: detail.Message}
		if path != "" {
			f.Path = []any{path}
		}
		e.Faults = append(e.Faults, f)
	}
	r, _ := humago.Unwrap(ctx)
	contentType, body := d.api.config.renderer.Render(r, e)
	if format, err := d.api.raw.Negotiate(ctx.Header("Accept")); err == nil && strings.HasSuffix(format, "json") {
		ctx.SetHeader("Content-Type", contentType) // huma has already set its own content type
	}
	return body, nil
}

func move(all *huma.OpenAPI, op *huma.Operation, path string) {
	of := func(item *huma.PathItem) **huma.Operation {
		for method, field := range map[string]**huma.Operation{
			http.MethodGet: &item.Get, http.MethodPost: &item.Post, http.MethodPut: &item.Put, http.MethodPatch: &item.Patch,
			http.MethodDelete: &item.Delete, http.MethodHead: &item.Head, http.MethodOptions: &item.Options,
			http.MethodTrace: &item.Trace,
		} {
			if method == op.Method {
				return field
			}
		}
		panic("rest: no such method: " + op.Method) // cannot happen: huma refuses it
	}
	*of(all.Paths[op.Path]) = nil
	if reflect.ValueOf(*all.Paths[op.Path]).IsZero() {
		delete(all.Paths, op.Path)
	}
	if all.Paths[path] == nil {
		all.Paths[path] = &huma.PathItem{}
	}
	*of(all.Paths[path]) = op
}
