package server

import "net/http"

// health answers GET /healthz as long as the process answers anything.
func (s *Server) health(w http.ResponseWriter, r *http.Request, _ Principal) error {
	s.writeJSON(w, r, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}
