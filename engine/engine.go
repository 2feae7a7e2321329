// Package engine runs agents on threads and lets clients follow them.
//
// An [Engine] has three kinds of callers. Callers that talk to a thread start, stop, answer and edit
// ([Engine.Run], [Engine.Stop], [Engine.Respond]). Workers execute runs ([Engine.Work], or
// [Engine.HandleJob] with a queue of your own). Watchers take a snapshot and follow
// ([Watcher.Snapshot], [Watcher.SSE]). The callers may be in different processes that share a backend.
//
// The package is a facade: it checks requests, and wires the parts in engine/internal. Each operation
// has a short file. Each change of a run's state is a file of engine/internal/thread, named by its
// verb: start, wait, claim, step, park, answer, expire, stop, end, dead, redrive, edit.
package engine

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/deliver"
	"github.com/spoolhq/spool/engine/internal/delta"
	"github.com/spoolhq/spool/engine/internal/endpoint"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/inspect"
	"github.com/spoolhq/spool/engine/internal/intake"
	"github.com/spoolhq/spool/engine/internal/live"
	"github.com/spoolhq/spool/engine/internal/loop"
	"github.com/spoolhq/spool/engine/internal/notify"
	"github.com/spoolhq/spool/engine/internal/publish"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/engine/internal/random"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/retention"
	"github.com/spoolhq/spool/engine/internal/revision"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/internal/schedule"
	"github.com/spoolhq/spool/engine/internal/segment"
	"github.com/spoolhq/spool/engine/internal/snapshot"
	"github.com/spoolhq/spool/engine/internal/stream"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/internal/toollist"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/engine/internal/worker"
	"github.com/spoolhq/spool/internal/inprocess"
	"github.com/spoolhq/spool/store"
)

// Engine runs agents on threads. It is safe for concurrent use. Its own methods are for callers that
// talk to threads, and for workers.
type Engine struct {
	*Watcher
	*Admin
	*parts
}

// Watcher has the methods for callers that watch threads. An [Engine] has one.
type Watcher struct{ *parts }

// Admin has the methods for operators. An [Engine] has one.
type Admin struct{ *parts }

type parts struct {
	config    Config
	artifacts store.ArtifactStore
	store     store.Store
	registry  *registry.Registry
	live      *live.Hubs
	snapshots *snapshot.Snapshots
	threads   *change.Threads
	runner    *segment.Runner
	compactor *compact.Compactor
	limits    *quota.Limiter
	intake    *intake.Handler
	remover   *retention.Remover
	reader    *inspect.Reader
	publisher *publish.Publisher
	revisions *revision.Revisions
	endpoints *endpoint.Book
	schedules *schedule.Schedules
	// deliveries is nil if nobody is told of events.
	deliveries *deliver.Deliverer

	telemetry  *telemetry.Recorder
	unobserved func()
	workers    worker.Workers
	health     worker.Health
}

