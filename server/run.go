package server

import (
	"net/http"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// runRequest is the body of a start. The tenant is not part of it: see [Principal].
type runRequest struct {
	// ThreadID is nil for a new thread.
	ThreadID        *spool.ThreadID     `json:"threadId"`
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
	// A client whose variable is empty would make a thread with every prompt.
	if q.ThreadID != nil && *q.ThreadID == "" {
		return spool.Errorf(spool.Invalid, "threadId is empty; leave it out for a new thread")
	}
	for _, id := range []struct{ field, value string }{
		{"threadId", string(q.thread())},
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

// thread returns the thread's id, "" for a new thread.
func (q runRequest) thread() spool.ThreadID {
	if q.ThreadID == nil {
		return ""
	}
	return *q.ThreadID
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
	thread := p.key(in.thread())
	result, err := s.engine.Run(r.Context(), thread, engine.StartRequest{
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
		return about(err, thread, in.RunID)
	}
	status := http.StatusAccepted
	if !result.Accepted {
		status = http.StatusConflict
	}
	s.writeJSON(w, r, status, result)
	return nil
}
