package server

import (
	"context"
	"maps"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/admin"
	"github.com/spoolhq/spool/server/aguiapi"
	"github.com/spoolhq/spool/server/aisdkapi"
	"github.com/spoolhq/spool/server/inbox"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/internal/describe"
	"github.com/spoolhq/spool/server/internal/frontpage"
	"github.com/spoolhq/spool/server/probe"
	"github.com/spoolhq/spool/server/queue"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/server/schedules"
	"github.com/spoolhq/spool/server/signin"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/server/threads"
	"github.com/spoolhq/spool/server/webhooks"
	"github.com/spoolhq/spool/wire"
)

// table has all endpoints: method, types of the request and of the answer to an accepted request, path,
// handler, operation in the document, required scope, and other answers.
type table struct {
	config  Config
	engine  *engine.Engine
	auth    *auth.Auth
	queue   *queue.Queue
	streams *stream.Streams
	absent  *aguiapi.Absences
	drain   context.Context //nolint:containedctx // the lifetime of the server
}

// Routes implements [rest.Controller].
func (t table) Routes(r *rest.Routes) {
	starts := runs.NewStarts(t.auth, t.config.Limits.StartsPerMinute, t.config.HostState)
	run := runs.Controller{
		Engine: t.engine, Streams: t.streams, Starts: starts, Events: runs.NewEvents(t.config.Limits.EventsPerMinute),
		MaxWait: t.config.MaxWait, Draining: t.drain, Log: t.config.Log,
	}
	agent := aguiapi.Controller{
		Engine: t.engine, Streams: t.streams, Starts: starts, Absences: t.absent, Log: t.config.Log,
	}
	live := stream.Controller{Engine: t.engine, Streams: t.streams, Auth: t.auth}
	thread := threads.Controller{
		Engine: t.engine, Streams: t.streams, Auth: t.auth, Base: t.config.PublicURL + t.config.BasePath,
		Uploads: &threads.Uploads{},
	}
	chat := aisdkapi.Controller{
		Engine: t.engine, Streams: t.streams, Starts: starts, Log: t.config.Log, Artifact: thread.ArtifactAddress,
	}
	ops := admin.Controller{Engine: t.engine}
	page := frontpage.Controller{
		Auth: t.auth, PublicURL: t.config.PublicURL, BasePath: t.config.BasePath, Facts: t.facts(), Console: t.config.Console,
	}
	people := signin.Controller{SignIns: t.config.SignIns, Auth: t.auth, Log: t.config.Log}
	questions := inbox.Controller{
		Engine: t.engine, Auth: t.auth, Approvers: t.config.LinkApprovers, Base: t.config.PublicURL + t.config.BasePath,
		Log: t.config.Log,
	}
	probes := probe.New(t.checks(), t.drain)
	long, images := rest.MaxBody(t.config.maxBody(call.LongBody)), rest.MaxBody(t.config.MaxBodyBytes)

	rest.Post[runs.StartInput, runs.StartAnswer](r, "/api/agent/run", run.Start, t.op("startRun", access.ScopeWrite,
		accepted, warns(http.StatusOK, http.StatusAccepted), runs.StartEnded, runs.StartRefused, runs.StartLater,
		rest.Fails(tooMany, storageFull), images, ignoreBadQuery)...)
	rest.Get[runs.OutcomeInput, wire.RunOutcome](r, "/api/agent/runs/{runId}", run.Outcome,
		t.op("getRunOutcome", access.ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Get[runs.DelayedInput, runs.DelayedStarts](r, "/api/agent/starts", run.Delayed,
		t.op("listDelayedStarts", access.ScopeRead)...)
	rest.Get[runs.OneDelayedInput, wire.DelayedStart](r, "/api/agent/starts/{runId}", run.DelayedStart,
		t.op("getDelayedStart", access.ScopeRead, rest.Fails(notFound))...)
	rest.Patch[runs.MoveInput, wire.DelayedStart](r, "/api/agent/starts/{runId}", run.MoveDelayed,
		t.op("moveDelayedStart", access.ScopeWrite, rest.Fails(notFound))...)
	rest.Delete[runs.OneDelayedInput, wire.DelayedStart](r, "/api/agent/starts/{runId}", run.CancelDelayed,
		t.op("cancelDelayedStart", access.ScopeWrite, rest.Fails(notFound))...)
	rest.Post[runs.ControlRequest, wire.StopResult](r, "/api/agent/control", run.Stop,
		t.op("stopRun", access.ScopeStop, conflict[wire.StopResult]())...)
	rest.Post[runs.CompactRequest, wire.CompactResult](r, "/api/agent/compact", run.Compact,
		t.op("compactThread", access.ScopeWrite,
			conflict[wire.CompactResult](), rest.Fails(tooMany, storageFull))...)
	rest.Post[runs.PublishRequest, runs.PublishResult](r, "/api/agent/events", run.Publish,
		t.op("publishEvent", access.ScopeWrite,
			accepted, rest.Returns[runs.PublishResult](http.StatusOK), rest.Fails(notFound, tooMany, storageFull), long)...)
	rest.Post[runs.RespondRequest, wire.RespondResult](r, "/api/agent/respond", run.Respond,
		t.op("respond", access.ScopeApprove, conflict[wire.RespondResult](), long)...)

	rest.Get[inbox.ListInput, inbox.Inbox](r, "/api/agent/inbox", questions.List,
		t.op("listInbox", access.ScopeApprove)...)
	rest.Post[inbox.InboxAnswers, inbox.InboxResults](r, "/api/agent/inbox/answers", questions.Answer,
		t.op("answerInbox", access.ScopeApprove, long)...)
	rest.Post[inbox.InboxLinkRequest, inbox.InboxLink](r, "/api/agent/inbox/links", questions.Link,
		t.op("createInboxLink", access.ScopeApprove, inbox.LinkFails)...)
	rest.Get[inbox.LinksInput, inbox.InboxLinks](r, "/api/agent/inbox/links", questions.Links,
		t.op("listInboxLinks", access.ScopeApprove)...)
	rest.Delete[inbox.RevokeInput, wire.QuestionLink](r, "/api/agent/inbox/links", questions.Revoke,
		t.op("revokeInboxLink", access.ScopeApprove, rest.Fails(notFound))...)
	rest.Get[inbox.LinkInput, inbox.Page](r, inbox.PathLink, questions.Show, rest.Name(opShowLink), rest.NoAuth(),
		rest.Hidden())
	rest.Post[inbox.DecisionInput, inbox.Page](r, inbox.PathLink, questions.Decide, rest.Name(opUseLink), rest.NoAuth(),
		rest.Hidden(), long)

	t.webhooks(r)
	t.schedules(r)

	rest.Post[signin.SignInRequest, signin.SignInStart](r, "/api/agent/sign-in", people.Begin,
		t.op("beginSignIn", access.ScopeWrite, rest.Fails(notFound))...)
	if t.config.SignIns != nil {
		rest.Get[struct{}, signin.Page](r, signin.PathStart, people.Start, rest.Name(opSignIn), rest.NoAuth(), rest.Hidden())
		rest.Get[struct{}, signin.Page](r, signin.PathCallback, people.Callback, rest.Name(opSignedIn), rest.NoAuth(),
			rest.Hidden())
		rest.Get[struct{}, signin.Document](r, signin.PathDocument, people.Metadata, rest.Name("clientMetadata"),
			rest.NoAuth(), rest.Hidden())
	}

	rest.Post[aguiapi.Input, aguiapi.Answer](r, "/api/agent/ag-ui", agent.Run, t.op("runAgent", access.ScopeWrite,
		conflict[aguiapi.AgentRefusal](), warns(http.StatusOK), rest.Fails(forbidden, notFound, tooMany, storageFull), images,
		historyMayLack)...)
	rest.Post[aguiapi.Input, aguiapi.Answer](r, "/api/agent/ag-ui/connect", agent.Connect,
		t.op("connectAgent", access.ScopeRead, rest.Fails(tooMany), images, historyMayLack)...)

	rest.Post[aisdkapi.Input, aisdkapi.Answer](r, "/api/chat", chat.Post, t.op("postChat", access.ScopeWrite,
		conflict[aisdkapi.ChatRefusal](), warns(http.StatusOK), rest.Fails(forbidden, notFound, tooMany, storageFull), images,
		historyMayLack)...)
	rest.Get[aisdkapi.MessagesInput, aisdkapi.ChatMessages](r, "/api/chat/{id}", chat.Messages,
		t.op("getChat", access.ScopeRead)...)
	rest.Get[aisdkapi.StreamInput, aisdkapi.Answer](r, "/api/chat/{id}/stream", chat.Stream,
		t.op("resumeChat", access.ScopeRead,
			rest.Returns[rest.NoContent](http.StatusNoContent), rest.Fails(tooMany))...)
	rest.Post[aisdkapi.Chat, wire.StopResult](r, "/api/chat/{id}/stop", chat.Stop,
		t.op("stopChat", access.ScopeStop, conflict[wire.StopResult]())...)

	rest.Get[threads.HistoryInput, threads.HistoryAnswer](r, "/api/agent/history", thread.History,
		t.op("getHistory", access.ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.RecordInput, threads.RecordAnswer](r, "/api/agent/record", thread.Record,
		t.op("getRecord", access.ScopeRead, rest.Fails(notFound))...)
	rest.Post[threads.ForkInput, wire.ForkResult](r, "/api/agent/fork", thread.Fork, t.op("forkThread", access.ScopeWrite,
		conflict[wire.ForkResult](), rest.Fails(notFound, storageFull))...)
	rest.Post[stream.StreamTokenRequest, stream.StreamToken](r, "/api/agent/stream-token", live.Token,
		t.op("createStreamToken", access.ScopeRead, rest.Fails(notFound))...)
	rest.Get[stream.Input, stream.Answer](r, "/api/agent/stream", live.Stream,
		t.op(opStream, access.ScopeRead, rest.Fails(notFound, tooMany))...)
	rest.Get[threads.EventsInput, threads.EventPage](r, "/api/agent/events", thread.Events,
		t.op("listEvents", access.ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.UsageInput, wire.ThreadUsage](r, "/api/agent/usage", thread.Usage,
		t.op("getUsage", access.ScopeRead, rest.Fails(notFound))...)

	rest.Get[threads.ArtifactInput, *rest.File](r, "/api/agent/artifacts/{artifactId}", thread.Artifact,
		t.op("getArtifact", access.ScopeRead, rest.Fails(notFound))...)
	rest.Post[threads.UploadInput, spool.Artifact](r, "/api/agent/artifacts", thread.Upload,
		t.op(opUpload, access.ScopeWrite,
			rest.Status(http.StatusCreated), threads.UploadFails, rest.MaxBody(thread.MaxUpload()),
			rest.SendsHeader("Location", "The URL of the artifact's data.", http.StatusCreated))...)
	rest.Post[threads.ArtifactURLInput, threads.ArtifactURL](r, "/api/agent/artifacts/{artifactId}/url",
		thread.ArtifactURL,
		t.op("createArtifactUrl", access.ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.SignedInput, *rest.File](r, "/api/agent/artifacts/{artifactId}/data", thread.Signed,
		t.op("getArtifactByUrl", noScope, threads.SignedFails, ignoreBadQuery)...)

	rest.Get[threads.BranchesInput, threads.BranchList](r, "/api/agent/branches", thread.Branches,
		t.op("listBranches", access.ScopeRead, rest.Fails(notFound))...)
	rest.Get[threads.BranchInput, wire.BranchMessages](r, "/api/agent/branches/messages", thread.Branch,
		t.op("getBranch", access.ScopeRead, rest.Fails(notFound))...)
	rest.Post[threads.RestoreRequest, wire.RestoreResult](r, "/api/agent/branches/restore", thread.Restore,
		t.op("restoreBranch", access.ScopeWrite, conflict[wire.RestoreResult]())...)

	rest.Get[threads.ListInput, threads.ThreadList](r, "/api/threads", thread.List,
		t.op("listThreads", access.ScopeRead)...)
	rest.Patch[threads.ThreadChange, wire.Thread](r, "/api/threads", thread.Change,
		t.op("updateThread", access.ScopeWrite, rest.Fails(forbidden, notFound))...)
	rest.Delete[threads.DeleteInput, wire.DeleteResult](r, "/api/threads", thread.Delete,
		t.op("deleteThread", access.ScopeWrite,
			rest.Returns[call.DeleteRefusal](http.StatusBadRequest), rest.Returns[wire.DeleteResult](notFound),
			conflict[wire.DeleteResult]())...)

	rest.Get[admin.OverviewInput, wire.Overview](r, "/api/admin/overview", ops.Overview,
		t.op("getOverview", access.ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.RunsInput, admin.RunList](r, "/api/admin/runs", ops.Runs,
		t.op("listRuns", access.ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.OneRunInput, wire.RunDetail](r, "/api/admin/runs/{runId}", ops.Run,
		t.op("getRun", access.ScopeAdmin, rest.Fails(forbidden, notFound))...)
	rest.Post[admin.OperatorStopRequest, wire.StopResult](r, "/api/admin/stop", ops.Stop,
		t.op("operatorStop", access.ScopeAdmin,
			conflict[wire.StopResult](), rest.Fails(forbidden, notFound))...)
	rest.Post[admin.OperatorRespondRequest, wire.RespondResult](r, "/api/admin/respond", ops.Respond,
		t.op("operatorRespond", access.ScopeAdmin,
			conflict[wire.RespondResult](), rest.Fails(forbidden, notFound), long)...)
	rest.Get[admin.JobsInput, admin.JobList](r, "/api/admin/jobs", ops.Jobs,
		t.op("listJobs", access.ScopeAdmin, rest.Fails(forbidden))...)
	rest.Post[admin.RedriveRequest, admin.RedriveAnswer](r, "/api/admin/jobs/redrive", ops.Redrive,
		t.op("redriveJobs", access.ScopeAdmin,
			rest.Returns[admin.RedriveAnswer](notFound), conflict[admin.RedriveAnswer](), rest.Fails(forbidden, storageFull))...)
	rest.Post[admin.PurgeRequest, admin.PurgeAnswer](r, "/api/admin/jobs/purge", ops.Purge,
		t.op("purgeJobs", access.ScopeAdmin, rest.Fails(forbidden, notFound))...)
	rest.Post[admin.PruneRequest, admin.PruneAnswer](r, "/api/admin/prune", ops.Prune,
		t.op("pruneThreads", access.ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.AuditInput, admin.AuditList](r, "/api/admin/audit", ops.Audit,
		t.op("listAudit", access.ScopeAdmin, rest.Fails(forbidden))...)

	rest.Get[admin.RevisionsInput, admin.RevisionList](r, "/api/admin/revisions", ops.Revisions,
		t.op("listRevisions", access.ScopeAdmin, rest.Fails(forbidden))...)
	rest.Get[admin.OneRevisionInput, wire.Revision](r, "/api/admin/revisions/{revision}", ops.Revision,
		t.op("getRevision", access.ScopeAdmin, rest.Fails(forbidden, notFound, http.StatusConflict))...)

	rest.Post[queue.Delivery, queue.Taken](r, "/api/queue/agent-run", t.queue.Deliver, t.op(opDelivery, noScope,
		rest.Fails(http.StatusUnauthorized, unavailable), rest.VerifyBody(t.queue),
		rest.MaxBody(t.config.maxBody(t.queue.MaxBody())))...)

	rest.Get[struct{}, frontpage.Page](r, "/", page.Show, rest.Name(opRoot), rest.NoAuth(), rest.Hidden())
	if t.config.Console != nil {
		rest.Get[frontpage.Asset, frontpage.File](r, frontpage.PathAssets, page.Asset, rest.Name("asset"), rest.NoAuth(),
			rest.Hidden())
	}
	rest.Get[struct{}, probe.Healthy](r, probe.PathHealth, probes.Health, t.op("getHealth", noScope)...)
	rest.Get[struct{}, probe.Readiness](r, probe.PathReady, probes.Ready,
		t.op("getReadiness", noScope, rest.Returns[probe.Readiness](unavailable))...)
}

// webhooks are the endpoints of who is told of events.
func (t table) webhooks(r *rest.Routes) {
	const path, one = "/api/agent/webhooks", "/api/agent/webhooks/{name}"
	hooks := webhooks.Controller{Engine: t.engine, Auth: t.auth, Tests: &webhooks.Tests{}}
	op := func(id string, options ...rest.RouteOption) []rest.RouteOption {
		return t.op(id, access.ScopeWebhooks, options...)
	}
	rest.Get[struct{}, webhooks.WebhookList](r, path, hooks.List, op("listWebhooks")...)
	rest.Post[wire.WebhookCreate, wire.WebhookMade](r, path, hooks.Create,
		op("createWebhook", created, rest.Fails(forbidden, conflicts, tooMany))...)
	rest.Get[webhooks.NameInput, wire.WebhookEndpoint](r, one, hooks.Get, op("getWebhook", rest.Fails(notFound))...)
	rest.Patch[webhooks.ChangeInput, wire.WebhookEndpoint](r, one, hooks.Change,
		op("changeWebhook", rest.Fails(forbidden, notFound, conflicts))...)
	rest.Delete[webhooks.NameInput, rest.NoContent](r, one, hooks.Remove,
		op("removeWebhook", rest.Fails(forbidden, notFound))...)
	rest.Post[webhooks.NameInput, wire.WebhookMade](r, one+"/secret", hooks.Rotate,
		op("rotateWebhookSecret", created, rest.Fails(forbidden, notFound, conflicts))...)
	rest.Delete[webhooks.NameInput, wire.WebhookEndpoint](r, one+"/secret", hooks.DropSecret,
		op("dropWebhookSecret", rest.Fails(forbidden, notFound, conflicts))...)
	rest.Get[webhooks.AttemptsInput, webhooks.WebhookAttempts](r, one+"/attempts", hooks.Attempts,
		op("listWebhookAttempts", rest.Fails(notFound))...)
	rest.Get[webhooks.DeadInput, webhooks.DeadWebhooks](r, one+"/dead", hooks.Dead,
		op("listDeadWebhooks", rest.Fails(notFound))...)
	rest.Post[webhooks.ReplayInput, wire.WebhookReplayed](r, one+"/replay", hooks.Replay,
		op("replayWebhooks", rest.Fails(notFound, conflicts))...)
	rest.Post[webhooks.NameInput, wire.WebhookAttempt](r, one+"/test", hooks.Test,
		op("testWebhook", rest.Fails(notFound, tooMany))...)
}

// schedules are the endpoints of runs that start by themselves.
func (t table) schedules(r *rest.Routes) {
	const path, one = "/api/agent/schedules", "/api/agent/schedules/{name}"
	plans := schedules.Controller{Engine: t.engine, Auth: t.auth}
	op := func(id string, options ...rest.RouteOption) []rest.RouteOption {
		return t.op(id, access.ScopeSchedules, options...)
	}
	rest.Get[schedules.ListInput, schedules.ScheduleList](r, path, plans.List, op("listSchedules")...)
	rest.Post[wire.ScheduleRequest, wire.Schedule](r, path, plans.Create,
		op("createSchedule", created, rest.Fails(forbidden, conflicts, tooMany), rest.MaxBody(t.config.maxBody(call.LongBody)))...)
	rest.Post[wire.ScheduleRule, wire.SchedulePreview](r, path+"/preview", plans.Preview, op("previewSchedule")...)
	rest.Get[schedules.NameInput, wire.Schedule](r, one, plans.Get, op("getSchedule", rest.Fails(notFound))...)
	rest.Patch[schedules.ChangeInput, wire.Schedule](r, one, plans.Change,
		op("changeSchedule", rest.Fails(forbidden, notFound, conflicts), rest.MaxBody(t.config.maxBody(call.LongBody)))...)
	rest.Delete[schedules.NameInput, rest.NoContent](r, one, plans.Remove,
		op("removeSchedule", rest.Fails(notFound, conflicts))...)
	rest.Post[schedules.PauseInput, wire.Schedule](r, one+"/pause", plans.Pause,
		op("pauseSchedule", rest.Fails(notFound))...)
	rest.Post[schedules.NameInput, wire.Schedule](r, one+"/resume", plans.Resume,
		op("resumeSchedule", rest.Fails(notFound))...)
	rest.Post[schedules.NameInput, wire.ScheduleTick](r, one+"/run", plans.RunNow,
		op("runSchedule", rest.Fails(notFound))...)
	rest.Get[schedules.TicksInput, schedules.ScheduleTicks](r, one+"/ticks", plans.Ticks,
		op("listScheduleTicks", rest.Fails(notFound))...)
}

// Operations that the middleware treats differently.
const (
	opDelivery = "deliverJob"
	opStream   = "streamThread"
	opUpload   = "uploadArtifact"
	opRoot     = "root"
	opSignIn   = "signIn"
	opSignedIn = "signedIn"
	opShowLink = "showInboxLink"
	opUseLink  = "useInboxLink"
)

const (
	forbidden   = http.StatusForbidden
	notFound    = http.StatusNotFound
	conflicts   = http.StatusConflict
	tooMany     = http.StatusTooManyRequests
	unavailable = http.StatusServiceUnavailable
	storageFull = http.StatusInsufficientStorage
)

var (
	accepted = rest.Status(http.StatusAccepted)
	created  = rest.Status(http.StatusCreated)
	// ignoreBadQuery lets a start have any query, because queries were ignored before there was wait. A signed URL with a
	// wrong query is refused as every wrong one.
	ignoreBadQuery = rest.Tolerate(append(tolerances(), rest.BrokenQuery)...)
	// historyMayLack accepts messages of the history without fields that clients leave out, because these
	// messages do not count.
	historyMayLack = rest.Tolerate(append(tolerances(), rest.AbsentFields)...)
)

// warns documents the header with what a start has ignored.
func warns(statuses ...int) rest.RouteOption {
	return rest.SendsHeader("X-Spool-Warning", "What was ignored of the request, for a person. Left out: nothing.",
		statuses...)
}

// conflict is the answer to a refused request: the result of the operation, with a reason.
func conflict[T any]() rest.RouteOption { return rest.Returns[T](http.StatusConflict) }

// noScope is the scope of endpoints without authentication.
const noScope access.Scope = ""

// alsoNeeded are the scopes that endpoints check besides the one of their row. An operator needs no second one.
var alsoNeeded = map[string]access.Scope{
	"runAgent": access.ScopeRead, "postChat": access.ScopeRead, "operatorStop": access.ScopeStop,
	"operatorRespond": access.ScopeApprove, "createSchedule": access.ScopeWrite, "changeSchedule": access.ScopeWrite,
}

// op returns the options of the endpoint with the operation id, whose caller needs a scope.
func (t table) op(id string, need access.Scope, options ...rest.RouteOption) []rest.RouteOption {
	w := describe.Operation(id)
	options = append(options, rest.Name(id), rest.OperationID(id), rest.Summary(w.Summary), rest.Tags(w.Group))
	if need == noScope {
		return append(options, rest.NoAuth())
	}
	options = append(options, rest.Fails(unavailable))
	if t.config.Loopback {
		options = append(options, rest.Fails(forbidden))
	}
	if t.auth.Everybody == nil && t.config.Limits.FailedLogins > 0 {
		options = append(options, rest.Fails(tooMany))
	}
	return append(options, t.auth.Options(need, alsoNeeded[id], id == opStream)...)
}

func (t table) facts() []frontpage.Fact {
	facts := make([]frontpage.Fact, len(t.config.Facts))
	for i, f := range t.config.Facts {
		facts[i] = frontpage.Fact(f)
	}
	return facts
}

// checks returns the checks of GET /readyz.
func (t table) checks() map[string]probe.Check {
	checks := make(map[string]probe.Check)
	maps.Copy(checks, t.config.Checks)
	checks["store"] = t.engine.CheckStore
	return checks
}
