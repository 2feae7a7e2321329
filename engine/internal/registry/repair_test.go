package registry

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// Arguments that have one reading are taken if the tool takes this reading, and others stay as they were sent.
func TestRepair(t *testing.T) {
	t.Parallel()

	tool := func(name, schema string) spool.Tool {
		s, err := argschema.Compile(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		return spool.Tool{ToolSpec: spool.ToolSpec{Name: name, Parameters: json.RawMessage(schema)}, Check: s.Check}
	}
	a := &Agent{AtClient: map[string]bool{"theirs": true}}
	a.Tools = []spool.Tool{
		tool("clock", `{"type":"object"}`), tool("theirs", `{"type":"object"}`),
		tool("send",
			`{"type":"object","properties":{"to":{"type":"string"},"n":{"type":"integer"}},"required":["to"],"additionalProperties":false}`),
	}
	for _, c := range []struct{ name, text, want string }{
		{"clock", "null", "{}"},
		{"clock", " ", "{}"},
		{"clock", `""`, "{}"},
		{"clock", "```json\n{\"a\": 1}\n```", `{"a":1}`},
		{"clock", "```{}```", "{}"},
		{"clock", `"{\"a\":1}"`, `{"a":1}`},
		{"clock", `"\"{}\""`, "{}"},
		{"clock", `{"a":[1,],}`, `{"a":[1]}`},
		{"clock", `{"a":"1,}\" ,]",}`, `{"a":"1,}\" ,]"}`},
		{"clock", "{\"a\":\"b\nc\\\"\td\"}", `{"a":"b\u000ac\"\u0009d"}`},
		{"send", `{"to":"bob","n":"5"}`, `{"n":5,"to":"bob"}`},
		{"send", `"{\"to\":\"bob\",\"n\":\"5\",}"`, `{"n":5,"to":"bob"}`},
		{"send", `{"to":"bob","n":null}`, `{"to":"bob"}`},
		// These have no reading, more than one, or one that does not fit.
		{"clock", "[]", ""},
		{"clock", "[{}]", ""},
		{"clock", "5", ""},
		{"clock", `"hello"`, ""},
		{"clock", `{"a":1`, ""},
		{"clock", `{"a":1}{"a":1}`, ""},
		{"clock", `{"a":1,"a":2,}`, ""},
		{"clock", `"{\"a\":1,\"a\":2}"`, ""},
		{"clock", `{'a':1}`, ""},
		{"clock", "```\n{}\n```\n```\n{}\n```", ""},
		{"clock", `"\"\\\"\\\\\\\"{}\\\\\\\"\\\"\""`, ""},
		{"send", "null", ""},
		{"send", `{"to":5}`, ""},
		{"send", `{"to":"bob","n":"five"}`, ""},
		{"send", `{"to":"bob","n":"5","x":1}`, ""},
		// These need none.
		{"send", `{"to": "5"}`, ""},
		{"clock", "", ""},
		{"theirs", "null", ""},
		{"unknown", "null", ""},
	} {
		hooked := 0
		args, sent := a.Repair(c.name, c.text, func(json.RawMessage, error) json.RawMessage { hooked++; return nil })
		if c.want == "" && (sent != nil || string(args) != string(CallArgs(c.text))) {
			t.Errorf("%s %q: repaired to %s", c.name, c.text, args)
		}
		if c.want != "" && (string(args) != c.want || string(sent) != string(CallArgs(c.text)) || hooked != 0) {
			t.Errorf("%s %q: %s, sent %s, want %s", c.name, c.text, args, sent, c.want)
		}
	}
}

// What a hook returns is used if the tool takes it.
func TestRepairHook(t *testing.T) {
	t.Parallel()

	a := &Agent{Agent: spool.Agent{Tools: []spool.Tool{{
		ToolSpec: spool.ToolSpec{Name: "send"},
		Check: func(args json.RawMessage) error {
			if string(args) != `{"to":"bob"}` {
				return errors.New("not to bob")
			}
			return nil
		},
	}}}}
	for fixed, want := range map[string]string{
		`{"to": "bob"}`: `{"to":"bob"}`, `{"to":"eve"}`: `"to bob"`, "{": `"to bob"`, "": `"to bob"`,
	} {
		args, sent := a.Repair("send", "to bob", func(args json.RawMessage, problem error) json.RawMessage {
			if string(args) != `"to bob"` || problem.Error() != noObject {
				t.Errorf("the hook gets %s and %v", args, problem)
			}
			if fixed == "" {
				return nil
			}
			return json.RawMessage(fixed)
		})
		if string(args) != want || (sent != nil) != (want[0] == '{') {
			t.Errorf("%q: %s, sent %s", fixed, args, sent)
		}
	}
}
