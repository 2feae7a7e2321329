package openapi_test

import (
	"fmt"

	"github.com/spoolhq/spool/tool/openapi"
)

func ExampleNew() {
	document := `
openapi: 3.1.0
servers: [{url: "https://shop.example.com"}]
security: [{key: []}]
paths:
  /orders/{order}:
    get: {operationId: getOrder, summary: Reads an order., parameters: [{name: order, in: path, schema: {type: string}}]}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}
`
	tools, err := openapi.New(openapi.Config{
		Document:   []byte(document),
		Operations: []string{"getOrder"},
		Auth:       map[string]openapi.Credential{"key": {Token: "..."}},
		Prefix:     "shop_",
	})
	if err != nil {
		panic(err)
	}
	for _, t := range tools {
		fmt.Println(t.Name, t.Method, t.Path, t.Description)
		fmt.Println(string(t.Parameters))
	}
	// Output:
	// shop_getOrder GET /orders/{order} Reads an order.
	// {"additionalProperties":false,"properties":{"order":{"type":"string"}},"required":["order"],"type":"object"}
}
