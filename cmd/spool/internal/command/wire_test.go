package command

import (
	"strings"
	"testing"
)

// What is wrong with a schema is told at the value that is wrong.
func TestSchemaProblems(t *testing.T) {
	t.Parallel()

	const head = `models: {m: {provider: demo}}
agents: {a: {model: m}}
tools:
  t:
    type: http
    url: http://127.0.0.1:1/
    parameters:
`
	for name, c := range map[string]struct{ parameters, want string }{
		"NotAnObject": {
			"description: x\ntype: array", `FILE:9: tools.t.parameters.type: the type of a schema of arguments is "object"`,
		},
		"Type": {"type: 7", `FILE:8: tools.t.parameters.type: invalid value for "type": "7"`},
		"InnerType": {
			"type: object\nproperties:\n  a: {type: string}\n  b:\n    description: x\n    type: 7",
			`FILE:13: tools.t.parameters.properties.b.type: invalid value for "type": "7"`,
		},
		"Property": {
			"type: object\nproperties:\n  a: {}\n  b: 3",
			"FILE:11: tools.t.parameters.properties.b: a JSON Schema cannot have this value here",
		},
		"Required": {
			"type: object\nrequired:\n  - a\n  - 1",
			"FILE:11: tools.t.parameters.required[1]: a JSON Schema cannot have this value here",
		},
		"Pattern": {
			"type: object\nproperties:\n  a:\n    pattern: (",
			"FILE:11: tools.t.parameters.properties.a.pattern: pattern: error parsing regexp: missing closing ): `(`",
		},
		"Reference": {
			"type: object\nproperties:\n  a:\n    $ref: '#/$defs/x'",
			`FILE:11: tools.t.parameters.properties.a.$ref: JSON Pointer "/$defs/x": no key "x" in map`,
		},
		"Draft": {
			"type: object\n$schema: http://json-schema.org/draft-04/schema#",
			"FILE:9: tools.t.parameters.$schema: cannot validate version http://json-schema.org/draft-04/schema#, supported versions: draft-07 and draft 2020-12",
		},
		"Several": {
			"type: object\nproperties:\n  a: {minLength: x}\n  b: {$ref: '#/$defs/c'}\nanyOf:\n  - {}\n  - pattern: (\n$defs: {c: {}}",
			"FILE:10: tools.t.parameters.properties.a.minLength: a JSON Schema cannot have this value here\n" +
				"spool: FILE:14: tools.t.parameters.anyOf[1].pattern: pattern: error parsing regexp: missing closing ): `(`",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := refused(t, head+"      "+strings.ReplaceAll(c.parameters, "\n", "\n      "))
			if want := "spool: " + c.want + "\n" + `Run "spool serve --help" for usage.` + "\n"; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
