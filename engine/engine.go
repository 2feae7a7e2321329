// Package engine runs agents on threads and lets clients follow them.
//
// An [Engine] is used by three kinds of caller. Those who talk to a thread start, stop,
// answer and edit ([Engine.Run], [Engine.Stop], [Engine.Respond]). Workers carry runs
// forward ([Engine.Work], or [Engine.HandleJob] for a queue of one's own). Those who
// watch take a snapshot and follow ([Watcher.Snapshot], [Watcher.SSE]). All may be
// different processes that share a backend.
//
// The package is a facade: it checks requests, and wires the parts of engine/internal. Each verb
// has a short file. Each change of a run's state is a file of engine/internal/thread, named by
// its verb: start, wait, claim, step, park, answer, expire, stop, end, dead, redrive, edit.
package engine

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/agent"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/intake"
	"github.com/spoolhq/spool/engine/internal/live"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/retention"
	"github.com/spoolhq/spool/engine/internal/snapshot"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/internal/inprocess"
)

// Config says what an engine runs and how. Agents and Models are required; the zero
// value of every other field is a good one.
type Config struct {
	// Agents are the agents by which runs are carried out. The first is the default.
	Agents []Agent
	// Models are the models by the names that agents, and starts, refer to.
	Models map[string]spool.Model

	// AuditRetention is how long entries of the audit log are kept. Workers remove older ones.
	// Negative: for ever. Defaults to 400 days.
	AuditRetention time.Duration
	// ModelAccess says by the names of Models who may have a run use them. A model that a caller
	// may not use answers like one that does not exist. Defaults to everybody.
	ModelAccess map[string]spool.Access
	// Attachments says which images a user turn may have, and who fetches them. Defaults to
	// up to 8 of up to 5 MiB in the common formats, whose URLs are given to the model.
	Attachments AttachmentOptions
	// CompactionModel names the model that summarises older messages when a history gets too
	// long. Defaults to the model of the run.
	CompactionModel string
	// CompactionTrigger is the share of a prompt's room at which older messages are
	// summarised. Negative: never, and a prompt that its provider refuses as too long fails
	// its run. Defaults to 0.8.
	CompactionTrigger float64
	// ContextCeiling bounds the tokens of a prompt and its answer where the model's window
	// has more, or is not known. Defaults to 265,000.
	ContextCeiling int
	// ContextOutputReserve is how many tokens of a window are kept for the answer, unless the
	// agent has a MaxOutputTokens. It is never more than a quarter. Defaults to 16,000.
	ContextOutputReserve int
	// ContextTailShare is the share of a prompt's room up to which the newest messages are
	// left as they are when the older ones are summarised. Defaults to 0.25.
	ContextTailShare float64
	// FlushEvery is how long items of a run stream may wait for others before they are
	// written together. Negative: each is written at once. Defaults to 50 ms.
	FlushEvery time.Duration
	// FlushItems is how many items are written together at the most. Defaults to 32.
	FlushItems int
	// Keepalive is the time between comments on an idle event stream. Defaults to 15 s.
	Keepalive time.Duration
	// Lease is how long a worker that does not report holds a run. It reports every
	// third of it. Defaults to 30 s.
	Lease time.Duration
	// Log takes what an operator should know. Defaults to [slog.Default].
	Log *slog.Logger
	// MaxAnswerBytes bounds an answer of a model: its text, its reasoning, and the arguments of
	// its calls, each of which counts 4 KiB more than it has. A longer answer is cut there, and
	// its run ends with [spool.StopLength]; calls that it has made do not run. Defaults to
	// 4 MiB, or MaxStepBytes where that is less.
	MaxAnswerBytes int
	// MaxStepBytes bounds a step: an answer and the results of its calls. In place of a result
	// for which there is no room, the model reads how long it was. Defaults to 8 MiB, or
	// MaxAnswerBytes where that is more.
	MaxStepBytes int
	// MaxAttempts is how many times in a row a step may fail for a reason that may pass,
	// before the run fails. Defaults to 3.
	MaxAttempts int
	// MaxDeaths is how many workers in a row may die in a step of a run that they carry alone,
	// before the run fails. A run is carried alone once three workers, or MaxDeaths if that is
	// less, have died in its step: after a wait, and with no other such run beside it. A run
	// that failed so leaves a dead job, which [Admin.Redrive] takes. Defaults to 10.
	MaxDeaths int
	// MaxPromptBytes bounds a prompt. Defaults to 262,144.
	MaxPromptBytes int
	// MaxQueueDepth bounds how many jobs of all tenants may be ready for a start to be
	// accepted. It is looked at four times a second, and a process counts what it accepts in
	// between: several go beyond it by what the others accept meanwhile. Zero: no bound.
	MaxQueueDepth int
	// MaxTenantBytes bounds what a tenant stores, as [spool.Tally] counts it. Beyond it, starts,
	// durable events, summaries on demand and redrives are refused with [spool.StorageFull].
	// Answers and stops are not. A run that is under way ends with [spool.StopStorageLimit] in
	// place of its next step. What runs write meanwhile, and starts that come at the same time,
	// may go beyond it. Deleting threads makes room. Zero: no bound.
	MaxTenantBytes int64
	// MaxTenantDepth is as MaxQueueDepth, and bounds the ready jobs of the tenant that starts.
	// Zero: no bound.
	MaxTenantDepth int
	// MaxWaiting bounds how many runs wait for a thread that another one has. Defaults to
	// 16.
	MaxWaiting int
	// MaxWallTime bounds how long workers carry a run. The time in which it waits for an answer,
	// a worker or the next attempt does not count. A run that reaches it ends as COMPLETED with
	// [spool.StopTimeLimit]; what it wrote is kept. It holds for every run, and nobody can raise
	// it while it runs. Negative: no bound. Defaults to an hour, or to the longest budget of time
	// that Budget, MaxBudget or the run's agent has, if that is longer.
	MaxWallTime time.Duration
	// OnSettle is called once for each run, however it ends, before its end state is
	// written, or soon after for a run that ended while it waited for the thread. It may be called again after a crash, or after it returned an error. An
	// error fails a run that would complete. Defaults to none.
	OnSettle func(ctx context.Context, s Settlement) error
	// ParkTTL is how long an answer may take where the tool does not say. Defaults to
	// 15 min.
	ParkTTL time.Duration
	// Poll is how often a worker looks for due jobs, and a follower for changes, without
	// being woken. Defaults to 1 s.
	Poll time.Duration
	// Retention is how long a thread is kept in which nothing happens. Workers then remove it
	// by themselves, as [Admin.Prune] does. Defaults to for ever.
	Retention time.Duration
	// Budget bounds each run, with all runs under it, where neither its start nor its agent
	// does. A budget of cost needs a Pricer. Defaults to no bounds.
	Budget spool.Budget
	// MaxBudget bounds the budgets that starts ask for, and is the budget of runs that have
	// none. A start that asks for more gets this. An answer that raises the budget of a run
	// cannot go beyond it, whoever gives it, and a run that has used up this much ends in place
	// of waiting for more. Defaults to no bounds.
	MaxBudget spool.Budget
	// OnBudget is what becomes of a run whose budget is used up, where its agent does not
	// say. Defaults to [spool.BudgetEnd].
	OnBudget spool.BudgetAction
	// Pricer knows what model calls cost. Defaults to none: no call has a price.
	Pricer spool.Pricer
	// Random is where ids, and the random part of waits, come from, so that a test can have the
	// same ones again. It has to be safe for concurrent use, and it must not fail. Defaults to
	// crypto/rand.
	Random io.Reader
	// RetryBackoff is the wait before the second attempt. It doubles up to
	// RetryBackoffMax, with up to a quarter more at random. Defaults to 5 s and 2 min.
	RetryBackoff, RetryBackoffMax time.Duration
	// RetryAfterMax bounds the wait that a provider asks for by Retry-After, or a model or hook by
	// [spool.RetryAfter], and that is longer than the one above. A longer wait is cut to it, and
	// never below the one above. RUN_ENDED and RUN_ERROR tell the wait as retryAfterMs. Defaults
	// to 15 min.
	RetryAfterMax time.Duration
	// RetryHint is what browsers are told to wait before they reconnect. Defaults to 1 s.
	RetryHint time.Duration
	// SnapshotMemory bounds the bytes of encoded snapshots that are kept to be shared or are
	// being sent. Beyond it, snapshots wait for those before them. Defaults to 128 MiB.
	SnapshotMemory int
	// StopPoll is how often a worker looks for a stop of its run without being woken.
	// Defaults to 500 ms.
	StopPoll time.Duration
	// StreamGrace is how long a run stream can be read after its end. Defaults to
	// 10 min.
	StreamGrace time.Duration
	// SweepEvery is how often a worker looks for runs that nothing will move. Defaults to
	// 5 s.
	SweepEvery time.Duration
	// Telemetry takes spans and metrics. Defaults to none.
	Telemetry Telemetry
	// WhenBusy is what starts do on a thread that has an active run, where neither they nor
	// their agent say. Defaults to [spool.BusyReject].
	WhenBusy spool.WhenBusy
	// Windows are the sizes of windows in tokens, by the names of Models, for models that do
	// not tell theirs. Defaults to those that are known of well-known models.
	Windows map[string]int
}

