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
// route's status, or an alternative that the route declares with [Also]. The compiler checks
// each body against its declaration, and the document is generated from the declarations.
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
// Errors are still returned as errors, for example [NotFound]. With [NoContent] as T, or as
// the type of Also, the answer has no body.
type Answer[T any] struct {
	// Body is written as JSON, unless Other is set.
	Body T
	// Other is an answer with another status, made by [Alternative.With]. If the route does
	// not declare it, the answer is 500.
	Other Other
	// Header is added to the headers of the answer.
	Header http.Header
}

// UnmarshalJSON reads the JSON of the body into Body, for typed calls of the route in tests
// and clients.
func (a *Answer[T]) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &a.Body) //nolint:wrapcheck // the error of the body's type
}

func (*Answer[T]) bodyType() reflect.Type { return reflect.TypeFor[T]() }

func (a *Answer[T]) parts() (body reflect.Value, other Other, header http.Header) {
	return reflect.ValueOf(&a.Body).Elem(), a.Other, a.Header
}

// answerer is implemented by every [Answer] type.
type answerer interface {
	bodyType() reflect.Type
	parts() (body reflect.Value, other Other, header http.Header)
}

// Alternative is another answer of a route: a status with a body of type T. It is also the
// option that declares the answer on a route.
type Alternative[T any] struct{ status int }

// Also declares an answer with the status and a body of type T; [NoContent] means no body.
// Keep the result in a variable: it is the option for the route, and its With method makes the
// answers.
func Also[T any](status int) Alternative[T] {
	if status < http.StatusOK || status > 599 {
		panic(fmt.Sprintf("rest: rest.Also: %d is not the status of an answer", status))
	}
	return Alternative[T]{status}
}

// With returns the answer for the field Other of an [Answer].
func (a Alternative[T]) With(body T) Other {
	return Other{status: a.status, typ: reflect.TypeFor[T](), body: body}
}

// Status returns the status of the answer.
func (a Alternative[T]) Status() int { return a.status }

func (a Alternative[T]) applyRoute(c *routeConfig) {
	c.returns = append(c.returns, declared{status: a.status, body: bodyOf(reflect.TypeFor[T]())})
}

// RestRoute marks the type as a route option.
func (Alternative[T]) RestRoute(option.Seal) {}

// Other is an answer that [Alternative.With] has made. The zero value means none.
type Other struct {
	status int
	typ    reflect.Type
	body   any
}

// bodyOf returns the type of a body, or nil for [NoContent].
func bodyOf(t reflect.Type) reflect.Type {
	if t == reflect.TypeFor[NoContent]() {
		return nil
	}
	return t
}

func (c *routeContext) answerTyped(out any) error {
	rt := c.route
	a, ok := out.(answerer)
	if !ok {
		return fmt.Errorf("%s returned a %T", rt.name, out)
	}
	body, other, header := a.parts()
	addAll(c.response.Header(), header)
	if other.typ != nil {
		c.response.status = 0 // the status of Other wins over SetStatus
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

// writeOther writes a body with a status, after checking that the route declares this pair.
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

// checkBody returns an error if the route declares the status with another body type. A status
// that the route does not declare is left to write, which refuses it.
func (rt *route) checkBody(status int, body reflect.Value) error {
	if status == http.StatusNoContent || status == http.StatusNotModified {
		return nil // the body is never sent
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
		Detail: fmt.Sprintf("The route declares %s for the status %d, and its handler answered %s.", bodyWord(types[0]),
			status, word),
		Err: fmt.Errorf("%s and %s", typeText(types[0]), typeText(bodyOf(got))),
	}
}

// isBody reports whether a body has the declared type; nil means no body. A pointer and its
// value have the same JSON, so either is fine.
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

// typeText returns the name of a type for the log.
func typeText(t reflect.Type) string {
	if t == nil {
		return "no body"
	}
	return t.String()
}

// bodyWord returns the name of a type for a client, without its package.
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
