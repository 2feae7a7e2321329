// Package intake handles the requests of callers: starts, answers and changes. It validates them, runs
// their transitions, and does the work that follows the commit.
package intake

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/delta"
	"github.com/spoolhq/spool/engine/internal/later"
	"github.com/spoolhq/spool/engine/internal/notify"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/right"
	"github.com/spoolhq/spool/engine/internal/telemetry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Handler handles requests.
type Handler struct {
	*change.Threads

	// HostTx is the [store.Backend.HostTx].
	HostTx string
	// Events finds the events of commits, for those of the host's transactions.
	Events      *notify.Hook
	Registry    *registry.Registry
	Attachments *attach.Files
	Admission   *admission.Counts
	Telemetry   *telemetry.Recorder
	// Rights looks up what the makers of delayed starts may do.
	Rights right.Lookup
	// CheckRoom refuses a tenant that has reached its storage limit.
	CheckRoom func(ctx context.Context, tenant spool.Tenant) error
	// ReserveWorker reserves a worker of this process for the first ticket of a run. It returns nil if no worker is ready
	// for it. It must not block, because the run's thread is locked.
	ReserveWorker func(ticket wire.Job) *ReservedWorker
	// AfterStop does the work that has to follow the stop of a run.
	AfterStop func(ctx context.Context, key spool.ThreadKey, stopped thread.Stopped) error

	MaxPromptBytes int
	// StrictOptions refuses provider options that the agent does not allow, which are ignored otherwise.
	StrictOptions bool
	Budget        option.Budget
}

// Start starts a run in a transaction of its own.
func (h *Handler) Start(ctx context.Context, key spool.ThreadKey, r wire.StartRequest) (wire.RunResult, error) {
	return h.StartAnd(ctx, key, r, func(store.Tx) error { return nil })
}

// StartAnd starts a run, and calls also in the transaction of the start if the start is accepted. What also writes is
// saved with the start or not at all, and an error of also is that of StartAnd. The store may run the transaction
// twice.
func (h *Handler) StartAnd(
	ctx context.Context, key spool.ThreadKey, r wire.StartRequest, also func(tx store.Tx) error,
) (wire.RunResult, error) {
	worker := &reservation{reserve: h.ReserveWorker}
	defer worker.release()
	result, follow, err := h.start(ctx, startCall{db: h.Store, worker: worker, also: also}, key, r)
	if follow != nil {
		follow()
	}
	return result, err
}

// StartTx starts a run in the transaction of the host. The returned function does the work that follows the
// commit. It is not nil.
func (h *Handler) StartTx(
	ctx context.Context, host store.HostTx, key spool.ThreadKey, r wire.StartRequest,
) (wire.RunResult, func(), error) {
	if err := host.Check(h.HostTx); err != nil {
		return wire.RunResult{}, func() {}, err
	}
	events, wake := h.Events.Deferred()
	result, follow, err := h.start(ctx, startCall{
		db:   actor.Store{Store: delta.Store{Store: hosted{h.Store, host}, Events: events}},
		also: func(store.Tx) error { return nil },
	}, key, r)
	if follow == nil {
		follow = func() {}
	}
	return result, func() {
		follow()
		wake()
	}, err
}

// hosted is a store whose transactions are parts of the host's. Its reads do not see the host's writes.
type hosted struct {
	store.Store

	host store.HostTx
}

// Update implements [store.Store].
func (s hosted) Update(ctx context.Context, key spool.ThreadKey, _ int64, fn func(tx store.Tx) error) error {
	return s.host.Update(ctx, key, fn)
}

// startCall says how a start is made.
type startCall struct {
	// db has the transaction.
	db store.Store
	// worker claims the run, if one is ready. Nil: none does.
	worker *reservation
	// also is called in the transaction of an accepted start.
	also func(tx store.Tx) error
	// due says that the start has waited for its time, and has its run id and its idempotency key.
	due bool
}

