package form

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// nestedRun has the fields that only a nested run has.
type nestedRun struct {
	CallID spool.ToolCallID   `json:"callId,omitempty"`
	Prompt string             `json:"prompt,omitempty"`
	Result *wire.NestedResult `json:"result,omitempty"`
}

// EncodedRun has JSON columns of a run. An empty one stands for the zero value.
type EncodedRun struct{ State, Nested, Allowance, Client json.RawMessage }

// EncodeRun returns the JSON columns of a run.
func EncodeRun(r *store.RunRow) (e EncodedRun, err error) {
	state := r.RunState // the row stays on the stack
	encodeState := encode
	if r.Draft != nil || r.Resume != nil { // they may have provider data
		encodeState = encodeExactly
	}
	if e.State, err = encodeState(&state, "the run's state"); err != nil {
		return e, err
	}
	if string(e.State) == "{}" {
		e.State = nil
	}
	if n := (nestedRun{r.CallID, r.Prompt, r.Result}); n != (nestedRun{}) {
		if e.Nested, err = encode(n, "the nested run"); err != nil {
			return e, err
		}
	}
	if r.Allowance != nil {
		if e.Allowance, err = encode(r.Allowance, "the run's budget"); err != nil {
			return e, err
		}
	}
	e.Client, err = EncodeClient(r.Client)
	return e, err
}

// EncodeClient returns the JSON of what a run's client has brought.
func EncodeClient(c *wire.ClientInput) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	return encode(c, "what the run's client has brought")
}

// EncodeScopes returns the JSON of a run's scopes.
func EncodeScopes(scopes []string) json.RawMessage {
	if len(scopes) == 0 {
		return nil
	}
	text, _ := json.Marshal(scopes) //nolint:errchkjson // texts have always a JSON form
	return text
}

// plainStrings reads a JSON array of strings without escapes. It is fast, because every run that is read has such an
// array. It returns false for other JSON.
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
