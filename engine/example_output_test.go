package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

// Weather is the value that the example asks for.
type Weather struct {
	City    string `json:"city"`
	Degrees int    `json:"degrees" jsonschema:"in Celsius"`
}

// Start a run that answers with a Go value. The demo model makes one up.
func ExampleRunFor() {
	e := openExample()
	defer working(e)()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	weather, err := engine.RunFor[Weather](ctx, e, hello, wire.StartRequest{Prompt: "How is the weather?"})
	fmt.Printf("%+v %v\n", weather, err)

	// A run without a value says why.
	_, err = engine.RunFor[Weather](ctx, e, hello, wire.StartRequest{Prompt: `use send with {"to":"ann@example.com"}`})
	var no *engine.OutcomeError
	fmt.Println(errors.As(err, &no), len(no.Outcome.Parks))
	// Output:
	// {City:demo Degrees:1} <nil>
	// true 1
}
