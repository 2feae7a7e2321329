package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/openapi"
)

// ownerDocument has objects whose keys become names in the query or the form.
const ownerDocument = `
openapi: 3.1.0
security: [{key: []}]
paths:
  /x:
    get:
      operationId: find
      parameters:
        - {name: filter, in: query, schema: {type: object}}
        - {name: more, in: query, schema: {type: object}}
        - {name: owner, in: query, schema: {type: string}}
        - {name: id, in: query, schema: {type: string}}
        - {name: ID, in: query, schema: {type: string}}
    post:
      operationId: send
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {}, b: {}}}}}}
components: {securitySchemes: {key: {type: apiKey, in: query, name: key}}}
`

// TestNamesOfObjects has a model choose keys of objects that are the names of other parameters, or of the key of
// the API.
func TestNamesOfObjects(t *testing.T) {
	t.Parallel()

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.NewReplacer("key=open-sesame", "KEY", "&",
			" ").Replace(r.URL.RawQuery+"|"+string(body)))
	}))
	t.Cleanup(s.Close)
	tools := open(t, openapi.Config{
		Document: []byte(ownerDocument), Operations: []string{"*"}, BaseURL: s.URL, Egress: loopback,
		Auth: map[string]openapi.Credential{"key": {Token: "open-sesame"}},
	})
	for _, c := range []struct{ tool, args, want string }{
		{"find", `{"filter":{"a":1},"owner":"me","id":"x","ID_query":"y"}`, `"a=1 owner=me id=x ID=y KEY|"`},
		{"find", `{"filter":{"key":"mine"}}`, "argument filter must not set key"},
		{"find", `{"filter":{"Key":"mine"}}`, "argument filter must not set Key"},
		{"find", `{"filter":{"owner":"you"}}`, "argument filter must not set owner"},
		{"find", `{"filter":{"a":1},"more":{"a":2}}`, "argument more must not set a"},
		{"send", `{"body":{"a":1,"b":[1,2]}}`, `"KEY|a=1 b=1 b=2"`},
		{"send", `{"body":{"a":1,"b":{"a":2}}}`, "argument body.b must not set a"},
	} {
		got, err := tools[c.tool].Call(t.Context(), spool.ToolCall{Args: json.RawMessage(c.args)})
		if string(got) != c.want && (spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.want)) {
			t.Errorf("%s: %s, %v", c.args, got, err)
		}
	}
}
