package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool/openapi"
)

var loopback = egress.Policy{Allow: []string{"127.0.0.1"}}

// shop is a document of version 3.1 with most of what is supported.
const shop = `
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "SERVER/{version}", variables: {version: {default: v1}}}]
security: [{key: []}, {basic: []}]
paths:
  /orders:
    parameters:
      - {name: Trace, in: header, schema: {type: string}}
      - {$ref: "#/components/parameters/limit"}
    get:
      operationId: listOrders
      tags: [orders]
      summary: Lists orders.
      description: Newest first.
      parameters:
        - {name: state, in: query, schema: {type: array, items: {enum: [open, paid]}}}
        - {name: ids, in: query, explode: false, schema: {type: array, items: {type: integer}}}
        - {name: tags, in: query, style: pipeDelimited, schema: {type: array, items: {type: string}}}
        - {name: near, in: query, style: deepObject, schema: {type: object}}
        - {name: "filter[name]", in: query, schema: {type: string}}
        - {name: where, in: query, content: {application/json: {schema: {type: object}}}}
        - {name: limit, in: query, description: How many., schema: {type: integer, maximum: 50}}
        - {name: key, in: query, schema: {type: string}}
      responses: {200: {description: ok}}
    post:
      operationId: orders.create
      tags: [orders]
      parameters:
        - {name: Idempotency-Key, in: header, required: true, schema: {type: string}}
        - {name: X-Tenant, in: header, schema: {type: string}}
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: "#/components/schemas/Order"}}
  /orders/{id}/items/{item}:
    put:
      operationId: setItem
      security: []
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}}
        - {name: item, in: path, required: true, schema: {type: array, items: {type: integer}}}
        - {name: id, in: query, schema: {type: string}}
        - {name: ID, in: header, schema: {type: string}}
        - {name: body, in: query, schema: {type: string}}
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: {type: object, properties: {a: {type: string}, list: {type: array, items: {type: string}}}}
  /reports:
    delete:
      tags: [reports]
      security: [{}]
components:
  parameters:
    limit: {name: limit, in: query, schema: {type: string}}
  securitySchemes:
    key: {type: apiKey, in: query, name: key}
    basic: {type: http, scheme: basic}
  schemas:
    Order:
      type: object
      required: [id, item]
      properties:
        id: {type: string, readOnly: true}
        item: {type: string, pattern: "^(?!x).*$"}
        note: {$ref: "#/components/schemas/Note", description: A note.}
        parent: {$ref: "#/components/schemas/Order"}
    Note: {type: [string, "null"], maxLength: 10, examples: [x]}
`

// shortKey is the key of the tests' calls: call_ and the SHA-256 of "r/1/c".
const shortKey = "call_96d29134e996ec2129e8b7a9711cc264"

// heard is what a server got.
type heard struct {
	line, body string
	header     http.Header
}

