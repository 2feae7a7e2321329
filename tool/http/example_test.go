package httptool_test

import (
	"encoding/json"
	"fmt"

	httptool "github.com/spoolhq/spool/tool/http"
)

func ExampleNew() {
	refund, err := httptool.New(httptool.Config{
		Name:        "refund",
		Description: "Pays an order back.",
		URL:         "https://shop.example.com/refunds",
		Headers:     map[string]string{"Authorization": "Bearer ..."},
		Parameters:  json.RawMessage(`{"type":"object","properties":{"order":{"type":"string"}},"required":["order"]}`),
		Approval:    true,
		Idempotent:  true,
	})
	fmt.Println(refund.Name, err)
	fmt.Println(refund.Check(json.RawMessage(`{}`)))
	// Output:
	// refund <nil>
	// arguments: required: missing properties: ["order"]
}
