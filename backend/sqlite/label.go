package sqlite

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// encodeLabels returns the JSON of labels, or nil for none.
func encodeLabels(labels map[string]string) json.RawMessage {
	if len(labels) == 0 {
		return nil
	}
	text, _ := json.Marshal(labels) //nolint:errchkjson // texts have always a JSON form
	return text
}

func scanLabels(r *row) map[string]string {
	text := r.json()
	if text == nil {
		return nil
	}
	var labels map[string]string
	if err := json.Unmarshal(text, &labels); err != nil {
		r.err = spool.Wrap(spool.Internal, "the thread's labels cannot be read", err)
	}
	return labels
}

// encodeScopes returns the JSON of a run's scopes, or nil for none.
func encodeScopes(scopes []string) json.RawMessage {
	if len(scopes) == 0 {
		return nil
	}
	text, _ := json.Marshal(scopes) //nolint:errchkjson // texts have always a JSON form
	return text
}

func scanScopes(r *row) []string {
	text := r.borrowed()
	if text == nil {
		return nil
	}
	if scopes, ok := plainStrings(string(text)); ok {
		return scopes
	}
	var scopes []string
	if err := json.Unmarshal(text, &scopes); err != nil {
		r.err = spool.Wrap(spool.Internal, "the run's scopes cannot be read", err)
	}
	return scopes
}

// plainStrings reads a JSON array of strings without escapes. It is fast, because every run that is
// read has such an array. It returns false for other JSON.
func plainStrings(text string) ([]string, bool) {
	inner, opened := strings.CutPrefix(text, `["`)
	inner, closed := strings.CutSuffix(inner, `"]`)
	if !opened || !closed || strings.Contains(inner, `\`) {
		return nil, false
	}
	all := strings.Split(inner, `","`)
	if slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, `"`) }) {
		return nil, false
	}
	return all, true
}
