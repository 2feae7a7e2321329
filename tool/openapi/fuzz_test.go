package openapi_test

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/tool/openapi"
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// FuzzNew makes tools of any text. It either has an error with a message, or tools with valid names and
// schemas that check arguments.
func FuzzNew(f *testing.F) {
	f.Add([]byte(shop))
	f.Add([]byte(withID))
	f.Add([]byte("openapi: 3.0.0\npaths: &a {/x: {get: {parameters: [*a, {$ref: '#/paths'}]}}, <<: *a}"))
	f.Add(
		[]byte(`{"openapi":"3.0.1","paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/s"}}}}}}},"s":{"allOf":[{"$ref":"#/s"},{"$ref":"#/s"}],"nullable":true,"type":"string","minimum":1,"exclusiveMinimum":true,"enum":[1e400]}}`),
	)
	f.Add([]byte(uploads))
	f.Add(
		[]byte("swagger: 2.0\nhost: a.example\npaths: {/a/{id}: {parameters: [{name: id, in: path, type: string}], post: {parameters: [{name: b, in: formData, type: array, items: {type: string}}, {name: c, in: formData, type: file}]}}}"),
	)
	f.Add(
		[]byte("openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1b', get: {$ref: '#/s'}}, /b: {put: {requestBody: {content: {application/json: {schema: {$ref: '#/s'}}}}}}}\ns: {$dynamicAnchor: a, $recursiveAnchor: true, items: {$dynamicRef: '#a'}, not: {$recursiveRef: '#'}, anyOf: [{$ref: '#/s'}, {contentEncoding: base64}]}"),
	)
	f.Fuzz(func(t *testing.T, text []byte) {
		made, err := openapi.New(openapi.Config{
			Document: text, Operations: []string{"*"}, Unsupported: openapi.SkipUnsupported, BaseURL: "https://a.example",
			Auth: map[string]openapi.Credential{}, Headers: map[string]string{"Authorization": "Bearer secret-4711"},
		})
		if err != nil {
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) == "" || len(err.Error()) > 4000 {
				t.Errorf("the error %v", err)
			}
			return
		}
		for _, tl := range made {
			var schema map[string]any
			if !toolName.MatchString(tl.Name) || json.Unmarshal(tl.Parameters, &schema) != nil || schema["type"] != "object" ||
				len(tl.Parameters) > 64<<10 {
				t.Errorf("the tool %q has the schema %s", tl.Name, tl.Parameters)
			}
			if _, err := tool.FromSchema("x", "", tl.Parameters, func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return nil, nil
			}); err != nil {
				t.Errorf("the schema %s: %v", tl.Parameters, err)
			}
			_ = tl.Check(json.RawMessage(`{"body":{"a":[1,{"b":null}]},"id":"x"}`))
		}
	})
}
