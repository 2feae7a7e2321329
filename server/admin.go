package server

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
)

// admin are the endpoints of those who operate the server: what runs, what is stuck, why,
// and what to do about it.
type admin struct{ *Server }

// Routes implements [rest.Controller].
func (c *admin) Routes(r *rest.Routes) {
	rest.Get(r, "/overview", c.overview, c.guarded(ScopeAdmin,
		rest.OperationID("getOverview"), rest.Summary("See what a tenant has"), rest.Description(aboutOverview),
		rest.Fails(forbidden, unavailable))...)
	rest.Get(r, "/runs", c.runs, c.guarded(ScopeAdmin,
		rest.OperationID("listRuns"), rest.Summary("List runs"), rest.Description(aboutRuns),
		rest.Fails(forbidden, unavailable))...)
	rest.Get(r, "/runs/{runId}", c.run, c.guarded(ScopeAdmin,
		rest.OperationID("getRun"), rest.Summary("Look into a run"), rest.Description(aboutRun),
		rest.Fails(forbidden, http.StatusNotFound, unavailable))...)
	rest.Post(r, "/stop", c.stop, c.guarded(ScopeAdmin,
		rest.OperationID("operatorStop"), rest.Summary("Stop any run"), rest.Description(aboutOperatorStop),
		rest.Returns[engine.StopResult](http.StatusConflict), rest.Fails(forbidden, http.StatusNotFound, unavailable))...)
	rest.Post(r, "/respond", c.respond, c.guarded(ScopeAdmin,
		rest.OperationID("operatorRespond"), rest.Summary("Answer what any run waits for"), rest.Description(aboutOperatorRespond), rest.MaxBody(c.maxBody(longBody)),
		rest.Returns[engine.RespondResult](http.StatusConflict), rest.Fails(forbidden, http.StatusNotFound, unavailable))...)
	rest.Get(r, "/jobs", c.jobs, c.guarded(ScopeAdmin,
		rest.OperationID("listJobs"), rest.Summary("List jobs"), rest.Description(aboutJobs),
		rest.Fails(forbidden, unavailable))...)
	rest.Post(r, "/jobs/redrive", c.redrive, c.guarded(ScopeAdmin,
		rest.OperationID("redriveJobs"), rest.Summary("Get going again what died"), rest.Description(aboutRedrive),
		rest.Returns[redriveAnswer](http.StatusNotFound), rest.Returns[redriveAnswer](http.StatusConflict),
		rest.Fails(forbidden, unavailable, storageFull))...)
	rest.Post(r, "/jobs/purge", c.purge, c.guarded(ScopeAdmin,
		rest.OperationID("purgeJobs"), rest.Summary("Forget dead jobs"), rest.Description(aboutPurge),
		rest.Fails(forbidden, http.StatusNotFound, unavailable))...)
	rest.Post(r, "/prune", c.prune, c.guarded(ScopeAdmin,
		rest.OperationID("pruneThreads"), rest.Summary("Remove old threads"), rest.Description(aboutPrune),
		rest.Fails(forbidden, unavailable))...)
	rest.Get(r, "/audit", c.audit, c.guarded(ScopeAdmin,
		rest.OperationID("listAudit"), rest.Summary("See who did what"), rest.Description(aboutAudit),
		rest.Fails(forbidden, unavailable))...)
}

const forbidden = http.StatusForbidden

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
