package server

// TakenOver returns how many streams have taken their connection over from net/http.
func (s *Server) TakenOver() int { return s.streams.TakenOver() }
