package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Emits declares one kind of event of a route that answers [Events]: its name, and T, the type
// of its data. An empty name means "message". The text about says in the document what the
// event means. If the kinds have different data, the events are of an interface that all data
// implement, such as Events[any].
//
//	rest.Get(r, "/watch", c.watch, rest.Emits[Order]("placed"), rest.Emits[Reason]("cancelled"))
//
// An [Event] without a name gets the name of the first kind that has its data's type. An event
// that is not declared is an error, which cuts the stream.
func Emits[T any](name string, about ...string) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.emits = append(c.emits, emitted{name: name, about: strings.Join(about, " "), data: pointed(reflect.TypeFor[T]())})
	})
}

// emitted is a kind of event. Its data is a value of the type data, or a pointer to one.
type emitted struct {
	name, about string
	data        reflect.Type
}

func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// eventStream is an [Events], or a struct that embeds it.
type eventStream interface{ eventData() reflect.Type }

func (Events[T]) eventData() reflect.Type { return reflect.TypeFor[T]() }

// checkEmits returns an error if a declared event can never be sent.
func (rt *route) checkEmits(out reflect.Type) error {
	kinds := rt.entry.config.emits
	if len(kinds) == 0 {
		return nil
	}
	var stream eventStream
	ok := false
	if out != nil {
		stream, ok = reflect.TypeAssert[eventStream](reflect.Zero(out))
	}
	if !ok {
		return errors.New("rest.Emits is for a handler that answers rest.Events")
	}
	of := stream.eventData()
	seen := map[string]bool{}
	for _, k := range kinds {
		fits := k.data == pointed(of)
		if of.Kind() == reflect.Interface {
			fits = k.data.Implements(of) || reflect.PointerTo(k.data).Implements(of)
		}
		switch {
		case !fits:
			return fmt.Errorf("the event %q has the data %v, which is not of %v, the data of the handler's events", k.name,
				k.data, of)
		case seen[k.name]:
			return fmt.Errorf("the event %q is declared twice", k.name)
		case strings.ContainsAny(k.name, "\r\n\x00"):
			return fmt.Errorf("the event %q has a line break in its name", k.name)
		}
		seen[k.name] = true
	}
	return nil
}

// nameOf returns the name to send for an event. Routes without declared kinds send any event.
func nameOf(kinds []emitted, name string, data any) (string, error) {
	if len(kinds) == 0 {
		return name, nil
	}
	t := reflect.TypeOf(data)
	for _, k := range kinds {
		if t != nil && k.data == pointed(t) && (name == "" || name == k.name) {
			return k.name, nil
		}
	}
	return "", fmt.Errorf("the route declares no event %q whose data is a %v: see rest.Emits", name, t)
}

// events returns the schema of a stream with declared kinds of events.
func (d *document) events(rt *route) *huma.Schema {
	items := &huma.Schema{}
	for _, k := range rt.entry.config.emits {
		one := &huma.Schema{
			Type: huma.TypeObject, Title: exported(cmp.Or(k.name, "message")) + "Event", Description: k.about,
			Properties: map[string]*huma.Schema{
				"id":    {Type: huma.TypeString, Description: "What a client that reconnects sends as Last-Event-ID."},
				"event": {Type: huma.TypeString, Enum: []any{cmp.Or(k.name, "message")}},
				"retry": {Type: huma.TypeInteger, Description: "The milliseconds to wait before the client reconnects."},
				"data":  d.answers.Of(k.data, exported(cmp.Or(k.name, "message"))+"Data"),
			},
			Required: []string{"data"},
		}
		if k.name != "" {
			one.Required = append(one.Required, "event")
		}
		items.OneOf = append(items.OneOf, one)
	}
	if len(items.OneOf) == 1 {
		items = items.OneOf[0]
	}
	return &huma.Schema{Type: huma.TypeArray, Items: items}
}

// canFlush returns an error if w cannot send what was written so far. It looks before anything
// is written, so that the error can be answered.
func canFlush(w http.ResponseWriter) error {
	for {
		switch at := w.(type) {
		case *begunWriter: // it flushes what it wraps
			w = at.ResponseWriter
		case interface{ FlushError() error }, http.Flusher:
			return nil
		case interface{ Unwrap() http.ResponseWriter }:
			w = at.Unwrap()
		default:
			return fmt.Errorf("a stream needs a writer with Flush, and the %T of a middleware has neither Flush nor Unwrap: %w",
				w, http.ErrNotSupported)
		}
	}
}
