package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/openapi"
)

// head begins the small documents of the tests.
const head = "openapi: 3.1.0\nservers: [{url: 'https://a.example'}]\npaths:\n  /x/{id}:\n    get:\n      operationId: op\n"

const withID = head + "      parameters:\n        - {name: id, in: path, schema: {type: string}}\n"

// TestRefuses has documents with something that is not supported. The error names the operation and the place.
func TestRefuses(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ document, want string }{
		"Empty":    {"", "the document is empty"},
		"Swagger":  {"swagger: '1.2'", "no field swagger with 2.0"},
		"Version":  {"openapi: 3.2.0", "has no field openapi"},
		"NoObject": {"[]", "must be an object"},
		"NoJSON":   {"{", "is no JSON"},
		"NoYAML":   {"a: b: c", "is no YAML"},
		"Twice":    {"openapi: 3.1.0\nopenapi: 3.1.0", `line 2: the key "openapi" is there twice`},
		"Alias":    {"openapi: 3.1.0\npaths: &a {b: *a}", "an alias refers to itself"},
		"Several":  {"openapi: 3.1.0\n---\nopenapi: 3.1.0", "several YAML documents"},
		"Dialect":  {"openapi: 3.1.0\njsonSchemaDialect: http://json-schema.org/draft-04/schema#", "jsonSchemaDialect"},
		"NoPaths":  {"openapi: 3.1.0", "paths: must be an object"},
		"Unknown":  {"openapi: 3.1.0\npaths: {/a: {get: {operationId: other}}}", `no operation "op"; there are other`},
		"Cookie":   {withID + "        - {name: c, in: cookie, schema: {}}", ""},
		"CookieList": {
			withID + "        - {name: c, in: cookie, schema: {type: array}}",
			"operation op (GET /x/{id}): paths./x/{id}.get.parameters[1]: an exploded list or object has no form in a cookie",
		},
		"CookieName": {
			withID + "        - {name: 'c=d', in: cookie, schema: {}}", "parameters[1]: its name cannot be that of a cookie",
		},
		"Style": {
			withID + "        - {name: c, in: query, style: matrix, schema: {}}",
			"parameters[1]: the style matrix is not supported in a query",
		},
		"Place": {
			withID + "        - {name: c, in: body, schema: {}}", "parameters[1]: in must be path, query, header or cookie",
		},
		"Header": {
			withID + "        - {name: host, in: header, schema: {}}", "parameters[1]: the header host cannot be an argument",
		},
		"NoSchema": {withID + "        - {name: c, in: query}", "parameters[1]: needs a schema"},
		"NoName":   {withID + "        - {in: query, schema: {}}", "parameters[1]: needs a name"},
		"Content": {
			withID + "        - {name: c, in: query, content: {text/xml: {}}}", "parameters[1].content: only application/json",
		},
		"PathMissing": {head, "the path has {id}, which is no parameter"},
		"PathMore":    {withID + "        - {name: b, in: path, schema: {}}", "the path has no {b}"},
		"Body":        {withID + "      requestBody: {content: {application/json: {}}}", "a GET has no body"},
		"Multipart": {
			strings.Replace(withID, "get:", "post:", 1) + "      requestBody: {content: {multipart/form-data: {}}}",
			"requestBody.content.multipart/form-data: a form needs the schema of an object",
		},
		"DeepForm": {
			strings.Replace(withID, "get:", "post:", 1) +
				"      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: object}}}}}}",
			"schema.properties.a: a form may only have",
		},
		"Encoding": {
			strings.Replace(withID, "get:", "post:", 1) +
				"      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object}, encoding: {a: {style: x}}}}}",
			"encoding.a: the style x is not supported in a form",
		},
		"OtherFile": {
			withID + "        - {$ref: 'other.yaml#/a'}", "parameters[1].$ref: refers to something outside of this document",
		},
		"NoReference": {
			withID + "        - {$ref: '#/components/a'}", "parameters[1].$ref: refers to #/components/a, which is not there",
		},
		"Circle": {withID + "        - {$ref: '#/a'}\na: {$ref: '#/a'}", "refers to itself"},
		"Dynamic": {
			withID + "        - {name: c, in: query, schema: {$dynamicRef: '#x'}}",
			"parameters[1].schema: $dynamicRef refers to #x, which is not there",
		},
		"BadSchema": {
			withID + "        - {name: c, in: query, schema: {minLength: x}}",
			"operation op (GET /x/{id}): paths./x/{id}.get.parameters[1].schema.minLength: must be an integer that is not negative",
		},
		"Server": {
			strings.Replace(withID, "https://a.example", "/v1", 1), "servers[0].url: is no http or https URL: set a base URL",
		},
		"NoServer": {strings.Replace(withID, "servers:", "x-servers:", 1), "servers: there are none: set a base URL"},
		"Variable": {strings.Replace(withID, "a.example", "{host}", 1), "has a variable without a default"},
		"Security": {
			withID + "      security: [{k: []}]\ncomponents: {securitySchemes: {k: {type: apiKey, in: header, name: X-K}}}",
			"get.security: asks for k, a token in the header X-K: set auth.k, or that header",
		},
		"CookieKey": {
			withID + "      security: [{k: []}]\ncomponents: {securitySchemes: {k: {type: apiKey, in: cookie, name: X-K}}}",
			"asks for k, a key in a cookie: set auth.k.token",
		},
		"NoScheme": {withID + "      security: [{k: []}]", "components.securitySchemes.k: must be an object"},
		"Self": {
			withID + "        - {name: c, in: query, schema: {$ref: '#/s'}}\ns: {$ref: '#/s'}",
			"operation op (GET /x/{id}): s: refers to itself",
		},
		"SelfBeside": {
			withID + "        - {name: c, in: query, schema: {$ref: '#/s'}}\ns: {$ref: '#/t'}\nt: {$ref: '#/s', minLength: 1}",
			"refers to itself",
		},
		"RecursiveAll": {withID + "        - {name: c, in: query, schema: {$ref: '#/s'}}\ns: {allOf: [{$ref: '#/s'}]}", ""},
	} {
		made, err := openapi.New(openapi.Config{Document: []byte(c.document), Operations: []string{"op"}})
		if c.want == "" && (err != nil || len(made) != 1) {
			t.Errorf("%s: %v", name, err)
		}
		if c.want != "" && (spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	t.Parallel()

	twice := withID + "  /b: {get: {operationId: o.p}}\n  /c: {get: {operationId: o-p}, post: {operationId: o_p}}\n"
	for want, c := range map[string]openapi.Config{
		"Operations is required": {},
		"BaseURL":                {Operations: []string{"op"}, BaseURL: "ftp://a"},
		`the document has no security scheme "k"`: {
			Operations: []string{"op"},
			Auth:       map[string]openapi.Credential{"k": {Token: "x"}},
		},
		`"x" is none of the chosen operations`: {Operations: []string{"op"}, Override: map[string]openapi.Override{"x": {}}},
		"has the name o_p too":                 {Operations: []string{"*"}},
		"does not match": {
			Operations: []string{"op"},
			Override:   map[string]openapi.Override{"op": {Name: "a b"}},
		},
		"SigningSecrets[0]":                   {Operations: []string{"op"}, SigningSecrets: []string{"x"}},
		"set a base URL, so that requests go": {Operations: []string{"op"}, DocumentURL: "https://b.example/openapi.yaml"},
		"is on a.example, which is not where": {Operations: []string{"op"}, DocumentURL: "http://a.example/openapi.yaml"},
	} {
		c.Document = []byte(twice)
		if _, err := openapi.New(c); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, c := range []openapi.Config{
		{DocumentURL: "https://a.example/docs/openapi.yaml", Headers: map[string]string{"X": "y"}},
		{DocumentURL: "https://b.example/openapi.yaml", Headers: map[string]string{"X": "y"}, BaseURL: "https://a.example"},
	} {
		c.Document, c.Operations = []byte(twice), []string{"op"}
		if _, err := openapi.New(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A document cannot make much work with parameters, paths and faults: many paths can share them.
func TestManyParts(t *testing.T) {
	t.Parallel()

	many := func(n int, one string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(one, "N", strconv.Itoa(i)))
		}
		return b.String()
	}
	const query, server = "{name: qN, in: query, schema: {type: string}}, ", "openapi: 3.1.0\nservers: [{url: 'https://a.example'}]\npaths: "
	for name, c := range map[string]struct{ document, want string }{
		"Parameters": {
			server + "{/x: {get: {parameters: [" + many(1001, query) + "]}}}",
			"operation GET /x: paths./x.get.parameters: are more than 1000",
		},
		"Swagger": {
			"swagger: '2.0'\nhost: a.example\nschemes: [https]\npaths: {/x: {parameters: [" +
				many(1001, "{name: qN, in: query, type: string}, ") + "], get: {}}}",
			"operation GET /x: paths./x.parameters: are more than 1000",
		},
		"Path": {server + "{'/" + many(1000, "{aN}") + "': {get: {}}}", "is longer than 4096 bytes"},
		"Long": {
			server + "{'/" + strings.Repeat("a", 10_000) + "': {get: {operationId: op}}}", "is longer than 4096 bytes",
		},
		"Operations": {
			server + "{" + many(5001, "/pN: {get: {}}, ") + "}",
			"there are 5001 chosen operations, and there may be 5000: choose fewer",
		},
		"Schemas": {
			server + "{" + many(390, "/pN: {post: {requestBody: {$ref: '#/b'}}}, ") +
				"}\nb: {content: {application/json: {schema: {type: object, properties: {" +
				"p: {enum: ['" + strings.Repeat("v", 44_000) + "']}" + "}}}}}",
			"the arguments of the chosen operations are too large together: more than 16 MiB; choose fewer",
		},
		"Faults": {
			server + "{/x: {get: {parameters: [" + many(1000, "{name: qN, in: queries}, ") + "]}}}",
			"in must be path, query, header or cookie; and many more",
		},
	} {
		_, err := openapi.New(openapi.Config{Document: []byte(c.document), Operations: []string{"*"}})
		if err == nil || !strings.HasSuffix(err.Error(), c.want) || len(err.Error()) > 2000 {
			t.Errorf("%s: %.2000v", name, err)
		}
	}
	// Names that are one name for a model are numbered.
	list := "[{name: ä, in: query, schema: {}}, {name: ö, in: query, schema: {}}, {name: ü, in: query, schema: {}}, {name: é, in: query, schema: {}}, {name: _, in: cookie, schema: {}}]"
	made, err := openapi.New(openapi.Config{
		Document: []byte(server + "{/x: {get: {parameters: " + list + "}}}"), Operations: []string{"*"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(made[0].Parameters, &schema); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(slices.Sorted(maps.Keys(schema.Properties))); got != "[_ __cookie __query __query2 __query3]" {
		t.Errorf("the arguments are %s", got)
	}
}
