package spool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// nested returns JSON in which so many arrays stand in each other.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestCheckJSON(t *testing.T) {
	t.Parallel()

	const tooDeep = "payload is nested deeper than 256 arrays and objects"
	for text, want := range map[string]string{
		"":                "payload is not JSON",
		"{":               "payload is not JSON",
		"\"\xff\"":        "payload is not valid UTF-8",
		"null":            "",
		"\n{\"a\":[1]}\t": "",
		nested(256):       "",
		nested(257):       tooDeep,
		nested(20000):     "payload is not JSON", // as far as encoding/json can tell
		`{"a":` + nested(255) + `,"b":` + nested(255) + `}`:            "",
		`{"a":` + nested(256) + `}`:                                    tooDeep,
		`["` + strings.Repeat("[", 300) + `"]`:                         "",
		`["\"` + strings.Repeat("[", 300) + `\\",` + nested(255) + `]`: "",
		`["\\",` + nested(256) + `]`:                                   tooDeep,
	} {
		err := spool.CheckJSON("payload", json.RawMessage(text))
		if (err == nil) != (want == "") || err != nil &&
			(spool.MessageOf(err) != want || spool.CodeOf(err) != spool.Invalid) {
			t.Errorf("%.40q: got %v, want %q", text, err, want)
		}
	}
}
