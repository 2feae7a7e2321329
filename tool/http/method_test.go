package httptool_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	httptool "github.com/spoolhq/spool/tool/http"
)

// echo is an endpoint that answers with what it got.
func echo(t *testing.T) string {
	t.Helper()

	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body any
		_ = json.NewDecoder(r.Body).Decode(&body)
		_ = json.NewEncoder(w).Encode([]any{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body})
	})
	return s.URL
}

const orderSchema = `{"type":"object","properties":{"order":{"type":"string"},"n":{"type":"integer"},"tags":{"type":"array"},"deep":{}},"required":["order"]}`

func TestMethods(t *testing.T) {
	t.Parallel()

	url := echo(t)
	for name, c := range map[string]struct {
		method, path, args, want string
	}{
		"Get": {
			"GET", "/orders/{order}?v=1", `{"order":"a/b ü","n":9007199254740993,"tags":["x y","&"]}`,
			`["GET","/orders/a%2Fb%20%C3%BC?v=1\u0026n=9007199254740993\u0026tags=x+y\u0026tags=%26","",null]`,
		},
		"GetAll":     {"GET", "", `{"order":"1","deep":null}`, `["GET","/?order=1","",null]`},
		"Delete":     {"DELETE", "/orders/{order}", `{"order":"1"}`, `["DELETE","/orders/1","",null]`},
		"Put":        {"PUT", "/orders/{order}", `{"order":"1","n":2}`, `["PUT","/orders/1","application/json",{"n":2}]`},
		"Patch":      {"PATCH", "/orders", `{"order":"1"}`, `["PATCH","/orders","application/json",{"order":"1"}]`},
		"Post":       {"", "/{order}/pay", `{"order":"1"}`, `["POST","/1/pay","application/json",{}]`},
		"Dots":       {"GET", "/orders/{order}", `{"order":".."}`, "must not lead to another path"},
		"DotsInside": {"GET", "/orders/{order}", `{"order":"a/../../b"}`, "must not lead to another path"},
		"Empty":      {"DELETE", "/orders/{order}", `{"order":""}`, "must not be empty"},
		"Object":     {"GET", "/orders/{order}", `{"order":"1","deep":{"a":{"b":1}}}`, "argument deep must not have objects"},
	} {
		tl := open(t, httptool.Config{
			URL: url + c.path, Method: c.method, Egress: loopback, Parameters: json.RawMessage(orderSchema),
		})
		got, err := tl.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(c.args)})
		if err != nil {
			got = json.RawMessage(spool.MessageOf(err))
		}
		if string(got) != c.want && (err == nil || spool.CodeOf(err) != spool.Invalid ||
			!strings.Contains(string(got), c.want)) {
			t.Errorf("%s: %s\nwant %s", name, got, c.want)
		}
		if tl.Idempotent != (c.method == "GET") {
			t.Errorf("%s: idempotent %t", name, tl.Idempotent)
		}
	}
}

func TestMethodsRefused(t *testing.T) {
	t.Parallel()

	const url = "https://example.com"
	for want, config := range map[string]httptool.Config{
		"Method of tool a":          {URL: url, Method: "TRACE"},
		"a GET has no body":         {URL: url, Method: "GET", Body: httptool.BodyEnvelope},
		"{order}, which Parameters": {URL: url + "/{order}"},
		"{n}, which Parameters":     {URL: url + "/{n}", Parameters: json.RawMessage(orderSchema)},
		"Retry of tool a":           {URL: url, Retry: httptool.Retry{Attempts: 11}},
		"SigningSecrets[0] must":    {URL: url, SigningSecrets: []string{"whsec_short"}},
	} {
		config.Name = "a"
		if _, err := httptool.New(config); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
