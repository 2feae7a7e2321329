package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

// flushless is a writer of a middleware that has neither Flush nor Unwrap.
type flushless struct{ w http.ResponseWriter }

func (b flushless) Header() http.Header         { return b.w.Header() }
func (b flushless) Write(p []byte) (int, error) { return b.w.Write(p) } //nolint:wrapcheck // it only wraps
func (b flushless) WriteHeader(status int)      { b.w.WriteHeader(status) }

// TestStreamsBehindAWriterWithoutFlush: nothing has been sent yet, so the answer is an error of
// the API.
func TestStreamsBehindAWriterWithoutFlush(t *testing.T) {
	t.Parallel()

	var log memory
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/events", func(context.Context, struct{}) (rest.Events[int], error) {
			return rest.Events[int]{Items: func(yield func(rest.Event[int], error) bool) { yield(rest.Event[int]{}, nil) }}, nil
		})
		rest.Get(r, "/lines", func(context.Context, struct{}) (rest.Lines[int], error) {
			return rest.Lines[int]{Items: func(yield func(int, error) bool) { yield(1, nil) }}, nil
		})
	}, rest.Logger(log.logger()), rest.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Bare") != "" {
				w = flushless{w}
			}
			next.ServeHTTP(w, r)
		})
	}))
	for _, path := range []string{"/events", "/lines"} {
		a := resttest.Do[any](t, api, http.MethodGet, path, resttest.Header("X-Bare", "1"))
		wantDiff(t, path, []any{500, "application/problem+json", "no-store", false, true},
			[]any{
				a.Status, a.Header.Get("Content-Type"), a.Header.Get("Cache-Control"), a.Aborted,
				strings.Contains(a.Text, `"code":"internal"`),
			})
		if !strings.Contains(log.String(), "rest_test.flushless of a middleware has neither Flush nor Unwrap") {
			t.Errorf("%s: the log does not say why:\n%s", path, log.String())
		}
		wantStatus(t, api, http.MethodGet, path, http.StatusOK)
	}
	// A server's timeout is such a middleware.
	w := httptest.NewRecorder()
	http.TimeoutHandler(api, time.Minute, "").ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", nil))
	wantDiff(t, "behind http.TimeoutHandler", 500, w.Code)
}

type orderChange interface{ orderChange() }

type orderPlaced struct {
	Total int `json:"total"`
}

type orderCancelled struct {
	Reason string `json:"reason"`
}

func (orderPlaced) orderChange()     {}
func (*orderCancelled) orderChange() {}

func TestEmits(t *testing.T) {
	t.Parallel()

	stream := func(all ...rest.Event[orderChange]) func(context.Context, struct{}) (rest.Events[orderChange], error) {
		return func(context.Context, struct{}) (rest.Events[orderChange], error) {
			return rest.Events[orderChange]{Items: func(yield func(rest.Event[orderChange], error) bool) {
				for _, e := range all {
					if !yield(e, nil) {
						return
					}
				}
			}}, nil
		}
	}
	kinds := []rest.RouteOption{
		rest.Emits[orderPlaced]("placed", "An order was placed."), rest.Emits[orderPlaced]("paid"),
		rest.Emits[orderCancelled]("cancelled"),
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/all", stream(rest.Event[orderChange]{ID: "1", Data: orderPlaced{3}},
			rest.Event[orderChange]{Name: "paid", Data: orderPlaced{3}},
			rest.Event[orderChange]{Data: &orderCancelled{"late"}}), kinds...)
		rest.Get(r, "/unknown", stream(rest.Event[orderChange]{Name: "lost", Data: orderPlaced{3}}), kinds...)
		rest.Get(r, "/other", stream(rest.Event[orderChange]{Name: "paid", Data: &orderCancelled{}}), kinds...)
		rest.Get(r, "/nil", stream(rest.Event[orderChange]{}), kinds...)
		rest.Get(r, "/one", func(context.Context, struct{}) (rest.Events[*orderPlaced], error) {
			return rest.Events[*orderPlaced]{}, errors.New("never asked")
		}, rest.Emits[orderPlaced](""))
	})
	for path, want := range map[string]string{
		"/all":     "id: 1\nevent: placed\ndata: {\"total\":3}\n\nevent: paid\ndata: {\"total\":3}\n\nevent: cancelled\ndata: {\"reason\":\"late\"}\n\n",
		"/unknown": "", "/other": "", "/nil": "",
	} {
		a := resttest.Do[any](t, api, http.MethodGet, path)
		wantDiff(t, path, []any{want, want == ""}, []any{a.Text, a.Aborted})
	}

	schema := func(path string) any {
		return at(document(t, api), "paths", path, "get", "responses", "200", "content", "text/event-stream", "schema")
	}
	of, _ := at(schema("/all"), "items", "oneOf").([]any)
	if len(of) != 3 {
		t.Fatalf("documented %v", schema("/all"))
	}
	wantDiff(t, "the first", map[string]any{
		"type": "object", "title": "PlacedEvent", "description": "An order was placed.", "required": []any{"data", "event"},
		"properties": map[string]any{
			"id":    map[string]any{"type": "string", "description": "What a client that reconnects sends as Last-Event-ID."},
			"event": map[string]any{"type": "string", "enum": []any{"placed"}},
			"retry": map[string]any{"type": "integer", "description": "The milliseconds to wait before the client reconnects."},
			"data":  map[string]any{"$ref": "#/components/schemas/OrderPlaced"},
		},
	}, of[0])
	wantDiff(t, "the data of the third", any("#/components/schemas/OrderCancelled"),
		at(of[2], "properties", "data", "$ref"))
	wantDiff(t, "an event without a name", []any{"object", []any{"message"}, []any{"data"}}, []any{
		at(schema("/one"), "items", "type"), at(schema("/one"), "items", "properties", "event", "enum"),
		at(schema("/one"), "items", "required"),
	})
}

func TestEmitsThatCannotBe(t *testing.T) {
	t.Parallel()

	events := func(context.Context, struct{}) (rest.Events[orderChange], error) {
		return rest.Events[orderChange]{}, nil
	}
	for want, register := range map[string]func(r *rest.Routes){
		"is for a handler that answers rest.Events": func(r *rest.Routes) {
			rest.Get(r, "/", handle("x"), rest.Emits[string]("x"))
		},
		"is not of rest_test.orderChange": func(r *rest.Routes) { rest.Get(r, "/", events, rest.Emits[int]("x")) },
		`"x" is declared twice`: func(r *rest.Routes) {
			rest.Get(r, "/", events, rest.Emits[orderPlaced]("x"), rest.Emits[orderCancelled]("x"))
		},
		"line break in its name": func(r *rest.Routes) { rest.Get(r, "/", events, rest.Emits[orderPlaced]("x\ny")) },
	} {
		if text := mustPanic(t, func() { serve(register) }); !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}
