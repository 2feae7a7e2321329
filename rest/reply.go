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

// NoContent is the answer without a body. Its status is 204.
type NoContent struct{}

// Responder is an answer that writes itself: a file, a stream, events. See [File],
// [Stream] and [Events].
type Responder interface {
	// Respond writes the answer. When it returns an error before it has written anything,
	// that is answered as any other.
	Respond(w http.ResponseWriter, r *http.Request) error
}

// DocumentedResponder is a [Responder] that the document describes. The zero value of its
// type is asked.
type DocumentedResponder interface {
	Responder
	// Document returns the content type of the answer, and the type of its body or of one
	// piece of it; nil stands for bytes.
	Document() (contentType string, body reflect.Type)
}

// Returns documents that the route may also answer with the status and a T, from a [Reply],
// a [Response] status or an [Error] with a body. [NoContent] as T is an answer without a body,
// and error an error in the form of the API, as by [Fails]. The first one of a route whose
// handler answers [*Reply] is its usual answer. About says in the document what the answer means
// on this route, and defaults to the status text.
//
// A [Reply] whose body is of another type is answered 500, which names both types. With [Also]
// and an [Answer] the compiler finds that. The body of an [Error], and the result of a handler
// that changes its status by [ResponseOf], are sent as they are.
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

// describe keeps what the document says of a status.
func (c *routeConfig) describe(status int, about []string) {
	if len(about) == 0 {
		return
	}
	if c.described == nil {
		c.described = map[int]string{}
	}
	c.described[status] = strings.Join(about, " ")
}

// Fails documents errors that the route answers with in addition to the errors of its stages, such
// as 409.
func Fails(statuses ...int) RouteOption {
	return routeOption(func(c *routeConfig) { c.fails = append(c.fails, statuses...) })
}

// Produces documents the content types of an answer that writes itself: of a [File], a
// [Stream] or a [Raw] handler.
func Produces(contentTypes ...string) RouteOption {
	return routeOption(func(c *routeConfig) { c.produces = append(c.produces, contentTypes...) })
}

// answer writes what the handler returned; out points to it.
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

// replaceNil makes empty lists and maps of nil ones. Nothing else that is nil is what the
// document says of the answer, so it is an error.
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
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.IsNil() && !v.Type().Implements(reflect.TypeFor[json.Marshaler]())
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
		return fmt.Errorf("%s returned nothing that answers", c.route.name)
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
		_ = c.route.api.answerOf(c.request, err, c.route.name) // which logs it
		panic(http.ErrAbortHandler)                            // so that the client does not take a part for the whole
	}
	return err //nolint:wrapcheck // it is the program's own
}

// write writes a body with a status. A nil body is none at all.
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
				_ = rt.replaceNil(v.Elem()) // of a list or a map there is nothing to complain about
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
