package server

import (
	"context"
	"slices"

	"github.com/spoolhq/spool/engine"
)

// acting returns ctx with the caller as the engine's actor: whom the audit log names, and whose
// threads there are. Each call of the engine about a thread takes it.
func (s *Server) acting(ctx context.Context) context.Context {
	p := s.asking(ctx)
	return s.actingAs(ctx, p)
}

// actingAs returns ctx with p as the engine's actor.
func (s *Server) actingAs(ctx context.Context, p Principal) context.Context {
	return engine.WithActor(ctx, engine.Actor{Subject: p.Subject, Tenant: p.Tenant, OwnOnly: s.ownOnly(p)})
}

// ownOnly reports whether a principal sees only its own threads.
func (s *Server) ownOnly(p Principal) bool {
	return s.config.OwnThreads && !p.AllThreads && !slices.Contains(p.Scopes, ScopeAdmin)
}
