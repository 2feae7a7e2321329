package server

import "net/http"

// usage answers GET /api/agent/usage with the tokens that a thread has used and how full
// its context is.
func (s *Server) usage(w http.ResponseWriter, r *http.Request, p Principal) error {
	_, key, err := threadQuery(r, p)
	if err != nil {
		return err
	}
	usage, err := s.engine.Usage(r.Context(), key)
	if err != nil {
		return about(err, key, "")
	}
	s.writeJSON(w, r, http.StatusOK, usage)
	return nil
}
