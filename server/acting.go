package server

import (
	"context"

	"github.com/spoolhq/spool/engine"
)

// acting returns ctx with the caller as the engine's actor, whom the audit log names.
func (s *Server) acting(ctx context.Context) context.Context {
	p := s.asking(ctx)
	return engine.WithActor(ctx, engine.Actor{Subject: p.Subject, Tenant: p.Tenant})
}
