package server

import (
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// runRequest is the body of a start. The tenant is not part of it: see [Principal].
type runRequest struct {
	ThreadID        spool.ThreadID      `json:"threadId"`
	Prompt          *string             `json:"prompt"`
	Agent           string              `json:"agent"`
	Model           string              `json:"model"`
	EditMessageID   spool.MessageID     `json:"editMessageId"`
	ClientMessageID string              `json:"clientMessageId"`
	RunID           spool.RunID         `json:"runId"`
	MaxSteps        int                 `json:"maxSteps"`
	Attachments     []engine.Attachment `json:"attachments"`
}

func (q runRequest) check() error {
	if err := required("prompt", q.Prompt != nil); err != nil {
		return err
	}
	for _, id := range []struct{ field, value string }{
		{"threadId", string(q.ThreadID)},
		{"runId", string(q.RunID)},
		{"editMessageId", string(q.EditMessageID)},
	} {
		if err := checkOptionalID(id.field, id.value); err != nil {
			return err
		}
	}
	if q.MaxSteps < 0 {
		return spool.Errorf(spool.Invalid, "maxSteps must be zero or a positive number")
	}
	return nil
}

// startRun answers POST /api/agent/run: 202 with the result when the run was accepted,
// 409 with the result when it was not.
func (s *Server) startRun(w http.ResponseWriter, r *http.Request, p Principal) error {
	var in runRequest
	if err := s.decode(w, r, &in); err != nil {
		return err
	}
	if err := in.check(); err != nil {
		return err
	}
	result, err := s.engine.Run(r.Context(), p.key(in.ThreadID), engine.StartRequest{
		Prompt:          *in.Prompt,
		Agent:           in.Agent,
		Model:           in.Model,
		RunID:           in.RunID,
		EditMessageID:   in.EditMessageID,
		ClientMessageID: in.ClientMessageID,
		MaxSteps:        in.MaxSteps,
		Attachments:     in.Attachments,
		// The header is a string of RFC 8941, in quotes, but many clients send it bare.
		IdempotencyKey: strings.Trim(r.Header.Get("Idempotency-Key"), `"`),
	})
	if err != nil {
		return about(err, p.key(in.ThreadID), in.RunID)
	}
	status := http.StatusAccepted
	if !result.Accepted {
		status = http.StatusConflict
	}
	s.writeJSON(w, r, status, result)
	return nil
}
