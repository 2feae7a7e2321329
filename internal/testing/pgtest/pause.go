package pgtest

import "testing"

// Pause stops all processes of a server of [Start] where they are: connections stay open, new ones are accepted
// by the kernel, and nothing is answered. Resume, or the end of the test, lets them go on.
func (s *Server) Pause(tb testing.TB) {
	tb.Helper()
	if s.running == nil {
		tb.Fatal("the test shares this server")
	}
	tb.Cleanup(func() { _ = s.running.signal(true) }) // before the server is stopped
	if err := s.running.signal(false); err != nil {
		tb.Fatal(err)
	}
}

// Resume lets a paused server go on.
func (s *Server) Resume(tb testing.TB) {
	tb.Helper()
	if err := s.running.signal(true); err != nil {
		tb.Fatal(err)
	}
}
