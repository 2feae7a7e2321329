package registry

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// FuzzCallArgs checks that a tool gets exactly the bytes of its arguments that are in the stream, in
// the store, in an answer and in a digest.
func FuzzCallArgs(f *testing.F) {
	for _, seed := range []string{
		"", "{}", ` {"a" : "<&>\u2028é\/"} `, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `{"a":"\u0000"}`, `[1]`, `"{\"a\":1}"`,
		`{"a":1e400}`, "{\"a\":\"\xff\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := CallArgs(text)
		message, err := json.Marshal(spool.Content{{Type: spool.PartToolCall, ToolCallID: "c", ToolName: "t", Args: args}})
		var content spool.Content
		if err == nil {
			err = json.Unmarshal(message, &content)
		}
		if err != nil || !bytes.Equal(content[0].Args, args) {
			t.Fatalf("%q is %s, and after the store %s, %v", text, args, content[0].Args, err)
		}
		if again := CallArgs(string(args)); args[0] == '{' && !bytes.Equal(again, args) {
			t.Errorf("%q is %s, and again %s", text, args, again)
		}
		problem := ArgsProblem(args)
		if problem != nil {
			return
		}
		asked := strings.TrimSpace(text)
		if asked == "" {
			asked = "{}"
		}
		park := store.Park{Args: args}
		if err := spool.CheckArguments("", json.RawMessage(asked)); err != nil {
			t.Errorf("a tool is called with %s for %q: %v", args, text, err)
		}
		if park.DigestOf(nil) != park.DigestOf(json.RawMessage(asked)) {
			t.Errorf("the digest of %s is not that of %q", args, text)
		}
	})
}

func TestArgsProblem(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"":                    "",
		"\t{\"a\": 1}\n":      "",
		`{"a":1,"a":2}`:       `the JSON of the arguments has the key "a" twice in one object`,
		`{"a":"\ud800"}`:      `the JSON of the arguments has half of a surrogate pair (\ud800) in a string`,
		`{"a":"\u0000"}`:      `the JSON of the arguments has a NUL (\u0000) in a string`,
		`{"a":`:               noObject,
		`[1]`:                 noObject,
		`"{}"`:                noObject,
		"{\"a\":\"\xff\"}":    noObject,
		`null`:                noObject,
		"{\"a\":\n\"<&>\"}\n": "",
	} {
		got := ""
		if err := ArgsProblem(CallArgs(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	// saved by a version that accepted everything
	if err := ArgsProblem(json.RawMessage(`{"a":1,"a":2}`)); err == nil {
		t.Error("an old call runs with a key that is there twice")
	}
}
