package toolresult

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Ran returns what the model reads of a call that ran, or failed with a text. It is the
// tool's own result, unless a person has edited the call or out why it may run: the model
// has to know that. Answers are those to the parks of the call, the earliest first.
func Ran(result json.RawMessage, failure string, answers ...*spool.Answer) json.RawMessage {
	out := struct {
		Approved  bool            `json:"approved"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Reason    string          `json:"reason,omitempty"`
		Error     string          `json:"error,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
	}{Approved: true, Error: failure, Result: result}
	for _, a := range answers {
		if a == nil || !a.Approved {
			continue
		}
		if a.Args != nil {
			out.Arguments = a.Args
		}
		if a.Reason != "" {
			out.Reason = a.Reason
		}
	}
	switch {
	case out.Arguments != nil, out.Reason != "":
		return JSON(out)
	case failure != "":
		return LateError(failure)
	default:
		return result
	}
}
