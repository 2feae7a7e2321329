package argschema

import (
	"encoding/json"
	"testing"
)

// A value of another type is taken only if it has one reading in the types of the schema.
func TestCoerce(t *testing.T) {
	t.Parallel()

	schema := json.RawMessage(`{"type":"object","required":["n"],"properties":{
		"n":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},"any":{},
		"list":{"type":"array","items":{"type":"integer"}},"at":{"$ref":"#/$defs/place"},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},"either":{"type":["integer","string"]},
		"some":{"anyOf":[{"type":"null"},{"type":"object","properties":{"n":{"type":"integer"}}}]},"loop":{"$ref":"#/properties/loop"}
	},"$defs":{"place":{"type":"object","properties":{"x":{"type":"number"}}}},"additionalProperties":{"type":"boolean"}}`)
	for args, want := range map[string]string{
		`{"n":"5"}`:                       `{"n":5}`,
		`{"n":" -5 "}`:                    `{"n":-5}`,
		`{"n":"5 apples"}`:                "",
		`{"n":"05"}`:                      "",
		`{"n":""}`:                        "",
		`{"n":true}`:                      "",
		`{"n":5}`:                         "",
		`{"f":"12345678901234567890.10"}`: `{"f":12345678901234567890.10}`,
		`{"b":"True"}`:                    `{"b":true}`,
		`{"b":"yes"}`:                     "",
		`{"b":"1"}`:                       "",
		`{"s":"5","any":"5"}`:             "",
		`{"list":"[1,\"2\"]"}`:            `{"list":[1,2]}`,
		`{"list":"1"}`:                    "",
		`{"at":"{\"x\":\"1\"}"}`:          `{"at":{"x":1}}`,
		`{"at":"{\"x\":1,\"x\":2}"}`:      "",
		`{"maybe":"5"}`:                   `{"maybe":5}`,
		`{"maybe":"null"}`:                `{"maybe":null}`,
		`{"maybe":null}`:                  "",
		`{"either":"5"}`:                  "",
		`{"some":{"n":"5"}}`:              `{"some":{"n":5}}`,
		`{"loop":"5"}`:                    "",
		`{"f":null,"n":null}`:             `{"n":null}`,
		`{"other":"true"}`:                `{"other":true}`,
		`[1]`:                             "",
		`null`:                            "",
	} {
		if got := string(Coerce(schema, json.RawMessage(args))); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
	if got := Coerce(json.RawMessage(`true`), json.RawMessage(`{"n":"5"}`)); got != nil {
		t.Errorf("any object: %s", got)
	}
}
