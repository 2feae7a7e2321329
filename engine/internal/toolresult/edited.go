package toolresult

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Ran returns what the model reads about a call that returned or failed. Normally this is the tool's
// own result. If a person edited the call or gave a reason, the model reads about that too. Answers are
// the answers to the call's parks, the earliest first.
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
