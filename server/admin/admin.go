// Package admin has the endpoints for operators: they show what runs and what is stuck and why, and act
// on it. It knows the engine and the call, and not the server.
package admin

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/call"
)

// Controller has the endpoints.
type Controller struct{ Engine *engine.Engine }

// oneTenant names the tenant that an operator asks about.
type oneTenant struct {
	Tenant spool.Tenant `doc:"The tenant. Only an operator may name another than its own, which is the default." maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"tenant"`
}

// tenant returns the tenant that a request is about: the caller's own, or, for an operator, the
// one that it names. Whether a tenant exists makes no difference to those who may not ask.
func (c Controller) tenant(ctx context.Context, named spool.Tenant) (spool.Tenant, error) {
	p := call.By(ctx)
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
	return call.About(ctx, err, spool.ThreadKey{Tenant: tenant}, "")
}
