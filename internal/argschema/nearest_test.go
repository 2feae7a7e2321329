package argschema

import (
	"encoding/json"
	"strings"
	"testing"
)

// A value that fits no alternative is told what is wrong with it by the nearest one.
func TestNearest(t *testing.T) {
	t.Parallel()

	s, err := Compile(json.RawMessage(`{"type":"object","properties":{
		"shape":{"anyOf":[
			{"title":"Circle","type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number","minimum":1},"color":{"type":"string"}},"required":["kind","radius"],"additionalProperties":false},
			{"$ref":"#/$defs/box"},
			{"type":"null"}]},
		"list":{"type":"array","items":{"oneOf":[{"type":"integer"},{"type":"object","properties":{"id":{"type":"string","pattern":"^a"}},"required":["id"]}]}},
		"to":{"anyOf":[{"type":"object","properties":{"who":{"anyOf":[{"const":"bob"},{"const":"eve"}]}},"required":["who"]},{"type":"integer"}]}
	},"$defs":{"box":{"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{"type":"number"}},"required":["kind","w","h"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"shape":{"kind":"circle","radius":0,"color":5,"x":1}}`: `argument shape: fits none of 3 alternatives. The nearest is "Circle": ` +
			`shape.x: is not known; shape.color: type: 5 has type "integer", want "string"; shape.radius: minimum: 0/1 is less than 1.000000`,
		`{"shape":{"kind":"box","w":"wide"}}`: `argument shape: fits none of 3 alternatives. The nearest is that with kind box: ` +
			`shape.h: is missing; shape.w: type: wide has type "string", want "number"`,
		`{"list":[1,{"id":"b"}]}`: `argument list[1]: fits none of 2 alternatives. The nearest is number 2: ` +
			"list[1].id: pattern: \"b\" does not match regular expression \"^a\"",
		`{"to":{"who":"ann"}}`: `argument to: fits none of 2 alternatives. The nearest is number 1: to.who: const: ann does not equal bob`,
		`{"shape":null,"list":[{"id":"ab"}],"to":{"who":"eve"}}`: "",
	} {
		got := ""
		if err := s.Check(json.RawMessage(args)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n%s, want\n%s", args, got, want)
		}
	}
	// A schema whose references go in circles is followed for a while.
	round, err := Compile(
		json.RawMessage(`{"$defs":{"a":{"anyOf":[{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"required":["a"]},{"type":"integer"}]}},"properties":{"a":{"$ref":"#/$defs/a"}}}`),
	)
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, 40) + `"x"` + strings.Repeat("}", 40)
	if err := round.Check(json.RawMessage(deep)); err == nil ||
		!strings.Contains(err.Error(), "fits none of 2 alternatives") {
		t.Errorf("a deep value: %v", err)
	}
}