// Agent says how runs of that name are carried out.
type Agent = spool.Agent

// Spawn lets an agent hand parts of its work to nested runs.
type Spawn = spool.Spawn

// Profile is an agent that others can spawn.
type Profile = spool.Profile

// SpawnTool is the name of the tool by which an agent with a [Spawn] makes nested runs.
const SpawnTool = spool.SpawnTool

// Engine runs agents on threads. It is safe for concurrent use. Its own methods are those of callers
// that talk to threads, and of workers.
type Engine struct {
	*Watcher
	*Admin
	*parts
}

// Watcher has what the callers that watch threads do. An [Engine] has one.
type Watcher struct{ *parts }

// Admin has what operators do. An [Engine] has one.
type Admin struct{ *parts }

// parts are what an engine is made of.
type parts struct {
	config    Config
	store     spool.Store
	queue     spool.Queue
	streams   spool.Streams
	bus       spool.Bus
	registry  *registry.Registry
	live      *live.Hubs
	snapshots *snapshot.Snapshots
	threads   *change.Threads
	runner    *agent.Runner
	compactor *compact.Compactor
	desk      *intake.Desk
	remover   *retention.Remover
	reader    *inspect.Reader
	publisher *publish.Publisher

	telemetry  *telemetry.Recorder
	unobserved func()
	workers    worker.Health
}

