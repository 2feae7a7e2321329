package server

import (
	"net/http"

	"github.com/spoolhq/spool"
)

// controlRequest is the body of a stop.
type controlRequest struct {
	ThreadID spool.ThreadID `json:"threadId"`
}

// stopRun answers POST /api/agent/control: 200 with the result when the run stops, 409
// with the result when there is none to stop, or the thread is not the caller's.
func (s *Server) stopRun(w http.ResponseWriter, r *http.Request, p Principal) error {
	var in controlRequest
	if err := s.decode(w, r, &in); err != nil {
		return err
	}
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	result, err := s.engine.Stop(r.Context(), p.key(in.ThreadID))
	if err != nil {
		return about(err, p.key(in.ThreadID), "")
	}
	status := http.StatusOK
	if !result.Accepted {
		status = http.StatusConflict
	}
	s.writeJSON(w, r, status, result)
	return nil
}
