package rest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// guarded marks a raw operation whose security is enforced.
const guarded = "rest.guarded"

// Guard puts authentication, throttles and permissions before an operation that is
// registered with huma itself, and documents them:
//
//	op := rest.Guard(api, huma.Operation{Method: "GET", Path: "/raw"}, rest.Auth(bearer))
//	huma.Register(api.Huma(), op, handler)
//
// The handler's context knows the principal.
func Guard(a *API, op huma.Operation, options ...Option) huma.Operation {
	place := fmt.Sprintf("rest.Guard: %s %s", op.Method, op.Path)
	e := &entry{methods: []string{op.Method}, path: op.Path}
	for _, o := range options {
		must(e.config.apply([]RouteOption{o}), place)
	}
	rt := &route{api: a, level: e.config.under(a.config.level), entry: e, name: place, input: &input{}}
	must(rt.checkSecurity(), place)
	op.Security = rt.securityNeeds()
	if op.Metadata == nil {
		op.Metadata = map[string]any{}
	}
	op.Metadata[guarded] = true
	op.Middlewares = append(huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		c := &routeContext{}
		c.begin(rt, w, r)
		if err := c.admit(); err != nil {
			c.fail(err)
			return
		}
		next(humago.NewContext(ctx.Operation(), r.WithContext(c), w))
	}}, op.Middlewares...)
	return op
}

// rawOperation looks at each operation that is added to the document, and refuses those of
// others that promise a security which nothing enforces.
func (d *document) rawOperation(_ *huma.OpenAPI, op *huma.Operation) {
	if d.own {
		return
	}
	if len(op.Security) > 0 && op.Metadata[guarded] == nil {
		panic(fmt.Sprintf("rest: %s %s documents a security that nothing enforces: register it through rest.Guard", op.Method, op.Path))
	}
	kind, contentType := d.api.config.renderer.Document()
	for status, response := range op.Responses {
		if status != "default" && !strings.HasPrefix(status, "4") && !strings.HasPrefix(status, "5") {
			continue
		}
		response.Content = map[string]*huma.MediaType{contentType: {Schema: d.registry.Of(kind, "Error")}}
	}
}

// rawError gives the errors of raw operations the form of the API's, without the values
// that huma repeats in them.
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
	_, body := d.api.config.renderer.Render(r, e)
	return body, nil
}
