package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool"
)

type weatherIn struct {
	City  string    `json:"city"            jsonschema:"name of the city"`
	Days  []int     `json:"days,omitempty"`
	Units *string   `json:"units,omitempty"`
	Near  *position `json:"near,omitempty"`
}

type position struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

type weatherOut struct {
	Sky string `json:"sky"`
}

func weather(_ context.Context, in weatherIn) (weatherOut, error) {
	return weatherOut{Sky: "clear in " + in.City}, nil
}

func TestNewSchema(t *testing.T) {
	t.Parallel()

	got := string(tool.New("weather", "Tells the weather.", weather).Parameters)
	want := `{"type":"object","properties":{` +
		`"city":{"type":"string","description":"name of the city"},` +
		`"days":{"type":"array","items":{"type":"integer"}},` +
		`"units":{"type":["null","string"]},` +
		`"near":{"type":["null","object"],"properties":{"lat":{"type":"number"},"lon":{"type":"number"}},` +
		`"required":["lat","lon"],"additionalProperties":false}},` +
		`"required":["city"],"additionalProperties":false}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewSchemaOfSpecialTypes(t *testing.T) {
	t.Parallel()

	type in struct {
		At    time.Time        `json:"at"`
		Addr  netip.Addr       `json:"addr"`
		Data  []byte           `json:"data"`
		Any   json.RawMessage  `json:"any"`
		Maybe *json.RawMessage `json:"maybe,omitempty"`
		Free  any              `json:"free,omitempty"`
		Num   json.Number      `json:"num"`
		Skip  chan int         `json:"-"`
	}
	var seen in
	tl := tool.New("special", "", func(_ context.Context, v in) (any, error) {
		seen = v
		return json.RawMessage("null"), nil
	})
	args := json.RawMessage(`{"at":"2026-01-02T03:04:05Z","addr":"10.0.0.1","data":"aGk=","any":[1],"maybe":{"a":1},"num":12}`)
	if err := tl.Check(args); err != nil {
		t.Fatalf("check: %v (schema %s)", err, tl.Parameters)
	}
	result, err := tl.Call(t.Context(), spool.ToolCall{Args: args})
	if err != nil || string(result) != "null" {
		t.Fatalf("call: %s, %v", result, err)
	}
	if string(seen.Data) != "hi" || seen.Addr.String() != "10.0.0.1" || seen.Num != "12" {
		t.Errorf("decoded %+v", seen)
	}
}

func TestNewCheck(t *testing.T) {
	t.Parallel()

	tl := tool.New("weather", "", weather)
	for name, c := range map[string]struct{ args, want string }{
		"good":       {`{"city":"Oslo","days":[1,2],"units":null}`, ""},
		"no args":    {``, `missing properties: ["city"]`},
		"unknown":    {`{"city":"Oslo","town":"x"}`, `["town"]`},
		"wrong type": {`{"city":3}`, "argument city: type:"},
		"in array":   {`{"city":"Oslo","days":[1,"x"]}`, "argument days[]: type:"},
		"in object":  {`{"city":"Oslo","near":{"lat":"x","lon":1}}`, "argument near.lat: type:"},
		"too big":    {`{"city":"Oslo","days":[99999999999999999999]}`, "argument days"},
		"case":       {`{"City":"Oslo"}`, `["City"]`},
		"no object":  {`"city"`, "must be a JSON object"},
		"no JSON":    {`{"city":`, "no JSON"},
		"two values": {`{"city":"Oslo"} {}`, "no JSON"},
		"null":       {`null`, "must be a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := tl.Check(json.RawMessage(c.args))
			_, callErr := tl.Call(t.Context(), spool.ToolCall{Args: json.RawMessage(c.args)})
			if c.want == "" {
				if err != nil || callErr != nil {
					t.Fatalf("check: %v, call: %v", err, callErr)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
			if callErr == nil {
				t.Error("call ran with arguments that check refuses")
			}
			if code := spool.CodeOf(err); code != spool.Invalid {
				t.Errorf("code %s", code)
			}
		})
	}
}

func TestNewBoundsErrors(t *testing.T) {
	t.Parallel()

	err := tool.New("weather", "", weather).Check(json.RawMessage(`{"city":["` + strings.Repeat("x", 10_000) + `"]}`))
	if err == nil || len(err.Error()) > 600 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()

	type loop struct {
		Next *loop `json:"next"`
	}
	type quoted struct {
		N int `json:"n,string"`
	}
	type nested struct {
		position `json:"pos"`
	}
	for name, c := range map[string]struct {
		make func()
		want string
	}{
		"bad name": {func() { tool.New("get weather", "", weather) }, "a name matches"},
		"nil func": {func() { tool.New[weatherIn, any]("x", "", nil) }, "function is nil"},
		"string": {func() {
			tool.New("x", "", func(context.Context, string) (any, error) { return 0, nil })
		}, "a struct or a map"},
		"chan": {func() {
			tool.New("x", "", func(context.Context, struct{ C chan int }) (any, error) { return 0, nil })
		}, "no schema"},
		"cycle": {func() {
			tool.New("x", "", func(context.Context, loop) (any, error) { return 0, nil })
		}, "cycle"},
		"quoted": {func() {
			tool.New("x", "", func(context.Context, quoted) (any, error) { return 0, nil })
		}, "option string"},
		"embedded": {func() {
			tool.New("x", "", func(context.Context, nested) (any, error) { return 0, nil })
		}, "embedded"},
		"own form": {func() {
			tool.New("x", "", func(context.Context, time.Time) (any, error) { return 0, nil })
		}, "form of its own"},
		"result": {func() {
			tool.New("x", "", func(context.Context, struct{}) (func(), error) { return func() {}, nil })
		}, "no JSON form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, "tool.New(") || !strings.Contains(got, c.want) {
					t.Errorf("panicked with %q, want %q in it", got, c.want)
				}
			}()
			c.make()
		})
	}
}

func TestCallFrom(t *testing.T) {
	t.Parallel()

	if _, ok := tool.CallFrom(t.Context()); ok {
		t.Error("a call outside of a tool")
	}
	tl := tool.New("key", "", func(ctx context.Context, _ struct{}) (string, error) {
		call, ok := tool.CallFrom(ctx)
		if !ok {
			return "", errors.New("no call")
		}
		return call.IdempotencyKey(), nil
	})
	result, err := tl.Call(t.Context(), spool.ToolCall{RunID: "run", Step: 2, ID: "c1"})
	if err != nil || string(result) != `"run/2/c1"` {
		t.Errorf("got %s, %v", result, err)
	}
}

func TestNewPassesErrorsOn(t *testing.T) {
	t.Parallel()

	park := spool.ParkFor("job", map[string]any{"id": 1}, time.Hour)
	tl := tool.New("job", "", func(context.Context, struct{}) (string, error) { return "", park })
	_, err := tl.Call(t.Context(), spool.ToolCall{})
	if !errors.Is(err, park) {
		t.Errorf("got %v, want the park request itself", err)
	}
}

func TestFromSchema(t *testing.T) {
	t.Parallel()

	echo := func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) { return c.Args, nil }
	tl, err := tool.FromSchema("pick", "", json.RawMessage(
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{`+
			`"color":{"enum":["red","blue"]},"a/b":{"type":"integer","minimum":1}},"required":["color"]}`), echo)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"color":"red","more":1}`:    "",
		`{"color":"green"}`:           "argument color: enum",
		`{"color":"red","a/b":0}`:     "argument a/b: minimum",
		`{}`:                          "missing properties",
		`[{"color":"red"}]`:           "must be a JSON object",
		`{"color":"red","a/b":"\ud"}`: "no JSON",
	} {
		err := tl.Check(json.RawMessage(args))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}

	none, err := tool.FromSchema("none", "", nil, echo)
	if err != nil {
		t.Fatal(err)
	}
	if none.Parameters != nil {
		t.Errorf("parameters %s, want none", none.Parameters)
	}
	if err := none.Check(nil); err != nil {
		t.Error(err)
	}
	if err := none.Check(json.RawMessage(`{"a":1}`)); err == nil {
		t.Error("took an argument")
	}
}

// TestLetterCase has arguments whose names differ in case from what the schema declares: it does
// not know them, and a decoder of Go would read them all the same.
func TestLetterCase(t *testing.T) {
	t.Parallel()

	echo := func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) { return c.Args, nil }
	tl, err := tool.FromSchema("pay", "", json.RawMessage(`{"type":"object","properties":{
		"cents":{"type":"integer","maximum":100},"ID":{},"id":{},"tags":{"type":"object"},
		"items":{"items":{"properties":{"price":{}}}},"by":{"additionalProperties":{"properties":{"name":{}}}}}}`), echo)
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		`{"cents":1,"more":1,"ID":1,"id":2,"tags":{"a":1,"A":2},"items":[{"price":1,"Pieces":2}],"by":{"x":{"name":1}}}`: "",
		`{"cents":1,"Cents":1000}`:   "argument Cents: its name is cents",
		`{"centſ":1000}`:             "argument centſ: its name is cents",
		`{"items":[{},{"Price":1}]}`: "argument Price: its name is price",
		`{"by":{"x":{"NAME":1}}}`:    "argument NAME: its name is name",
	} {
		err := tl.Check(json.RawMessage(args))
		if want == "" && err != nil || want != "" && (spool.CodeOf(err) != spool.Invalid || err.Error() != want) {
			t.Errorf("%s: got %v, want %q", args, err, want)
		}
	}
}

func TestFromSchemaRefuses(t *testing.T) {
	t.Parallel()

	echo := func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) { return c.Args, nil }
	for name, parameters := range map[string]string{
		"no JSON":      `{`,
		"array":        `{"type":"array"}`,
		"bad pattern":  `{"type":"object","properties":{"a":{"pattern":"("}}}`,
		"remote ref":   `{"type":"object","properties":{"a":{"$ref":"http://example.com/x.json"}}}`,
		"old draft":    `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`,
		"dangling ref": `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`,
		"huge pattern": `{"type":"object","properties":{"a":{"pattern":"(?:` + strings.Repeat("a?", 60) + `){1000}"}}}`,
	} {
		if _, err := tool.FromSchema("x", "", json.RawMessage(parameters), echo); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := tool.FromSchema("a b", "", nil, echo); err == nil {
		t.Error("took a bad name")
	}
	if _, err := tool.FromSchema("x", "", nil, nil); err == nil {
		t.Error("took no function")
	}
}
