package agent

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// told returns what the model reads of a call that ran, or failed with a text. It is the
// tool's own result, unless a person has edited the call or said why it may run: the model
// has to know that.
func (p *plannedCall) told(result json.RawMessage, failure string) json.RawMessage {
	said := struct {
		Approved  bool            `json:"approved"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Reason    string          `json:"reason,omitempty"`
		Error     string          `json:"error,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
	}{Approved: true, Error: failure, Result: result}
	if p.answered != nil {
		for _, a := range []*spool.Answer{p.call.Answer, p.answered.Answer} {
			if a == nil || !a.Approved {
				continue
			}
			if a.Args != nil {
				said.Arguments = a.Args
			}
			if a.Reason != "" {
				said.Reason = a.Reason
			}
		}
	}
	switch {
	case said.Arguments != nil, said.Reason != "":
		return toolresult.JSON(said)
	case failure != "":
		return toolresult.LateError(failure)
	default:
		return result
	}
}