// New returns an engine over the backend's ports. It returns an [spool.Invalid] error
// that names the field for a configuration that cannot work.
func New(b spool.Backend, c Config) (*Engine, error) {
	c, agents, err := c.check()
	if err != nil {
		return nil, err
	}
	if b.Store == nil {
		return nil, spool.Errorf(spool.Invalid, "Backend.Store is required")
	}
	if b.Bus == nil {
		b.Bus = NewBus()
	}
	if b.Streams == nil {
		b.Streams = NewStreams(0)
	}
	images, err := attach.New(attach.Options(c.Attachments))
	if err != nil {
		return nil, err
	}
	recorder, err := c.recorder()
	if err != nil {
		return nil, err
	}
	owned := actor.Store{Store: b.Store}
	e := &parts{
		config: c, store: recorder.Store(owned), queue: b.Queue, streams: b.Streams, bus: b.Bus,
		registry: agents, telemetry: recorder,
	}
	e.threads = &change.Threads{Store: e.store, Bus: e.bus, Log: c.Log, Rules: c.rules(agents)}
	e.publisher = &publish.Publisher{Store: e.store, Bus: b.Bus}
	asks := &chat.Client{
		Telemetry: recorder, Pricer: c.Pricer, Log: c.Log, Random: e.threads.Rules.Random, MaxAnswerBytes: c.MaxAnswerBytes,
	}
	e.compactor = &compact.Compactor{Threads: e.threads, Registry: agents, Limits: c.limits(), Chat: asks, Model: c.CompactionModel}
	e.runner = agent.New(agent.Host{
		Publisher: e.publisher, Compactor: e.compactor, Chat: asks,
		Threads: e.threads, Queue: b.Queue, Registry: agents, Telemetry: recorder, Attachments: images, Limits: c.limits(),
		Streaming: stream.Settings{
			Streams: b.Streams, Bus: b.Bus, Log: c.Log, FlushEvery: c.FlushEvery, FlushItems: c.FlushItems,
			Grace: max(c.StreamGrace, snapshot.RecentEnd),
		},
		OnSettle: c.OnSettle, Budget: c.Budget, MaxBudget: c.MaxBudget, MaxStepBytes: c.MaxStepBytes, MaxAttempts: c.MaxAttempts,
		MaxTenantBytes: c.MaxTenantBytes, MaxWallTime: c.MaxWallTime, StopPoll: c.StopPoll,
	})
	e.desk = &intake.Desk{
		Threads: e.threads, Registry: agents, Attachments: images, Telemetry: recorder,
		Admission: &admission.Counts{Queue: b.Queue, Most: c.MaxQueueDepth, MostOfTenant: c.MaxTenantDepth},
		CheckRoom: e.runner.CheckRoom, AfterStop: e.runner.AfterStop,
		MaxPromptBytes: c.MaxPromptBytes, Budget: c.Budget, MaxBudget: c.MaxBudget, Priced: c.Pricer != nil,
	}
	e.reader = &inspect.Reader{Store: e.store, Queue: b.Queue, Rules: e.threads.Rules, MaxTenantBytes: c.MaxTenantBytes}
	e.remover = &retention.Remover{
		Threads: e.threads, Queue: b.Queue, Streams: b.Streams, Retention: c.Retention, AuditRetention: c.AuditRetention,
	}
	e.snapshots = snapshot.New(snapshot.Sources{
		Own: owned, Shared: b.Store, CheckOwner: owned.CheckOwner, Streams: b.Streams, Memory: int64(c.SnapshotMemory),
	})
	e.live = live.New(live.Config{
		Sources: walk.Sources{
			Store: owned, Streams: b.Streams, Snapshots: e.snapshots, EndStream: e.runner.EndStream, StreamGrace: c.StreamGrace,
		},
		Bus: b.Bus, Spread: e.threads.Rules.Random.UpTo, Log: c.Log, Keepalive: c.Keepalive, Poll: c.Poll, RetryHint: c.RetryHint,
	})
	if err := e.observe(); err != nil {
		return nil, err
	}
	return &Engine{parts: e, Watcher: &Watcher{e}, Admin: &Admin{e}}, nil
}

// Close ends all event streams of this process: their clients are told when to come back,
// each a little later than the next so that they do not come all at once. It does not
// stop workers, and may be called more than once. Metrics that are read when they are
// collected are not any more.
func (e *Engine) Close() {
	e.live.Close()
	e.snapshots.Close()
	e.unobserved()
}

// NewBus returns a bus for one process.
func NewBus() spool.Bus { return inprocess.NewBus() }

// NewStreams returns run streams that live in memory and take up to the given number of
// bytes, beyond which the streams that ended first are removed. Defaults to 256 MiB.
func NewStreams(maxBytes int64) spool.Streams { return inprocess.NewStreams(maxBytes) }