// New returns an engine over the backend's ports. It returns an [spool.Invalid] error that names the
// wrong field of the configuration or the backend.
func New(b store.Backend, c Config) (*Engine, error) {
	c, agents, err := c.check()
	if err != nil {
		return nil, err
	}
	if err := checkBackend(&b, c.SingleProcess); err != nil {
		return nil, err
	}
	files, err := attach.New(c.Attachments)
	if err != nil {
		return nil, err
	}
	artifacts, err := c.artifacts(b.Store)
	if err != nil {
		return nil, err
	}
	files.Artifacts, files.KeepInline = artifacts, c.Artifacts == nil
	recorder, err := c.recorder()
	if err != nil {
		return nil, err
	}
	endpoints, err := endpoint.New(b.Store, c.Webhooks, c.Log)
	if err != nil {
		return nil, err
	}
	events := notify.New(endpoints, random.Source{From: c.Random}, b.Live)
	owned := actor.Store{Store: delta.Store{Store: b.Store, Events: events}}
	e := &parts{
		config: c, artifacts: artifacts, store: recorder.Store(owned), registry: agents, telemetry: recorder,
		endpoints: endpoints,
	}
	e.threads = &change.Threads{Store: e.store, Live: b.Live, Log: c.Log, Rules: c.rules(agents)}
	if endpoints != nil {
		e.deliveries = deliver.New(deliver.Config{
			Store: e.store, Live: b.Live, Log: c.Log, Random: e.threads.Rules.Random, Endpoints: endpoints,
			Sender: c.Webhooks.Sender, Link: c.Webhooks.Link, Keep: c.Webhooks.Keep,
		})
	}
	e.revisions = &revision.Revisions{Store: e.store}
	e.publisher = &publish.Publisher{Store: e.store, Live: b.Live}
	e.limits = c.limiter(b.Store, e.threads.Rules.Random)
	asks := &chat.Client{
		Telemetry: recorder, Prices: agents.Prices, Log: c.Log, Random: e.threads.Rules.Random,
		MaxAnswerBytes: c.Limits.AnswerBytes, Limits: e.limits,
	}
	lists := &toollist.Lists{Store: e.store, Log: c.Log}
	e.compactor = &compact.Compactor{
		Threads: e.threads, Registry: agents, Context: history.Context(c.Context), Chat: asks, ToolLists: lists,
	}
	e.runner = segment.New(segment.Host{
		Host: active.Host{
			Threads: e.threads, Registry: agents, Telemetry: recorder, Publisher: e.publisher,
			Artifacts: artifacts, StoreResults: c.Artifacts != nil, Budget: c.Budget, Limits: c.Limits,
		},
		Models:    loop.Models{Chat: asks, Compactor: e.compactor, Attachments: files},
		Revisions: e.revisions, ToolLists: lists,
		Streaming: stream.Settings{
			Live: b.Live, Log: c.Log, FlushEvery: c.Stream.FlushEvery, FlushItems: c.Stream.FlushItems,
			Grace: max(c.Stream.Grace, snapshot.RecentEnd),
		},
		OnSettle: c.OnSettle, StopPoll: c.Worker.StopPoll,
	})
	starts := right.Lookup{Thing: "a schedule", Ask: c.Schedules.MayStart, Age: c.Schedules.MaxAge}
	if c.Schedules.MaxScopes != nil {
		starts.Bound = right.Only(c.Schedules.MaxScopes)
	}
	delayed := starts
	delayed.Thing = "a delayed start"
	e.intake = &intake.Handler{
		Threads: e.threads, Registry: agents, Attachments: files, Telemetry: recorder,
		HostTx: b.HostTx, Events: events,
		Admission: &admission.Counts{Store: b.Store, Most: c.Limits.QueueDepth, MostOfTenant: c.Limits.TenantDepth},
		Rights:    delayed, CheckRoom: e.runner.CheckRoom, ReserveWorker: e.reserveWorker, AfterStop: e.runner.AfterStop,
		MaxPromptBytes: c.Limits.PromptBytes, Budget: c.Budget, StrictOptions: c.StrictProviderOptions,
	}
	e.schedules = &schedule.Schedules{
		Store: e.store, Live: b.Live, Log: c.Log, Random: e.threads.Rules.Random, Options: c.Schedules,
		Rights: starts,
		Start:  e.intake.StartAnd, Check: e.intake.Check, Paused: tellPaused(events),
	}
	if err := e.schedules.CheckFile(context.Background()); err != nil {
		return nil, err
	}
	e.reader = &inspect.Reader{Store: e.store, Rules: e.threads.Rules, MaxTenantBytes: c.Limits.TenantBytes}
	e.remover = &retention.Remover{Threads: e.threads, Retention: c.Retention, Artifacts: artifacts}
	e.snapshots = snapshot.New(snapshot.Sources{
		Own: owned, Shared: b.Store, CheckOwner: owned.CheckOwner, Streams: b.Live, Memory: int64(c.Stream.SnapshotMemory),
	})
	e.live = live.New(live.Config{
		Sources: walk.Sources{
			Store: owned, Streams: b.Live, Snapshots: e.snapshots, EndStream: e.runner.EndStream, StreamGrace: c.Stream.Grace,
		},
		Wakes: b.Live, Spread: e.threads.Rules.Random.UpTo, Log: c.Log,
		Keepalive: c.Stream.Keepalive, Poll: c.Worker.Poll, RetryHint: c.Stream.RetryHint,
	})
	if err := e.observe(); err != nil {
		return nil, err
	}
	return &Engine{parts: e, Watcher: &Watcher{e}, Admin: &Admin{e}}, nil
}

// Close ends all event streams of this process. It tells their clients when to reconnect, each at a
// different time, so that they do not all come at once. It also stops the metrics that are read on
// collection, and gives back what the engine holds of the providers' limits. Close does not stop workers, and may be
// called more than once.
func (e *Engine) Close() {
	e.live.Close()
	e.snapshots.Close()
	e.limits.Close()
	e.unobserved()
}

// checkBackend fills in the backend's defaults and validates it.
func checkBackend(b *store.Backend, single bool) error {
	switch {
	case b.Store == nil:
		return spool.Errorf(spool.Invalid, "Backend.Store is required")
	case b.Live == nil && b.Shared && !single:
		return spool.Errorf(spool.Invalid, "Backend.Live is required, because several processes may use the store: "+
			"set it, or set Config.SingleProcess if no other process does")
	case b.Live == nil:
		b.Live = NewLive(0)
	}
	return nil
}

// NewLive returns run streams in memory, and wake-ups within one process. Beyond maxBytes, it removes the
// streams that ended first. A maxBytes of zero stands for 256 MiB.
func NewLive(maxBytes int64) store.Live { return inprocess.NewLive(maxBytes) }
