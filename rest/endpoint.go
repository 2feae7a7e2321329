package rest

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
)

// Endpoint is a registered route with its types, for links to it and for typed calls of
// it. A controller that wants it keeps what [Get] and the others return. It is resolved
// when the controller is registered; a controller that is registered in several APIs gets
// an endpoint for each, as Routes is called for each.
type Endpoint[In, Out any] struct{ route *route }

var errUnregistered = errors.New("the controller of the route is not registered")

// Path returns the route's path for the document, such as "/books/{id}".
func (e *Endpoint[In, Out]) Path() string {
	if e.route == nil {
		return ""
	}
	return e.route.path.document()
}

// Method returns the route's method, the first one of several.
func (e *Endpoint[In, Out]) Method() string {
	if e.route == nil {
		return ""
	}
	return e.route.methods[0]
}

// URL returns the path and query that make a request for in. It is relative to the host.
// What is zero and would be so without being sent is left out.
//
// A value that an address cannot carry is an error: an empty segment of the path, for
// example, or one of dots, which clients and servers take for a step up.
func (e *Endpoint[In, Out]) URL(in In) (string, error) {
	if e.route == nil {
		return "", errUnregistered
	}
	return e.route.address(structValue(in))
}

// structValue returns the struct that in is or points to, and a zero one for a nil pointer.
func structValue(in any) reflect.Value {
	v, made := in.(reflect.Value) // see InputType
	if !made {
		v = reflect.ValueOf(in)
	}
	if v.Kind() != reflect.Pointer {
		return v
	}
	if v.IsNil() {
		return reflect.Zero(v.Type().Elem())
	}
	return v.Elem()
}

// address returns the path and query for an input.
func (rt *route) address(in reflect.Value) (string, error) {
	values := map[string]string{}
	var query []string
	if rt.input.params == nil {
		return rt.url(values, query)
	}
	for _, p := range rt.input.params.Params() {
		if p.In != "path" && p.In != "query" {
			continue
		}
		texts, err := paramTexts(p, in)
		if err != nil {
			return "", fmt.Errorf("link to %s: %s %s: %w", rt.name, p.In, p.Name, err)
		}
		if p.In == "path" {
			values[p.Name] = strings.Join(texts, "")
			continue
		}
		query = append(query, queryPairs(p, texts)...)
	}
	return rt.url(values, query)
}

// queryPairs writes the texts of a query parameter. Commas between items are no escapes,
// those in them are.
func queryPairs(p bind.Param, texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	pairs := make([]string, len(texts))
	for i, t := range texts {
		pairs[i] = url.QueryEscape(t)
	}
	name := url.QueryEscape(p.Name) + "="
	if p.Type.Kind() == reflect.Slice && !p.Explode {
		return []string{name + strings.Join(pairs, ",")}
	}
	for i := range pairs {
		pairs[i] = name + pairs[i]
	}
	return pairs
}

// url writes the path with its parameters, and the query.
func (rt *route) url(values map[string]string, query []string) (string, error) {
	var b strings.Builder
	for _, s := range rt.path.segments {
		b.WriteByte('/')
		if s.name == "" {
			b.WriteString(s.escaped)
			continue
		}
		text, ok := values[s.name]
		if !ok || !s.carries(text) {
			return "", fmt.Errorf("link to %s: no proper value for {%s}", rt.name, s.name)
		}
		if s.kind == restKind {
			b.WriteString((&url.URL{Path: "/" + text}).EscapedPath()[1:])
		} else {
			b.WriteString(url.PathEscape(text))
		}
	}
	if rt.path.slash || len(rt.path.segments) == 0 {
		b.WriteByte('/')
	}
	if len(query) > 0 {
		b.WriteString("?" + strings.Join(query, "&"))
	}
	return b.String(), nil
}

// carries reports whether a link can have the text for the parameter: what would be taken
// for a step in the path on its way does not arrive.
func (s segment) carries(text string) bool {
	if s.kind != restKind {
		// A slash alone is the end of a path to the mux, also as an escape.
		return text != "" && text != "." && text != ".." && text != "/" && s.kind.matches(text)
	}
	steps := strings.Split(text, "/")
	for i, step := range steps {
		if step == "." || step == ".." || (step == "" && i < len(steps)-1) {
			return false
		}
	}
	return true
}

// Reverse returns the path of the one route with the name, such as "Books.get", with values
// for its parameters in their order.
func (a *API) Reverse(name string, values ...any) (string, error) {
	named := a.byName[name]
	if len(named) > 1 {
		return "", fmt.Errorf("%d routes are called %q: give them names by rest.Name", len(named), name)
	}
	if len(named) == 0 {
		return "", fmt.Errorf("there is no route %q", name)
	}
	rt := named[0]
	if len(values) != len(rt.pathNames) {
		return "", fmt.Errorf("link to %s: it has %d parameters, not %d", name, len(rt.pathNames), len(values))
	}
	texts := map[string]string{}
	for i, v := range values {
		t, err := textsOf(reflect.ValueOf(v), rt.formatOf(rt.pathNames[i]))
		if err != nil || len(t) != 1 {
			return "", fmt.Errorf("link to %s: no proper value for {%s}", name, rt.pathNames[i])
		}
		texts[rt.pathNames[i]] = t[0]
	}
	return rt.url(texts, nil)
}

// formatOf is the tag format of a parameter of the path.
func (rt *route) formatOf(name string) string {
	if rt.input.params == nil {
		return ""
	}
	for _, p := range rt.input.params.Params() {
		if p.In == "path" && p.Name == name {
			return p.Field.Tag.Get("format")
		}
	}
	return ""
}
