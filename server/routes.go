package server

import (
	"cmp"
	"maps"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/admin"
	"github.com/spoolhq/spool/server/agui/endpoint"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/describe"
	"github.com/spoolhq/spool/server/internal/frontpage"
	"github.com/spoolhq/spool/server/internal/wire"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/queue"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/server/threads"
)

// newAPI registers the controllers.
func (s *Server) newAPI() *rest.API {
	api := rest.New(append(s.bodyRules(),
		rest.Title("Spool"), rest.Version("1"), rest.About(describe.API), rest.BasePath(s.config.BasePath),
		rest.Servers(cmp.Or(s.config.PublicURL, "/")),
		rest.Errors(call.ErrorBodies{}), rest.MapError(call.MapError), rest.StrictSlashes(), rest.Logger(call.Log(s.config.Log)), rest.Use(s.front), rest.SchemaNames(wire.Names()),
	)...)
	wire.Document(api)
	api.Register(table{s}, rest.Namespace(""))
	describe.Document(api, s.config.Loopback)
	describe.Agents(api, s.config.BasePath)
	return api
}

// table has all endpoints: method, request and reply of an accepted request, path, handler, the
// operation in the document, the scope that its caller needs, and what else it answers.
type table struct{ *Server }

// Routes implements [rest.Controller].
func (s table) Routes(r *rest.Routes) {
	starts := runs.NewStarts(s.config.Limits.StartsPerMinute, s.config.HostState)
	run := runs.Controller{Engine: s.engine, Streams: s.streams, Starts: starts, MaxWait: s.config.MaxWait, Draining: s.drain, Log: s.config.Log}
	agent := endpoint.Controller{Engine: s.engine, Streams: s.streams, Starts: starts, Log: s.config.Log}
	live := stream.Controller{Engine: s.engine, Streams: s.streams, Auth: s.auth}
	thread := threads.Controller{Engine: s.engine, Streams: s.streams}
	ops := admin.Controller{Engine: s.engine}
	front := frontpage.Controller{Auth: s.auth, PublicURL: s.config.PublicURL, BasePath: s.config.BasePath, Facts: s.config.Facts}
	probes := probe.New(s.checks(), s.drain)
	long, images := rest.MaxBody(s.maxBody(call.LongBody)), rest.MaxBody(s.config.MaxBodyBytes)

	rest.Post[runs.StartInput, runs.StartAnswer](r, "/api/agent/run", run.Start, s.op("startRun", ScopeWrite,
		accepted, runs.StartEnded, runs.StartRefused, runs.StartLater, rest.Fails(tooMany, storageFull), images, ignoreBadQuery)...)
	rest.Get[runs.OutcomeInput, engine.Outcome](r, "/api/agent/runs/{runId}", run.Outcome, s.op("getRunOutcome", ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Post[runs.ControlRequest, engine.StopResult](r, "/api/agent/control", run.Stop, s.op("stopRun", ScopeStop, conflict[engine.StopResult]())...)
	rest.Post[runs.CompactRequest, engine.CompactResult](r, "/api/agent/compact", run.Compact, s.op("compactThread", ScopeWrite,
		conflict[engine.CompactResult](), rest.Fails(tooMany, storageFull))...)
	rest.Post[runs.PublishRequest, runs.PublishResult](r, "/api/agent/events", run.Publish, s.op("publishEvent", ScopeWrite,
		accepted, rest.Returns[runs.PublishResult](http.StatusOK), rest.Fails(notFound, storageFull), long)...)
	rest.Post[runs.RespondRequest, engine.RespondResult](r, "/api/agent/respond", run.Respond, s.op("respond", ScopeApprove, conflict[engine.RespondResult](), long)...)

	rest.Post[endpoint.Input, endpoint.Answer](r, "/api/agent/ag-ui", agent.Run, s.op("runAgent", ScopeWrite,
		conflict[endpoint.AgentRefusal](), rest.Fails(forbidden, notFound, tooMany, storageFull), images, historyMayLack)...)
	rest.Post[endpoint.Input, endpoint.Answer](r, "/api/agent/ag-ui/connect", agent.Connect, s.op("connectAgent", ScopeRead, rest.Fails(tooMany), images, historyMayLack)...)

	rest.Get[threads.HistoryInput, threads.HistoryAnswer](r, "/api/agent/history", thread.History, s.op("getHistory", ScopeRead, rest.Fails(notFound))...)
	rest.Post[stream.StreamTokenRequest, stream.StreamToken](r, "/api/agent/stream-token", live.Token, s.op("createStreamToken", ScopeRead, rest.Fails(notFound))...)
	rest.Get[stream.Input, stream.Answer](r, "/api/agent/stream", live.Stream, s.op(opStream, ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Get[threads.EventsInput, threads.EventPage](r, "/api/agent/events", thread.Events, s.op("listEvents", ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.UsageInput, spool.ThreadUsage](r, "/api/agent/usage", thread.Usage, s.op("getUsage", ScopeRead, rest.Fails(notFound))...)

	rest.Get[threads.BranchesInput, threads.BranchList](r, "/api/agent/branches", thread.Branches, s.op("listBranches", ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.BranchInput, engine.BranchMessages](r, "/api/agent/branches/messages", thread.Branch, s.op("getBranch", ScopeRead, rest.Fails(notFound))...)
	rest.Post[threads.RestoreRequest, engine.RestoreResult](r, "/api/agent/branches/restore", thread.Restore, s.op("restoreBranch", ScopeWrite, conflict[engine.RestoreResult]())...)

	rest.Get[threads.ListInput, threads.ThreadList](r, "/api/threads", thread.List, s.op("listThreads", ScopeRead)...)
	rest.Patch[threads.ThreadChange, spool.Thread](r, "/api/threads", thread.Change, s.op("updateThread", ScopeWrite, rest.Fails(forbidden, notFound))...)
	rest.Delete[threads.DeleteInput, engine.DeleteResult](r, "/api/threads", thread.Delete, s.op("deleteThread", ScopeWrite,
		rest.Returns[call.DeleteRefusal](http.StatusBadRequest), rest.Returns[engine.DeleteResult](notFound), conflict[engine.DeleteResult]())...)

	rest.Get[admin.OverviewInput, engine.Overview](r, "/api/admin/overview", ops.Overview, s.op("getOverview", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.RunsInput, admin.RunList](r, "/api/admin/runs", ops.Runs, s.op("listRuns", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.OneRunInput, engine.RunDetail](r, "/api/admin/runs/{runId}", ops.Run, s.op("getRun", ScopeAdmin, rest.Fails(forbidden, notFound))...)
	rest.Post[admin.OperatorStopRequest, engine.StopResult](r, "/api/admin/stop", ops.Stop, s.op("operatorStop", ScopeAdmin,
		conflict[engine.StopResult](), rest.Fails(forbidden, notFound))...)
	rest.Post[admin.OperatorRespondRequest, engine.RespondResult](r, "/api/admin/respond", ops.Respond, s.op("operatorRespond", ScopeAdmin,
		conflict[engine.RespondResult](), rest.Fails(forbidden, notFound), long)...)
	rest.Get[admin.JobsInput, admin.JobList](r, "/api/admin/jobs", ops.Jobs, s.op("listJobs", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Post[admin.RedriveRequest, admin.RedriveAnswer](r, "/api/admin/jobs/redrive", ops.Redrive, s.op("redriveJobs", ScopeAdmin,
		rest.Returns[admin.RedriveAnswer](notFound), conflict[admin.RedriveAnswer](), rest.Fails(forbidden, storageFull))...)
	rest.Post[admin.PurgeRequest, admin.PurgeAnswer](r, "/api/admin/jobs/purge", ops.Purge, s.op("purgeJobs", ScopeAdmin, rest.Fails(forbidden, notFound))...)
	rest.Post[admin.PruneRequest, admin.PruneAnswer](r, "/api/admin/prune", ops.Prune, s.op("pruneThreads", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.AuditInput, admin.AuditList](r, "/api/admin/audit", ops.Audit, s.op("listAudit", ScopeAdmin, rest.Fails(forbidden))...)

	rest.Post[queue.Delivery, queue.Taken](r, "/api/queue/agent-run", s.queue.Deliver, s.op(opDelivery, noScope,
		rest.Fails(http.StatusUnauthorized, unavailable), rest.VerifyBody(s.queue), rest.MaxBody(s.maxBody(s.queue.MaxBody())))...)

	rest.Get[struct{}, frontpage.Page](r, "/", front.Show, rest.Name(opRoot), rest.NoAuth(), rest.Hidden())
	rest.Get[struct{}, probe.Healthy](r, probe.PathHealth, probes.Health, s.op("getHealth", noScope)...)
	rest.Get[struct{}, probe.Readiness](r, probe.PathReady, probes.Ready, s.op("getReadiness", noScope, rest.Returns[probe.Readiness](unavailable))...)
}

// Operations that are treated differently by what stands before the routes.
const (
	opDelivery = "deliverJob"
	opStream   = "streamThread"
	opRoot     = "root"
)

const (
	forbidden   = http.StatusForbidden
	notFound    = http.StatusNotFound
	tooMany     = http.StatusTooManyRequests
	unavailable = http.StatusServiceUnavailable
	storageFull = http.StatusInsufficientStorage
)

var (
	accepted = rest.Status(http.StatusAccepted)
	// ignoreBadQuery takes a start whatever its query is, which was ignored before there was wait.
	ignoreBadQuery = rest.Tolerate(append(tolerances(), rest.BrokenQuery)...)
	// historyMayLack takes what clients leave out of the messages that do not count.
	historyMayLack = rest.Tolerate(append(tolerances(), rest.AbsentFields)...)
)

// conflict is the answer that a request is refused with: the result of the operation, with a reason.
func conflict[T any]() rest.RouteOption { return rest.Returns[T](http.StatusConflict) }

// noScope is of endpoints that ask nobody who they are.
const noScope Scope = ""

// op returns the options of the endpoint with the operation id, whose caller needs a scope.
func (s *Server) op(id string, need Scope, options ...rest.RouteOption) []rest.RouteOption {
	w := describe.Operation(id)
	options = append(options, rest.Name(id), rest.OperationID(id), rest.Summary(w.Summary), rest.Description(w.About), rest.Tags(w.Group))
	if need == noScope {
		return append(options, rest.NoAuth())
	}
	options = append(options, rest.Fails(unavailable))
	if s.config.Loopback {
		options = append(options, rest.Fails(forbidden))
	}
	if s.auth.Everybody == nil && s.config.Limits.FailedLogins > 0 {
		options = append(options, rest.Fails(tooMany))
	}
	return append(options, s.auth.Options(need, id == opStream)...)
}

// checks returns what GET /readyz looks at.
func (s *Server) checks() map[string]Check {
	checks := make(map[string]Check)
	maps.Copy(checks, s.config.Checks)
	checks["store"] = s.engine.CheckStore
	return checks
}
