package rest

import (
	"encoding"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
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

// URL returns the path and query that make a request for in. It is relative to the host. A
// value that the path cannot hold, such as an empty one, is an error.
func (e *Endpoint[In, Out]) URL(in In) (string, error) {
	if e.route == nil {
		return "", errUnregistered
	}
	v := reflect.ValueOf(in)
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	values := map[string][]string{}
	q := url.Values{}
	if plan := e.route.input.params; plan != nil {
		for _, p := range plan.Params() {
			texts, err := textsOf(v.FieldByIndex(p.Index))
			if err != nil {
				return "", fmt.Errorf("%s %s: %w", p.In, p.Name, err)
			}
			switch {
			case p.In == "path":
				values[p.Name] = texts
			case p.In == "query" && !p.Explode && len(texts) > 1:
				q.Set(p.Name, strings.Join(texts, ","))
			case p.In == "query":
				for _, t := range texts {
					if t != "" || p.Nullable {
						q.Add(p.Name, t)
					}
				}
			}
		}
	}
	return e.route.url(func(name string) (string, bool) {
		if t := values[name]; len(t) == 1 {
			return t[0], true
		}
		return "", false
	}, q)
}

// url writes the path with its parameters.
func (rt *route) url(value func(name string) (string, bool), q url.Values) (string, error) {
	var b strings.Builder
	for _, s := range rt.path.segments {
		b.WriteByte('/')
		if s.name == "" {
			b.WriteString(s.literal)
			continue
		}
		text, ok := value(s.name)
		if !ok || (text == "" && s.kind != restKind) || !s.kind.matches(text) {
			return "", fmt.Errorf("link to %s: no proper value for {%s}", rt.name, s.name)
		}
		if s.kind == restKind {
			b.WriteString((&url.URL{Path: text}).EscapedPath())
		} else {
			b.WriteString(url.PathEscape(text))
		}
	}
	if rt.path.slash || len(rt.path.segments) == 0 {
		b.WriteByte('/')
	}
	if len(q) > 0 {
		b.WriteString("?" + q.Encode())
	}
	return b.String(), nil
}

// Reverse returns the path of the route with the name, such as "Books.get", with values
// for its parameters in their order.
func (a *API) Reverse(name string, values ...any) (string, error) {
	rt, ok := a.byName[name]
	if !ok {
		return "", fmt.Errorf("there is no route %q", name)
	}
	if len(values) != len(rt.pathNames) {
		return "", fmt.Errorf("link to %s: it has %d parameters, not %d", name, len(rt.pathNames), len(values))
	}
	texts := map[string]string{}
	for i, v := range values {
		t, err := textsOf(reflect.ValueOf(v))
		if err != nil || len(t) != 1 {
			return "", fmt.Errorf("link to %s: no proper value for {%s}", name, rt.pathNames[i])
		}
		texts[rt.pathNames[i]] = t[0]
	}
	return rt.url(func(name string) (string, bool) { t, ok := texts[name]; return t, ok }, nil)
}

// textsOf writes a parameter as it is read: nothing for what is absent.
func textsOf(v reflect.Value) ([]string, error) {
	if !v.IsValid() {
		return nil, nil
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, nil
		}
		return textsOf(v.Elem())
	}
	switch value := v.Interface().(type) {
	case time.Time:
		if value.IsZero() {
			return nil, nil
		}
		return []string{value.Format(time.RFC3339Nano)}, nil
	case time.Duration:
		return []string{value.String()}, nil
	case interface{ IsSet() bool }: // an Opt
		if !value.IsSet() {
			return nil, nil
		}
		return textsOf(v.MethodByName("Get").Call(nil)[0])
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return []string{string(text)}, err //nolint:wrapcheck // the caller names the parameter
	}
	switch v.Kind() { //nolint:exhaustive // the others are no parameters
	case reflect.Slice:
		var all []string
		for i := range v.Len() {
			t, err := textsOf(v.Index(i))
			if err != nil {
				return nil, err
			}
			all = append(all, t...)
		}
		return all, nil
	case reflect.String:
		return []string{v.String()}, nil
	case reflect.Bool:
		return []string{strconv.FormatBool(v.Bool())}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return []string{strconv.FormatInt(v.Int(), 10)}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return []string{strconv.FormatUint(v.Uint(), 10)}, nil
	case reflect.Float32, reflect.Float64:
		return []string{strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits())}, nil
	default:
		return nil, fmt.Errorf("a %v has no text", v.Type())
	}
}
