package server

import (
	"encoding/json"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// respondRequest is the body of an answer to a park.
type respondRequest struct {
	ThreadID   spool.ThreadID   `json:"threadId"`
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	Approved   *bool            `json:"approved"`
	Payload    json.RawMessage  `json:"payload"`
}

// maxToolCallID is the length in bytes of the longest tool call id. Models make these
// up, so that their characters are not ours to restrict.
const maxToolCallID = 512

func (q respondRequest) check() error {
	if err := spool.CheckID("threadId", string(q.ThreadID)); err != nil {
		return err
	}
	if err := required("toolCallId", q.ToolCallID != ""); err != nil {
		return err
	}
	if len(q.ToolCallID) > maxToolCallID {
		return spool.Errorf(spool.Invalid, "toolCallId is longer than %d characters", maxToolCallID)
	}
	return required("approved", q.Approved != nil)
}

// respond answers POST /api/agent/respond: 200 with the result when the answer is the
// one that counts, 409 with the result when nothing waits for it, somebody was faster,
// or the thread is not the caller's.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, p Principal) error {
	var in respondRequest
	if err := s.decode(w, r, &in); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	answer := engine.Response{ToolCallID: in.ToolCallID, Approved: *in.Approved, By: p.Subject}
	if !isNull(in.Payload) {
		answer.Payload = in.Payload
	}
	result, err := s.engine.Respond(r.Context(), p.key(in.ThreadID), answer)
	if err != nil {
		return about(err, p.key(in.ThreadID), "")
	}
	status := http.StatusOK
	if !result.Delivered {
		status = http.StatusConflict
	}
	s.writeJSON(w, r, status, result)
	return nil
}
