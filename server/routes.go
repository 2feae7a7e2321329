package server

import (
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/admin"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/describe"
	"github.com/spoolhq/spool/server/queue"
)

// Groups of controllers. Each has the endpoints of one subject, in files of their names.
type (
	runs     struct{ *Server } // start, stop and unblock the work on a thread
	agents   struct{ *Server } // the same for clients that speak AG-UI
	follow   struct{ *Server } // show one thread
	branches struct{ *Server } // what edits, rollbacks and restores have replaced
	threads  struct{ *Server } // the list of threads
	health   struct{ *Server } // whether the process answers, and whether it should be asked
)

// table has all endpoints: method, request and reply of an accepted request, path, handler, the
// operation in the document, the scope that its caller needs, and what else it answers.
type table struct{ *Server }

// Routes implements [rest.Controller].
func (t table) Routes(r *rest.Routes) {
	s := t.Server
	run, agent, show, branch, list, ops := runs{s}, agents{s}, follow{s}, branches{s}, threads{s}, admin.Controller{Engine: s.engine}
	long, images := rest.MaxBody(s.maxBody(call.LongBody)), rest.MaxBody(s.config.MaxBodyBytes)

	rest.Post[runInput, startAnswer](r, "/api/agent/run", run.start, s.op("startRun", ScopeWrite,
		accepted, startEnded, startRefused, startLater, rest.Fails(tooMany, storageFull), images, ignoreBadQuery)...)
	rest.Get[outcomeInput, engine.Outcome](r, "/api/agent/runs/{runId}", run.outcome, s.op("getRunOutcome", ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Post[controlRequest, engine.StopResult](r, "/api/agent/control", run.stop, s.op("stopRun", ScopeStop, conflict[engine.StopResult]())...)
	rest.Post[compactRequest, engine.CompactResult](r, "/api/agent/compact", run.compact, s.op("compactThread", ScopeWrite,
		conflict[engine.CompactResult](), rest.Fails(tooMany, storageFull))...)
	rest.Post[publishRequest, publishResult](r, "/api/agent/events", run.publish, s.op("publishEvent", ScopeWrite,
		accepted, rest.Returns[publishResult](http.StatusOK), rest.Fails(notFound, storageFull), long)...)
	rest.Post[respondRequest, engine.RespondResult](r, "/api/agent/respond", run.respond, s.op("respond", ScopeApprove, conflict[engine.RespondResult](), long)...)

	rest.Post[agentInput, agentAnswer](r, "/api/agent/ag-ui", agent.run, s.op("runAgent", ScopeWrite,
		conflict[agentRefusal](), rest.Fails(forbidden, notFound, tooMany, storageFull), images, historyMayLack)...)
	rest.Post[agentInput, agentAnswer](r, "/api/agent/ag-ui/connect", agent.connect, s.op("connectAgent", ScopeRead, rest.Fails(tooMany), images, historyMayLack)...)

	rest.Get[historyInput, historyAnswer](r, "/api/agent/history", show.history, s.op("getHistory", ScopeRead, rest.Fails(notFound))...)
	rest.Post[streamTokenRequest, streamToken](r, "/api/agent/stream-token", show.token, s.op("createStreamToken", ScopeRead, rest.Fails(notFound))...)
	rest.Get[streamInput, streamAnswer](r, "/api/agent/stream", show.stream, s.op(opStream, ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Get[eventsInput, eventPage](r, "/api/agent/events", show.events, s.op("listEvents", ScopeRead, rest.Fails(notFound))...)
	rest.Get[usageInput, spool.ThreadUsage](r, "/api/agent/usage", show.usage, s.op("getUsage", ScopeRead, rest.Fails(notFound))...)

	rest.Get[branchesInput, branchList](r, "/api/agent/branches", branch.list, s.op("listBranches", ScopeRead, rest.Fails(notFound))...)
	rest.Get[branchInput, engine.BranchMessages](r, "/api/agent/branches/messages", branch.messages, s.op("getBranch", ScopeRead, rest.Fails(notFound))...)
	rest.Post[restoreRequest, engine.RestoreResult](r, "/api/agent/branches/restore", branch.restore, s.op("restoreBranch", ScopeWrite, conflict[engine.RestoreResult]())...)

	rest.Get[threadsInput, threadList](r, "/api/threads", list.list, s.op("listThreads", ScopeRead)...)
	rest.Patch[threadChange, spool.Thread](r, "/api/threads", list.change, s.op("updateThread", ScopeWrite, rest.Fails(forbidden, notFound))...)
	rest.Delete[deleteInput, engine.DeleteResult](r, "/api/threads", list.remove, s.op("deleteThread", ScopeWrite,
		rest.Returns[call.DeleteRefusal](http.StatusBadRequest), rest.Returns[engine.DeleteResult](notFound), conflict[engine.DeleteResult]())...)

	rest.Get[admin.OverviewInput, admin.Overview](r, "/api/admin/overview", ops.Overview, s.op("getOverview", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.RunsInput, admin.RunList](r, "/api/admin/runs", ops.Runs, s.op("listRuns", ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.OneRunInput, admin.RunDetail](r, "/api/admin/runs/{runId}", ops.Run, s.op("getRun", ScopeAdmin, rest.Fails(forbidden, notFound))...)
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

	probe := health{s}
	rest.Get[struct{}, rootAnswer](r, "/", probe.root, rest.Name(opRoot), rest.NoAuth(), rest.Hidden())
	rest.Get[struct{}, healthy](r, pathHealth, probe.check, s.op("getHealth", noScope)...)
	rest.Get[struct{}, readiness](r, pathReady, probe.ready, s.op("getReadiness", noScope, rest.Returns[readiness](unavailable))...)
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
	// challenges documents what a gate says of the credentials that it wants.
	challenges = rest.SendsHeader("WWW-Authenticate", "How to authenticate.", http.StatusUnauthorized)
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
	if s.everybody != nil {
		return append(options, rest.NoAuth())
	}
	if s.config.Limits.FailedLogins > 0 {
		options = append(options, rest.Fails(tooMany))
	}
	g := gate{s, need}
	asked := rest.Auth(g)
	if id == opStream { // which a token opens too
		asked = rest.Auth(tokenGate{s}, g)
	}
	return append(options, asked, rest.Permit(g), challenges)
}
