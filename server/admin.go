package server

import (
	"context"

	"github.com/spoolhq/spool"
)

// oneTenant names the tenant that an operator asks about.
type oneTenant struct {
	Tenant spool.Tenant `doc:"The tenant. Only an operator may name another than its own, which is the default." maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"tenant"`
}

// tenant returns the tenant that a request is about: the caller's own, or, for an operator, the
// one that it names. Whether a tenant exists makes no difference to those who may not ask.
func (s *Server) tenant(ctx context.Context, named spool.Tenant) (spool.Tenant, error) {
	p := s.asking(ctx)
	switch {
	case named == "", named == p.Tenant:
		return p.Tenant, nil
	case !p.Operator:
		return "", spool.Errorf(spool.Forbidden, "only an operator may name another tenant")
	default:
		return named, spool.CheckID("tenant", string(named))
	}
}

// aboutTenant says which tenant an error is about.
func aboutTenant(ctx context.Context, err error, tenant spool.Tenant) error {
	return about(ctx, err, spool.ThreadKey{Tenant: tenant}, "")
}
