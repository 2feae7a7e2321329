package main_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"

	"github.com/spoolhq/spool/rest"
)

func Example_events() {
	count := func(from int) iter.Seq2[rest.Event[int], error] {
		return func(yield func(rest.Event[int], error) bool) {
			for n := from; n <= 3; n++ {
				if !yield(rest.Event[int]{ID: strconv.Itoa(n), Name: "count", Data: n}, nil) {
					return
				}
			}
		}
	}
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/count", func(_ context.Context, in struct {
			Last int `header:"Last-Event-Id"`
		},
		) (rest.Events[int], error) {
			return rest.Events[int]{Items: count(in.Last + 1)}, nil
		})
	}))
	w := send(api, request{method: http.MethodGet, target: "/count", header: map[string]string{"Last-Event-ID": "1"}})
	fmt.Println(w.Header().Get("Content-Type"))
	fmt.Print(w.Body)

	// Output:
	// text/event-stream
	// id: 2
	// event: count
	// data: 2
	//
	// id: 3
	// event: count
	// data: 3
}

// basket is made for a request that asks for it, and closed with it.
type basket struct{ store *stock }

func (b *basket) Shutdown() { b.store.closed++ }

type stock struct{ closed int }

func Example_services() {
	shelf := &stock{}
	api := rest.New(silent(),
		rest.Provide(func(rest.Services) (*stock, error) { return shelf, nil }),
		rest.ProvideRequest(func(_ context.Context, s rest.Services) (*basket, error) {
			from, err := rest.From[*stock](s)
			return &basket{from}, err
		}),
	)
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/basket", func(ctx context.Context, _ struct{}) (bool, error) {
			first, err := rest.Resolve[*basket](ctx)
			if err != nil {
				return false, err
			}
			second, err := rest.Resolve[*basket](ctx)
			return first == second, err
		})
	}))
	show(api, get("/basket"))
	fmt.Println(shelf.closed)

	// Output:
	// 200 true
	// 1
}

func Example_document() {
	api := rest.New(rest.Title("Shop"), silent())
	api.Register(Shelf{})
	fmt.Println(part(api, "paths", "/whole", "get"))

	// Output:
	// {"operationId":"Shelf_list_3","responses":{"200":{"content":{"application/json":{"schema":{"items":{"type":"string"},"type":"array"}}},"description":"OK"},"422":{"$ref":"#/components/responses/UnprocessableEntity"},"500":{"$ref":"#/components/responses/InternalServerError"}},"security":[],"summary":"List","tags":["Shelf"]}
}
