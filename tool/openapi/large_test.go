package openapi_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool/tool/openapi"
)

// TestLargeSchemas has schemas that would be endless, or exponentially large, when all references are written
// out. They have fewer levels, or shorter descriptions.
func TestLargeSchemas(t *testing.T) {
	t.Parallel()

	var doubling, chain, wide, wordy strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling,
			"    S%d: {type: object, properties: {a: {$ref: '#/components/schemas/S%d'}, b: {$ref: '#/components/schemas/S%d'}}}\n", i, i+1, i+1)
		fmt.Fprintf(&chain, "    S%d: {$ref: '#/components/schemas/S%d'}\n", i, i+1)
	}
	wide.WriteString("    S0: {type: object, properties: {")
	for i := range 4000 {
		fmt.Fprintf(&wide, "p%d: {type: string}, ", i)
	}
	wide.WriteString("}}\n")
	wordy.WriteString("    S0: {type: object, properties: {")
	for i := range 100 {
		fmt.Fprintf(&wordy, "p%d: {type: string, description: '%s'}, ", i, strings.Repeat("long ", 100))
	}
	wordy.WriteString("}}\n")
	last := "    S40: {type: string}\n"
	for name, c := range map[string]struct{ schemas, want string }{
		"Doubling": {doubling.String() + last, ""},
		"Chain":    {chain.String() + last, ""},
		"Circle":   {"    S0: {allOf: [{$ref: '#/components/schemas/S0'}, {$ref: '#/components/schemas/S0'}]}\n", ""},
		"Wordy":    {wordy.String(), ""},
		"Wide": {
			wide.String(), "operation op (POST /x): paths./x.post: its arguments are too large for a model: more than 48 KiB",
		},
	} {
		document := "openapi: 3.1.0\npaths: {/x: {post: {operationId: op, requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/S0'}}}}}}}\n" +
			"components:\n  schemas:\n" + c.schemas
		made, err := openapi.New(openapi.Config{
			Document: []byte(document), Operations: []string{"op"}, BaseURL: "https://a.example",
		})
		if c.want != "" && (err == nil || err.Error() != c.want) ||
			c.want == "" && (err != nil || len(made[0].Parameters) > 48<<10 || len(made[0].Parameters) < 50) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLargePatterns has patterns whose programs would take hundreds of megabytes. The model reads them, and the
// service checks them.
func TestLargePatterns(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	bomb := "(?:" + strings.Repeat("a?", 60) + "){1000}"
	var properties strings.Builder
	for i := range 40 {
		fmt.Fprintf(&properties, "p%d: {type: string, pattern: '%s'}, ", i, bomb)
	}
	for name, schema := range map[string]string{
		"Patterns": "{type: object, properties: {" + properties.String() + "a: {type: string, pattern: '^b$'}}}",
		"Properties": "{type: object, patternProperties: {'" + bomb +
			"': {type: integer}}, additionalProperties: false, properties: {a: {type: string, pattern: '^b$'}}}",
		"Long": "{type: object, properties: {p: {type: string, pattern: '" + strings.Repeat("c", 5000) +
			"'}, a: {type: string, pattern: '^b$'}}}",
	} {
		document := "openapi: 3.1.0\npaths: {/x: {post: {operationId: op, requestBody: {content: {application/json: {schema: " + schema + "}}}}}}\n"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		made, err := openapi.New(openapi.Config{
			Document: []byte(document), Operations: []string{"op"}, BaseURL: "https://a.example",
		})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 16<<20 {
			t.Errorf("%s: a document of %d bytes takes %d", name, len(document), allocated)
		}
		if err := made[0].Check(json.RawMessage(`{"body":{"a":"b","p0":"c"}}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := made[0].Check(json.RawMessage(`{"body":{"a":"c"}}`)); err == nil {
			t.Errorf("%s: the small pattern is not checked", name)
		}
	}
}
