package toolresult

import (
	"encoding/json"
	"testing"
)

// A note is text that the model reads with the result, whose images stay images.
func TestNoted(t *testing.T) {
	t.Parallel()

	for result, want := range map[string]string{
		`"seen"`:                               `"seen\n\nAgain."`,
		`{"a": 1}`:                             `"{\"a\": 1}\n\nAgain."`,
		`[1]`:                                  `"[1]\n\nAgain."`,
		`[]`:                                   `"[]\n\nAgain."`,
		`null`:                                 `"null\n\nAgain."`,
		`{"content":"a"}`:                      `"{\"content\":\"a\"}\n\nAgain."`,
		`[{"type":"image","image":"data:,a"}]`: `[{"type":"image","image":"data:,a"},{"text":"Again.","type":"text"}]`,
		`{"content":[{"type":"text","text":"a"}],"isError":true}`: `{"content":[{"type":"text","text":"a"},{"text":"Again.","type":"text"}],"isError":true}`,
	} {
		if got := string(Noted(json.RawMessage(result), "Again.")); got != want {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
	}
}
