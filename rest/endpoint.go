package rest

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
)

// Endpoint is a registered route with its types. It makes links and typed requests. [Get] and
// the other registration functions return it; a controller may keep it. It works once the
// controller is registered. A controller that is registered in several APIs gets one Endpoint
// for each.
type Endpoint[In, Out any] struct{ route *route }

var errUnregistered = errors.New("the controller of the route is not registered")

// Path returns the route's path as the document writes it, such as "/books/{id}".
func (e *Endpoint[In, Out]) Path() string {
	if e.route == nil {
		return ""
	}
	return e.route.path.document()
}

// Method returns the route's method. If the route has several, it is the first.
func (e *Endpoint[In, Out]) Method() string {
	if e.route == nil {
		return ""
	}
	return e.route.methods[0]
}

// URL returns the path and query of a request with the input in, relative to the host. A zero
// value is left out if its absence means the same.
//
// URL returns an error for a value that an address cannot contain: for example an empty path
// segment, or ".", which clients and servers take for a step.
func (e *Endpoint[In, Out]) URL(in In) (string, error) {
	if e.route == nil {
		return "", errUnregistered
	}
	return e.route.address(structValue(in))
}

// structValue returns in, or the struct that in points to. For a nil pointer it is a zero
// struct.
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

// queryPairs returns the name=value pairs of a query parameter. A comma between two items is
// written as it is; a comma inside an item is escaped.
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

// url returns the path, with values for its parameters, and the query.
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

// carries reports whether a link can have the text as the parameter. It returns false for the
// steps "." and "..", because clients and proxies would resolve them.
func (s segment) carries(text string) bool {
	if s.kind != restKind {
		// A lone slash, even escaped, is the end of a path to the mux.
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

// Reverse returns the path of the route with this name, such as "Books.get". The values fill
// the path parameters in order. Reverse returns an error if the name belongs to no route or to
// several.
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