// start starts a run, or keeps it for its time. If it is accepted, the returned function does the work that follows the
// commit.
func (h *Handler) start(
	ctx context.Context, call startCall, key spool.ThreadKey, r wire.StartRequest,
) (result wire.RunResult, follow func(), err error) {
	again := repeatOf(ctx, key.ID, r)
	var taken []store.Row // by a delayed start, if there are such rows
	if !call.due {
		taken = later.Free(r.RunID, again.key)
	}
	if err := h.checkIDs(&key, &r); err != nil {
		return wire.RunResult{}, nil, err
	}
	asked := r
	held, err := h.agentOf(ctx, key, &r)
	if err != nil {
		return wire.RunResult{}, nil, err
	}
	agent, files, warning, err := h.checkStart(key, &r)
	if err != nil {
		return wire.RunResult{}, nil, err
	}
	if err := h.Registry.CheckPrices(
		ctx, agent, r.Budget, &registry.Caller{Model: r.Model, Tenant: key.Tenant, Scopes: r.Scopes},
	); err != nil {
		return wire.RunResult{}, nil, err
	}
	if warning != "" {
		h.Concerning(key, r.RunID).WarnContext(ctx, "a start asked for what its agent does not allow", "warning", warning)
		defer func() { result.Warning = warning }()
	}
	if again.key != "" {
		r.Agent, r.IdempotencyKey, r.Title = agent.Name, again.key, cmp.Or(r.Title, title(r.Prompt))
		again.meant = hashOf(r)
	}
	if first, found, err := h.started(ctx, key.Tenant, again); found || err != nil {
		return first, nil, err
	}
	if err := h.CheckRoom(ctx, key.Tenant); err != nil {
		return wire.RunResult{}, nil, err
	}
	if waits(r) && !call.due {
		return h.delay(ctx, call, key, asked, agent.Name, again)
	}
	if r.Webhook, err = h.Events.SealWebhook(key.Tenant, r.Webhook); err != nil {
		return wire.RunResult{}, nil, err
	}
	admitted, room, err := h.Admission.Admit(ctx, key.Tenant)
	switch {
	case err != nil:
		return wire.RunResult{}, nil, err
	case !room:
		return wire.RunResult{
			ThreadID: key.ID, Reason: wire.ReasonQueueFull, Error: "Too many runs wait for a worker",
			RetryAfter: admission.RetryAfter,
		}, nil, nil
	}
	if files, err = h.Attachments.Store(ctx, key, files); err != nil {
		h.Admission.Release(key.Tenant, admitted)
		return wire.RunResult{}, nil, err
	}
	var out thread.Started
	request := transitionOf(r, agent)
	request.Run.StartHash = again.hash()
	request.Content = append(request.Content, files...)
	request.ReserveWorker = call.worker.forTicket
	request.Run.Held = held
	sent := time.Now()
	err = call.db.Update(ctx, key, 0, func(tx store.Tx) (err error) {
		if out, err = thread.Start(tx, key, request, h.Rules); err != nil {
			return err
		}
		if len(taken) > 0 { // behind the start, which says why somebody else's thread cannot be used
			if err := tx.Write(store.Changes{Rows: taken}); err != nil {
				return err
			}
		}
		if err := call.also(tx); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, out.Audit...)
	})
	if err = thread.Refusal(err); err != nil || out.Claimed != nil || out.Position > 0 { // no worker has to claim a job
		h.Admission.Release(key.Tenant, admitted)
	}
	var no *thread.RefusedError
	switch {
	case err == nil:
		result := wire.RunResult{
			Accepted: true, ThreadID: key.ID, RunID: r.RunID, State: wire.Queued, Position: out.Position, Steers: out.Steers,
		}
		return result, func() { h.accepted(ctx, key, r.RunID, out, call.worker, sent) }, nil
	case errors.As(err, &no):
		// The same start may have been accepted while this one waited for the thread, or may wait for its time.
		if first, found, err := h.started(ctx, key.Tenant, again); found || err != nil {
			return first, nil, err
		}
		if first, found, err := h.delayed(ctx, key, again, ""); !call.due && (found || err != nil) {
			return first, nil, err
		}
		return wire.RunResult{ThreadID: key.ID, Reason: no.Reason, Error: no.Text}, nil, nil
	case len(taken) > 0 && errors.Is(err, store.ErrRowChanged):
		if first, found, err := h.taken(ctx, key, again, r.RunID); found || err != nil {
			return first, nil, err
		}
		return wire.RunResult{}, nil, err
	default:
		return wire.RunResult{}, nil, err
	}
}

// accepted does the work that follows the commit of a start.
func (h *Handler) accepted(
	ctx context.Context, key spool.ThreadKey, run spool.RunID, out thread.Started, worker *reservation, sent time.Time,
) {
	h.Telemetry.Started(ctx, key.Tenant, run) // before the span of its first segment, which links to it
	if out.Claimed != nil {
		out.Claimed.Sent = sent
		worker.execute(out.Claimed) // it announces the run, when its stream is open
	} else {
		h.Announce(key, true)
	}
	actor.Log(ctx, h.Log, out.Audit...)
	if err := h.AfterStop(ctx, key, out.Stopped); err != nil { // the start is accepted even if this fails
		h.Concerning(key, "").WarnContext(ctx, "settle interrupted run", "error", err)
	}
}

// transitionOf returns a validated request in the form that the transition takes.
func transitionOf(r wire.StartRequest, agent *registry.Agent) thread.StartRequest {
	var client *wire.ClientInput
	if !r.Client.Empty() {
		client = &r.Client
	}
	var output *store.RunOutput
	if r.Output != nil {
		output = &store.RunOutput{Schema: r.Output}
	}
	return thread.StartRequest{
		Run: store.RunRow{
			Run: wire.Run{
				ID: r.RunID, Agent: agent.Name, Model: r.Model, MaxSteps: r.MaxSteps, Allowance: budget.Of(r.Budget),
				StartedBy: r.By,
			},
			RunState: store.RunState{
				StartKey: r.IdempotencyKey, HostState: r.HostState, Scopes: r.Scopes, ProviderOptions: r.ProviderOptions,
				Client: client, Output: output, Options: otherOptions(r.StartOptions),
			},
		},
		Content: contentOf(r), ClientMessageID: r.ClientMessageID, Title: cmp.Or(r.Title, title(r.Prompt)), Labels: r.Labels,
		EditMessageID: r.EditMessageID, WhenBusy: r.WhenBusy, MayNotStop: r.MayNotStop,
	}
}

