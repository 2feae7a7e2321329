package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/spoolhq/spool/rest"
)

func ExampleOneOf() {
	type Circle struct {
		Kind   string  `const:"circle"       json:"kind"`
		Radius float64 `exclusiveMinimum:"0" json:"radius"`
	}

	type Square struct {
		Kind string `const:"square" json:"kind"`
		Side int    `default:"1"    json:"side" maximum:"10"`
	}

	type Shape struct {
		Circle *Circle
		Square *Square
	}

	area := func(_ context.Context, in struct{ Body rest.OneOf[Shape] }) (string, error) {
		switch shape := in.Body.Which().(type) {
		case *Circle:
			return fmt.Sprintf("a circle of radius %g", shape.Radius), nil
		case *Square:
			return fmt.Sprintf("a square of side %d", shape.Side), nil
		}
		return "", rest.ErrNotFound
	}
	api := rest.New(rest.Logger(slog.New(slog.DiscardHandler)))
	api.Register(routes(func(r *rest.Routes) { rest.Post(r, "/area", area) }))
	show(api, "POST", "/area", `{"kind":"circle","radius":2}`)
	show(api, "POST", "/area", `{"kind":"square"}`)
	show(api, "POST", "/area", `{"kind":"oval"}`)

	// Output:
	// 200 "a circle of radius 2"
	// 200 "a square of side 1"
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.kind","pointer":"/kind","kind":"enum","message":"must be 'circle' or 'square'","limits":{"expected":"'circle' or 'square'"}}]}
}

// For tools that do not know OpenAPI 3.1, the document can be had as 3.0.
func ExampleAPI_Huma_downgrade() {
	api := rest.New(rest.Title("Shapes"))

	document, err := api.Huma().OpenAPI().Downgrade() // JSON; DowngradeYAML for YAML
	if err != nil {
		fmt.Println(err)
		return
	}
	var said struct {
		OpenAPI string `json:"openapi"`
	}
	fmt.Println(json.Unmarshal(document, &said), said.OpenAPI)
	// Output:
	// <nil> 3.0.3
}