// serve returns a server and what it gets.
func serve(t *testing.T) (string, <-chan heard) {
	t.Helper()

	got := make(chan heard, 9)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- heard{r.Method + " " + r.URL.RequestURI(), string(body), r.Header}
		_, _ = io.WriteString(w, `{"got":"`+r.Header.Get("Authorization")+r.URL.Query().Get("key")+`"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func open(t *testing.T, c openapi.Config) map[string]openapi.Tool {
	t.Helper()

	made, err := openapi.New(c)
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]openapi.Tool)
	for _, tl := range made {
		byName[tl.Name] = tl
	}
	return byName
}

func TestRequests(t *testing.T) {
	t.Parallel()

	url, got := serve(t)
	tools := open(t, openapi.Config{
		Document: []byte(strings.ReplaceAll(shop, "SERVER", url)), Operations: []string{"*"}, Egress: loopback,
		Auth:    map[string]openapi.Credential{"key": {Token: "shop-key-0815"}},
		Headers: map[string]string{"X-Tenant": "tenant-4711"},
	})
	for name, c := range map[string]struct {
		tool, args, line, body string
		header                 map[string]string
	}{
		"Query": {
			"listOrders",
			`{"state":["open","paid"],"ids":[1,2],"tags":["a b","c"],"near":{"x":1,"y":[2,3]},"filter_name_":"n&m","where":{"a":[1]},"limit":5,"Trace":"t"}`,
			`GET /v1/orders?limit=5&state=open&state=paid&ids=1,2&tags=a+b%7Cc&near%5Bx%5D=1&near%5By%5D=2&near%5By%5D=3&filter%5Bname%5D=n%26m&where=%7B%22a%22%3A%5B1%5D%7D&key=shop-key-0815`,
			"",
			map[string]string{"Trace": "t", "X-Tenant": "tenant-4711", "Spool-Tenant": "", "Idempotency-Key": shortKey},
		},
		"Body": {
			"orders_create", `{"body":{"item":"x1","parent":{"item":"y","id":"9"}},"limit":"3"}`,
			"POST /v1/orders?limit=3&key=shop-key-0815", `{"item":"x1","parent":{"id":"9","item":"y"}}`,
			map[string]string{"Content-Type": "application/json", "Idempotency-Key": shortKey},
		},
		"Form": {
			"setItem",
			`{"id":"a/b","item":[1,2],"id_query":"q","ID_header":"h","body":{"a":"1 2","list":["x","y"]},"body_query":"z"}`,
			"PUT /v1/orders/a%2Fb/items/1,2?id=q&body=z", "a=1+2&list=x&list=y",
			map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Id": "h"},
		},
		"NoBody": {
			"setItem", `{"id":"1","item":[1]}`, "PUT /v1/orders/1/items/1", "", map[string]string{"Content-Type": ""},
		},
		"Nothing": {"delete_reports", `{}`, "DELETE /v1/reports", "", map[string]string{"Authorization": ""}},
	} {
		tl, ok := tools[c.tool]
		if !ok {
			t.Fatalf("%s: there is no tool %s", name, c.tool)
		}
		result, err := tl.Call(t.Context(), spool.ToolCall{
			Thread: spool.ThreadKey{Tenant: "acme"}, RunID: "r", Step: 1, ID: "c", Args: json.RawMessage(c.args),
		})
		if err != nil || strings.Contains(string(result), "0815") {
			t.Fatalf("%s: %s, %v", name, result, err)
		}
		sent := <-got
		if sent.line != c.line || sent.body != c.body {
			t.Errorf("%s:\n%s\nwant\n%s\nbody %s", name, sent.line, c.line, sent.body)
		}
		for header, want := range c.header {
			if sent.header.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, sent.header.Get(header))
			}
		}
	}
	for args, tool := range map[string]string{
		`{"limit":51}`: "listOrders", `{"key":"mine"}`: "listOrders", `{}`: "orders_create",
		`{"body":{"item":"a"},"X-Tenant":"b"}`:                 "orders_create",
		`{"body":{"item":"a"},"Idempotency-Key":"b"}`:          "orders_create",
		`{"body":{"item":"a","note":"more than ten letters"}}`: "orders_create",
	} {
		if _, err := tools[tool].Call(
			t.Context(), spool.ToolCall{Args: json.RawMessage(args)},
		); spool.CodeOf(err) != spool.Invalid || len(got) > 0 {
			t.Errorf("%s with %s: %v", tool, args, err)
		}
	}
	if _, err := tools["setItem"].Call(
		t.Context(), spool.ToolCall{Args: json.RawMessage(`{"id":"..","item":[1]}`)},
	); err == nil || len(got) > 0 {
		t.Errorf("dots: %v", err)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()

	yes, no := true, false
	made, err := openapi.New(openapi.Config{
		Document: []byte(shop), Operations: []string{"tag:reports", "post /orders", "tag:orders", "setItem"},
		BaseURL: "https://shop.example/", Prefix: "shop_", Approval: true,
		Auth: map[string]openapi.Credential{"basic": {Username: "u", Password: "p"}},
		Override: map[string]openapi.Override{
			"listOrders": {Approval: &no}, "DELETE /reports": {Name: "clear", Description: "Clears.", Idempotent: &yes},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tl := range made {
		line := tl.Name + " " + tl.Method + " " + tl.Path + ": " + tl.Description
		if tl.Approval != nil {
			line += " asks"
		}
		if tl.Idempotent {
			line += " again"
		}
		got = append(got, line)
	}
	want := []string{
		"shop_clear DELETE /reports: Clears. asks again",
		"shop_orders_create POST /orders: POST /orders asks",
		"shop_listOrders GET /orders: Lists orders.\n\nNewest first. again",
		"shop_setItem PUT /orders/{id}/items/{item}: PUT /orders/{id}/items/{item} asks",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	i := slices.IndexFunc(made, func(tl openapi.Tool) bool { return tl.OperationID == "orders.create" })
	const schema = `{"additionalProperties":false,"properties":{"Trace":{"type":"string"},"X-Tenant":{"type":"string"},"body":{` + orderSchema3 + `},"limit":{"type":"string"}},"required":["body"],"type":"object"}`
	if string(made[i].Parameters) != schema {
		t.Errorf("the schema is %s\nwant %s", made[i].Parameters, schema)
	}
}

// The schema of an order, within itself twice.
const (
	orderRest    = `"required":["item"],"type":"object"`
	orderItem    = `"item":{"description":"Pattern: ^(?!x).*$","type":"string"},"note":{"description":"A note.","maxLength":10,"type":["string","null"]},"parent":`
	orderSchema0 = `{"description":"A value of the kind Order, whose fields are not listed here."}`
	orderSchema1 = `"properties":{` + orderItem + orderSchema0 + `},` + orderRest
	orderSchema2 = `"properties":{` + orderItem + `{` + orderSchema1 + `}},` + orderRest
	orderSchema3 = `"properties":{` + orderItem + `{` + orderSchema2 + `}},` + orderRest
)
