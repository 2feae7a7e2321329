package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// NoContent is an answer without a body. Its status defaults to 204.
type NoContent struct{}

// Responder is an answer that writes itself, such as a [File], a [Stream] or [Events].
type Responder interface {
	// Respond writes the answer. If it returns an error before it has written anything, the
	// error is answered like any other. After that, the connection is cut.
	Respond(w http.ResponseWriter, r *http.Request) error
}

// DocumentedResponder is a [Responder] that the document describes. Document is called on the
// zero value of its type.
type DocumentedResponder interface {
	Responder
	// Document returns the content type of the answer, and the type of its body or of one item
	// of it. A nil type means bytes.
	Document() (contentType string, body reflect.Type)
}

// Returns declares that the route may also answer with the status and a body of type T. A
// handler gives such an answer with a [Reply], with [Response.SetStatus] or with an [Error]
// that has a Body. [NoContent] as T means no body; error as T means an error in the API's
// format, as with [Fails]. If the handler returns [*Reply], the first Returns is the route's
// usual answer. The text about says in the document what the answer means on this route; it
// defaults to the status text.
//
// A [Reply] with a body of another type is answered 500, and the detail names both types. With
// [Also] and [Answer] the compiler finds this mistake. The body of an [Error], and the result
// of a handler that calls SetStatus, are not checked.
func Returns[T any](status int, about ...string) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.describe(status, about)
		if t := reflect.TypeFor[T](); t == reflect.TypeFor[error]() {
			c.fails = append(c.fails, status)
		} else {
			c.returns = append(c.returns, declared{status: status, body: bodyOf(t)})
		}
	})
}

func (c *routeConfig) describe(status int, about []string) {
	if len(about) == 0 {
		return
	}
	if c.described == nil {
		c.described = map[int]string{}
	}
	c.described[status] = strings.Join(about, " ")
}

// Fails declares error statuses of the handler, such as 409. Errors of the stages before the
// handler are declared automatically.
func Fails(statuses ...int) RouteOption {
	return routeOption(func(c *routeConfig) { c.fails = append(c.fails, statuses...) })
}

// Produces sets the documented content types of an answer that writes itself: a [File], a
// [Stream] or a [Raw] handler.
func Produces(contentTypes ...string) RouteOption {
	return routeOption(func(c *routeConfig) { c.produces = append(c.produces, contentTypes...) })
}

// answer writes the handler's result. out is a pointer to it.
func (c *routeContext) answer(out any) error {
	rt := c.route
	if rt.judges && !c.judged.Load() {
		rt.unjudged.Do(func() {
			rt.api.config.logger.log().WarnContext(c, "the route has object permissions, but its handler asked none of them: "+
				"see rest.GetOrNotFound and rest.CheckObjectPermission", "route", rt.name)
		})
	}
	if rt.list != nil {
		return c.answerList(out)
	}
	switch rt.answers {
	case answersNothing:
		return c.write(rt.status, nil)
	case answersReply:
		return c.answerReply(out)
	case answersTyped:
		return c.answerTyped(out)
	case answersItself:
		return c.answerItself(out)
	default:
		if rt.nilable {
			if err := rt.replaceNil(reflect.ValueOf(out).Elem()); err != nil {
				return err
			}
		}
		return c.write(rt.status, out)
	}
}

// replaceNil replaces a nil list or map by an empty one. Any other nil is an error, because
// the document does not allow null there.
func (rt *route) replaceNil(out reflect.Value) error {
	switch {
	case !out.IsNil():
	case out.Kind() == reflect.Slice:
		out.Set(reflect.MakeSlice(out.Type(), 0, 0))
	case out.Kind() == reflect.Map:
		out.Set(reflect.MakeMap(out.Type()))
	default:
		return fmt.Errorf("%s returned a nil %v and no error", rt.name, out.Type())
	}
	return nil
}

func isNilList(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil() &&
		!v.Type().Implements(reflect.TypeFor[json.Marshaler]())
}

func (c *routeContext) answerReply(out any) error {
	reply, ok := out.(**Reply)
	if !ok || *reply == nil {
		return fmt.Errorf("%s returned no reply", c.route.name)
	}
	addAll(c.response.Header(), (*reply).Header)
	return c.writeOther(cmp.Or((*reply).Status, c.route.status), (*reply).Body)
}

func (c *routeContext) answerItself(out any) error {
	value := reflect.ValueOf(out).Elem().Interface()
	if isNil(value) {
		return fmt.Errorf("%s returned a nil answer", c.route.name)
	}
	responder, ok := value.(Responder)
	if !ok {
		responder, ok = out.(Responder)
	}
	if !ok {
		return fmt.Errorf("%s returned a %T", c.route.name, value)
	}
	begun := &begunWriter{ResponseWriter: c.response.writer}
	c.response.writer = begun
	err := responder.Respond(begun, c.request.WithContext(c))
	if err != nil && begun.begun {
		_ = c.route.api.answerOf(c.request, err, c.route.name) // logs the error
		// cuts the connection: the client must not take a part for the whole
		panic(http.ErrAbortHandler)
	}
	return err //nolint:wrapcheck // the program's own error
}

// write writes a body with a status. A nil body means no body.
func (c *routeContext) write(status int, body any) error {
	rt := c.route
	if c.response.status != 0 {
		status = c.response.status
	}
	if status != rt.status && !slices.Contains(rt.statuses, status) {
		return fmt.Errorf("%s answers with the status %d, which it does not document", rt.name, status)
	}
	w := c.response.writer
	if body != nil {
		if head := rt.headOf(reflect.TypeOf(body)); head != nil {
			var err error
			if body, err = head.split(w.Header(), body); err != nil {
				return fmt.Errorf("%s answers with %w", rt.name, err)
			}
			if v := reflect.ValueOf(body); body != nil && v.Kind() == reflect.Pointer && isNilList(v.Elem()) {
				_ = rt.replaceNil(v.Elem()) // never an error for a list or a map
			}
		}
	}
	if body == nil || status == http.StatusNoContent || status == http.StatusNotModified {
		w.WriteHeader(status)
		return nil
	}
	if err := rt.api.send(w, status, jsonContent, rt.wire, body); err != nil {
		return fmt.Errorf("encode the answer of %s: %w", rt.name, err)
	}
	return nil
}

var jsonContent = []string{"application/json"}