// checkIDs fills in the ids that a request leaves out, and validates the others.
func (h *Handler) checkIDs(key *spool.ThreadKey, r *wire.StartRequest) error {
	if key.ID == "" {
		key.ID = spool.ThreadID(h.Rules.Random.ID("thr"))
	}
	if r.RunID == "" {
		r.RunID = spool.RunID(h.Rules.Random.ID("run"))
	}
	for _, id := range []struct{ field, value string }{
		{"threadId", string(key.ID)},
		{"runId", string(r.RunID)},
		{"editMessageId", string(r.EditMessageID)},
		{"clientMessageId", r.ClientMessageID},
		{"Idempotency-Key", r.IdempotencyKey},
	} {
		if id.value == "" {
			continue
		}
		if err := spool.CheckID(id.field, id.value); err != nil {
			return err
		}
	}
	return nil
}

// checkStart fills in a request's other defaults and validates it. Files are the parts of its attachments, and the
// warning says what it has left out.
func (h *Handler) checkStart(
	key spool.ThreadKey, r *wire.StartRequest,
) (agent *registry.Agent, files spool.Content, warning string, err error) {
	if err := cmp.Or(wire.CheckTitle(r.Title), wire.CheckLabels(r.Labels)); err != nil {
		return nil, nil, "", err
	}
	agent = h.Registry.For(r.Agent, key.Tenant, r.Scopes)
	if agent == nil {
		return nil, nil, "", spool.Errorf(spool.Invalid, "agent: there is none of the name %q", r.Agent)
	}
	if r.Model == "" {
		r.Model = agent.Model
	}
	if r.WhenBusy = cmp.Or(r.WhenBusy, agent.WhenBusy); r.MayNotStop && r.WhenBusy.Stops() {
		r.WhenBusy = spool.BusyReject
	}
	if !h.Registry.HasModelFor(r.Model, key.Tenant, r.Scopes) {
		return nil, nil, "", spool.Errorf(spool.Invalid, "model: there is none of the name %q", r.Model)
	}
	switch {
	case r.Prompt == "" && len(r.Attachments) == 0:
		return nil, nil, "", spool.Errorf(spool.Invalid, "prompt is required")
	case len(r.Prompt) > h.MaxPromptBytes:
		return nil, nil, "", spool.Errorf(spool.Invalid, "prompt is longer than %d bytes", h.MaxPromptBytes)
	case !utf8.ValidString(r.Prompt):
		return nil, nil, "", spool.Errorf(spool.Invalid, "prompt is not valid UTF-8")
	case !r.WhenBusy.Known():
		return nil, nil, "", spool.Errorf(spool.Invalid,
			"whenBusy must be reject, enqueue, latest, interrupt, rollback or steer")
	case checkStartAt(r.StartAt) != nil:
		return nil, nil, "", checkStartAt(r.StartAt)
	case r.MaxSteps < 0:
		return nil, nil, "", spool.Errorf(spool.Invalid, "maxSteps must be zero or a positive number")
	}
	if err := budget.CheckStart(r.Budget, h.Registry.Prices.Pricer != nil); err != nil {
		return nil, nil, "", err
	}
	r.Budget = r.Budget.Or(agent.Budget).Or(h.Budget.Default).Within(h.Budget.Max)
	if err := spool.CheckHostState(r.HostState); err != nil {
		return nil, nil, "", err
	}
	if r.ProviderOptions, warning, err = registry.AllowedOptions(agent, r.ProviderOptions, h.StrictOptions); err != nil {
		return nil, nil, "", err
	}
	if err := registry.CheckStartOutput(agent, r.Output); err != nil {
		return nil, nil, "", err
	}
	if r.Webhook != "" {
		if err := h.Events.CheckWebhook(key.Tenant, r.Webhook); err != nil {
			return nil, nil, "", err
		}
	}
	if r.Client, err = agent.Permitted(store.RunRow{
		Run:      wire.Run{Tenant: key.Tenant},
		RunState: store.RunState{Scopes: r.Scopes},
	}).AllowedClient(r.Client); err != nil {
		return nil, nil, "", err
	}
	files, err = h.Attachments.Parts(r.Attachments)
	return agent, files, warning, err
}

// contentOf returns the text of a user turn.
func contentOf(r wire.StartRequest) spool.Content {
	if r.Prompt == "" {
		return nil
	}
	return spool.TextContent(r.Prompt)
}

// title returns the default title of a thread.
func title(prompt string) string { return spool.TextContent(prompt).Preview() }
