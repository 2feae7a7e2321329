// Package admin has the endpoints for operators: they show runs and jobs, explain stuck ones, and act on
// them. It knows the engine and the call, and not the server.
package admin

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/call"
)

// Controller has the endpoints.
type Controller struct{ Engine *engine.Engine }

// oneTenant has the tenant of an operator's request.
type oneTenant struct {
	// Tenant is the tenant. Defaults to the caller's own; only an operator may name another one.
	Tenant spool.Tenant `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"tenant"`
}

// tenant returns the tenant of a request: the caller's own or, for an operator, the named one. A caller that
// may not name a tenant gets the same error whether the tenant exists or not.
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

// aboutTenant adds the tenant to an error.
func aboutTenant(ctx context.Context, err error, tenant spool.Tenant) error {
	return call.About(ctx, err, spool.ThreadKey{Tenant: tenant}, "")
}
