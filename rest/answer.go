package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/spoolhq/spool/rest/internal/option"
)

// Answer is the result of a handler that answers with more than one status: a T with the
// status of the route, or one of the others that the route declares by [Also]. The compiler
// checks each body against its declaration, and the document follows from them.
//
//	var taken = rest.Also[Taken](http.StatusConflict)
//
//	func (c *Books) Routes(r *rest.Routes) {
//		rest.Post(r, "/books", c.create, rest.Status(http.StatusCreated), taken)
//	}
//
//	func (c *Books) create(ctx context.Context, in NewBook) (rest.Answer[Book], error) {
//		if other, ok := c.byISBN[in.ISBN]; ok {
//			return rest.Answer[Book]{Other: taken.With(Taken{By: other})}, nil
//		}
//		return rest.Answer[Book]{Body: c.add(in)}, nil
//	}
//
// An error is still returned as one: [NotFound], for example. [NoContent] as T, or in Also, is
// an answer without a body.
type Answer[T any] struct {
	// Body is written as JSON, unless there is an Other.
	Body T
	// Other is an answer with another status, made by [Alternative.With]. The route declares
	// it, or the answer is 500.
	Other Other
	// Header is added to the answer's.
	Header http.Header
}

// UnmarshalJSON reads the body, for typed calls of the route in tests and clients.
func (a *Answer[T]) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &a.Body) //nolint:wrapcheck // it is the body's own
}

func (*Answer[T]) bodyType() reflect.Type { return reflect.TypeFor[T]() }

func (a *Answer[T]) parts() (body reflect.Value, other Other, header http.Header) {
	return reflect.ValueOf(&a.Body).Elem(), a.Other, a.Header
}

// answerer is an [Answer] of any type.
type answerer interface {
	bodyType() reflect.Type
	parts() (body reflect.Value, other Other, header http.Header)
}

// Alternative is another answer of a route: a status with a body of type T. It is an option of the
// routes that may give it.
type Alternative[T any] struct{ status int }

// Also declares an answer with the status and a body of type T, [NoContent] for none. Keep the
// value: it is an option of the route, and makes the answers of its handler.
func Also[T any](status int) Alternative[T] {
	if status < http.StatusOK || status > 599 {
		panic(fmt.Sprintf("rest: rest.Also: %d is not the status of an answer", status))
	}
	return Alternative[T]{status}
}

// With makes an answer of it, for the field Other of an [Answer].
func (a Alternative[T]) With(body T) Other {
	return Other{status: a.status, typ: reflect.TypeFor[T](), body: body}
}

// Status is the status of the answer.
func (a Alternative[T]) Status() int { return a.status }

func (a Alternative[T]) applyRoute(c *routeConfig) {
	c.returns = append(c.returns, declared{status: a.status, body: bodyOf(reflect.TypeFor[T]())})
}

// RestRoute marks a route option.
func (Alternative[T]) RestRoute(option.Seal) {}

// Other is an answer that [Alternative.With] has made. The zero value is none.
type Other struct {
	status int
	typ    reflect.Type
	body   any
}

// bodyOf returns the type of a body, nil for [NoContent].
func bodyOf(t reflect.Type) reflect.Type {
	if t == reflect.TypeFor[NoContent]() {
		return nil
	}
	return t
}

// answerTyped writes an [Answer].
func (c *routeContext) answerTyped(out any) error {
	rt := c.route
	a, ok := out.(answerer)
	if !ok {
		return fmt.Errorf("%s returned a %T", rt.name, out)
	}
	body, other, header := a.parts()
	addAll(c.response.Header(), header)
	if other.typ != nil {
		c.response.status = 0 // the answer says which it is
		if bodyOf(other.typ) == nil {
			return c.writeOther(other.status, nil)
		}
		return c.writeOther(other.status, other.body)
	}
	if rt.body == nil {
		return c.write(rt.status, nil)
	}
	if rt.nilable {
		if err := rt.replaceNil(body); err != nil {
			return err
		}
	}
	return c.write(rt.status, body.Addr().Interface())
}

// writeOther writes a body of any type with a status, if the route declares that.
func (c *routeContext) writeOther(status int, body any) error {
	if v := reflect.ValueOf(body); v.Kind() == reflect.Slice && v.IsNil() {
		body = reflect.MakeSlice(v.Type(), 0, 0).Interface()
	} else if v.Kind() == reflect.Map && v.IsNil() {
		body = reflect.MakeMap(v.Type()).Interface()
	}
	if c.response.status != 0 {
		status = c.response.status
	}
	if err := c.route.checkBody(status, reflect.ValueOf(body)); err != nil {
		return err
	}
	return c.write(status, body)
}

// checkBody returns an error when the route declares the status with another body. write finds a
// status that the route does not declare.
func (rt *route) checkBody(status int, body reflect.Value) error {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return nil // there is no body, whatever it is
	}
	types, said := rt.bodies[status]
	if !said || slices.ContainsFunc(types, func(t reflect.Type) bool { return isBody(t, body) }) {
		return nil
	}
	got := reflect.TypeFor[NoContent]()
	if body.IsValid() {
		got = body.Type()
	}
	word := bodyWord(bodyOf(got))
	if body.Kind() == reflect.Pointer && body.IsNil() {
		word = "nil, and no " + word
	}
	return &Error{
		Status: http.StatusInternalServerError, Code: "answer_mismatch", mismatch: true,
		Detail: fmt.Sprintf("The route declares %s for the status %d, and its handler answered %s.", bodyWord(types[0]), status, word),
		Err:    fmt.Errorf("%s and %s", typeText(types[0]), typeText(bodyOf(got))),
	}
}

// isBody reports whether a body is of the declared type, which is nil for none. A value and a
// pointer to it are the same JSON.
func isBody(typ reflect.Type, body reflect.Value) bool {
	switch {
	case typ == nil || !body.IsValid():
		return typ == nil && !body.IsValid()
	case body.Kind() == reflect.Pointer && body.IsNil():
		return false
	case typ.Kind() == reflect.Interface:
		return body.Type().Implements(typ)
	default:
		return structOf(typ) == structOf(body.Type())
	}
}

// typeText is the type in a log.
func typeText(t reflect.Type) string {
	if t == nil {
		return "no body"
	}
	return t.String()
}

// bodyWord names a type for a client, without its package.
func bodyWord(t reflect.Type) string {
	switch {
	case t == nil:
		return "no body"
	case t.Kind() == reflect.Pointer:
		return bodyWord(t.Elem())
	case t.Name() != "":
		return typeWord(reflect.Zero(t).Interface())
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return "a list of " + bodyWord(t.Elem())
	case t.Kind() == reflect.Map:
		return "a map of " + bodyWord(t.Elem())
	case t.Kind() == reflect.Interface:
		return "any JSON"
	default:
		return "a type without a name"
	}
}
