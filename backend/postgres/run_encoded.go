package postgres

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// nestedRun are the fields that only a nested run has.
type nestedRun struct {
	CallID spool.ToolCallID    `json:"callId,omitempty"`
	Prompt string              `json:"prompt,omitempty"`
	Result *spool.NestedResult `json:"result,omitempty"`
}

// encodedRun is the JSON columns of a run. An empty one stands for the zero value.
type encodedRun struct {
	nested, allowance, state string

	given givenRun
}

// givenRun has the columns that come from the start.
type givenRun struct{ startKey, nonce, scopes, hostState, options, client string }

func encodeRun(r *spool.RunRow) (e encodedRun, err error) {
	if e.state, err = jsonOf(&r.RunState, true, "the run's state"); err != nil {
		return e, err
	}
	if e.state == "{}" {
		e.state = ""
	}
	n := nestedRun{r.CallID, r.Prompt, r.Result}
	if e.nested, err = jsonOf(n, n != nestedRun{}, "the nested run"); err != nil {
		return e, err
	}
	if e.allowance, err = jsonOf(r.Allowance, r.Allowance != nil, "the run's budget"); err != nil {
		return e, err
	}
	e.given, err = encodeGiven(r)
	return e, err
}

func encodeGiven(r *spool.RunRow) (g givenRun, err error) {
	g = givenRun{startKey: r.StartKey, nonce: r.Nonce, hostState: string(r.HostState), options: string(r.ProviderOptions)}
	if g.client, err = jsonOf(r.Client, r.Client != nil, "what the run's client has brought"); err != nil {
		return g, err
	}
	g.scopes, err = jsonOf(r.Scopes, len(r.Scopes) > 0, "the run's scopes")
	return g, err
}

// args returns the values of the columns in the order of [stateColumns], without the first.
func (g *givenRun) args() []any {
	return []any{g.startKey, g.nonce, g.scopes, g.hostState, g.options, g.client}
}

// jsonOf returns the JSON of a column, or an empty text if there is none. What names the value in an error.
func jsonOf(value any, has bool, what string) (string, error) {
	if !has {
		return "", nil
	}
	text, err := json.Marshal(value)
	return string(text), spool.Wrap(spool.Invalid, what+" cannot be encoded", err)
}

// storedRun has the stored values with which an update of a run is compared.
type storedRun struct {
	id     spool.RunID
	depth  int
	state  spool.State
	place  int64
	tokens spool.TokenCount
	wait   int // the size of the user turn with which the run waits
	given  givenRun
}

func storedOf(r *spool.RunRow, given givenRun) storedRun {
	s := storedRun{id: r.ID, depth: r.Depth, state: r.State, place: r.QueuePosition, tokens: r.TokenCount, given: given}
	if r.Wait != nil {
		wait, _ := json.Marshal(r.Wait) //nolint:errchkjson // it was or will be encoded with the run
		s.wait = len(wait)
	}
	return s
}
