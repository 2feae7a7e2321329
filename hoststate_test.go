package spool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

func TestCheckHostState(t *testing.T) {
	t.Parallel()

	const secret = "s3cret"
	for state, ok := range map[string]bool{
		"":                              true,
		"\t{\"a\": 1}":                  true,
		"{}":                            true,
		"[]":                            false,
		"null":                          false,
		`"` + secret + `"`:              false,
		`{"` + secret + `"`:             false,
		"{\"" + secret + "\":\"\xff\"}": false,
		`{"a":"` + strings.Repeat(secret, spool.MaxHostStateBytes) + `"}`: false,
	} {
		err := spool.CheckHostState(json.RawMessage(state))
		if (err == nil) != ok || err != nil && (spool.CodeOf(err) != spool.Invalid || strings.Contains(err.Error(), secret)) {
			t.Errorf("%.30q: got %v", state, err)
		}
	}
}
