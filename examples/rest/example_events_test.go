package main_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/spoolhq/spool/rest"
)

type Placed struct {
	Total int `json:"total"`
}

type Cancelled struct {
	Reason string `json:"reason"`
}

func Example_emits() {
	orders := func() iter.Seq2[rest.Event[any], error] {
		return func(yield func(rest.Event[any], error) bool) {
			_ = yield(rest.Event[any]{Data: Placed{Total: 3}}, nil) &&
				yield(rest.Event[any]{Data: Cancelled{Reason: "late"}}, nil)
		}
	}
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/watch", func(context.Context, struct{}) (rest.Events[any], error) {
			return rest.Events[any]{Items: orders()}, nil
		}, rest.Emits[Placed]("placed", "An order was placed."), rest.Emits[Cancelled]("cancelled"))
	}))
	fmt.Print(send(api, get("/watch")).Body)

	// Output:
	// event: placed
	// data: {"total":3}
	//
	// event: cancelled
	// data: {"reason":"late"}
}
