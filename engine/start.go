package engine

import (
	"cmp"
	"context"
	"errors"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// Run starts a run on the thread, which it makes if it does not exist; an empty thread
// id makes one up. When it returns an accepted result the run is durable and will come
// to an end, whatever happens to this process. On a thread that has an active run,
// [StartRequest.WhenBusy] decides. A refusal changes nothing. Run returns an
// [spool.Invalid] error that names the field for a request that is wrong.
func (e *Engine) Run(ctx context.Context, key spool.ThreadKey, r StartRequest) (RunResult, error) {
	agent, err := e.checkStart(&key, &r)
	if err != nil {
		return RunResult{}, err
	}
	r.IdempotencyKey = actor.StartKey(actor.Of(ctx), r.IdempotencyKey)
	if first, found, err := e.started(ctx, key.Tenant, r.IdempotencyKey); found || err != nil {
		return first, err
	}
	if err := e.runner.CheckRoom(ctx, key.Tenant); err != nil {
		return RunResult{}, err
	}
	place, room, err := e.admission.Admit(ctx, key.Tenant)
	switch {
	case err != nil:
		return RunResult{}, err
	case !room:
		return RunResult{ThreadID: key.ID, Reason: ReasonQueueFull, Error: "Too many runs wait for a worker", RetryAfter: admission.RetryAfter}, nil
	}
	var out thread.Started
	request := transitionOf(r, agent)
	err = e.store.Update(ctx, key, 0, func(tx spool.Tx) (err error) {
		if out, err = thread.Start(tx, key, request, e.threads.Rules); err != nil {
			return err
		}
		return actor.Audit(ctx, tx, key.Tenant, out.Audit...)
	})
	if err != nil {
		e.admission.Release(key.Tenant, place)
	}
	var no *thread.RefusedError
	switch {
	case err == nil:
		actor.Log(ctx, e.config.Log, out.Audit...)
		e.telemetry.Started(ctx, key.Tenant, r.RunID)
		e.bus.Wake(key, spool.WakeRecord)
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
		if err := e.runner.AfterStop(ctx, key, out.Stopped); err != nil { // the run is accepted, and gets its turn
			e.threads.Concerning(key, "").WarnContext(ctx, "settle interrupted run", "error", err)
		}
		return RunResult{Accepted: true, ThreadID: key.ID, RunID: r.RunID, State: spool.Queued, Position: out.Position}, nil
	case errors.As(err, &no):
		// The same start may have been accepted while this one waited for the thread.
		if first, found, err := e.started(ctx, key.Tenant, r.IdempotencyKey); found || err != nil {
			return first, err
		}
		return RunResult{ThreadID: key.ID, Reason: no.Reason, Error: no.Text}, nil
	default:
		return RunResult{}, err
	}
}

// started returns the answer to the start that was accepted under an idempotency key.
func (e *Engine) started(ctx context.Context, tenant spool.Tenant, startKey string) (RunResult, bool, error) {
	if startKey == "" {
		return RunResult{}, false, nil
	}
	run, err := e.store.FindStart(ctx, tenant, startKey)
	switch {
	case record.Missing(err):
		return RunResult{}, false, nil
	case err != nil:
		return RunResult{}, false, err
	}
	result := RunResult{Accepted: true, ThreadID: run.ThreadID, RunID: run.ID, State: spool.Queued}
	if run.Wait != nil {
		result.Position = run.Wait.Position
	}
	return result, true, nil
}

// transitionOf returns the start of a request that was checked.
func transitionOf(r StartRequest, agent *registry.Agent) thread.StartRequest {
	var client *spool.ClientInput
	if !r.Client.Empty() {
		client = &r.Client
	}
	return thread.StartRequest{
		Run: spool.Run{
			ID: r.RunID, Agent: agent.Name, Model: r.Model, MaxSteps: r.MaxSteps, StartKey: r.IdempotencyKey,
			Allowance: budget.Of(r.Budget), HostState: r.HostState, StartedBy: r.By, Scopes: r.Scopes,
			ProviderOptions: r.ProviderOptions, Client: client,
		},
		Content: contentOf(r), ClientMessageID: r.ClientMessageID, Title: cmp.Or(r.Title, title(r.Prompt)), Labels: r.Labels,
		EditMessageID: r.EditMessageID, WhenBusy: r.WhenBusy, MayNotStop: r.MayNotStop,
	}
}

// checkStart fills in what a request leaves out and says what is wrong with it.
func (e *Engine) checkStart(key *spool.ThreadKey, r *StartRequest) (*registry.Agent, error) {
	if key.ID == "" {
		key.ID = spool.ThreadID(e.threads.Rules.Random.ID("thr"))
	}
	if r.RunID == "" {
		r.RunID = spool.RunID(e.threads.Rules.Random.ID("run"))
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
			return nil, err
		}
	}
	if err := cmp.Or(spool.CheckTitle(r.Title), spool.CheckLabels(r.Labels)); err != nil {
		return nil, err
	}
	agent := e.registry.For(r.Agent, key.Tenant, r.Scopes)
	if agent == nil {
		return nil, spool.Errorf(spool.Invalid, "agent: there is none of the name %q", r.Agent)
	}
	if r.Model == "" {
		r.Model = agent.Model
	}
	if r.WhenBusy = cmp.Or(r.WhenBusy, agent.WhenBusy); r.MayNotStop && r.WhenBusy.Stops() {
		r.WhenBusy = spool.BusyReject
	}
	if !e.registry.HasModelFor(r.Model, key.Tenant, r.Scopes) {
		return nil, spool.Errorf(spool.Invalid, "model: there is none of the name %q", r.Model)
	}
	switch {
	case r.Prompt == "" && len(r.Attachments) == 0:
		return nil, spool.Errorf(spool.Invalid, "prompt is required")
	case len(r.Prompt) > e.config.MaxPromptBytes:
		return nil, spool.Errorf(spool.Invalid, "prompt is longer than %d bytes", e.config.MaxPromptBytes)
	case !utf8.ValidString(r.Prompt):
		return nil, spool.Errorf(spool.Invalid, "prompt is not valid UTF-8")
	case !r.WhenBusy.Known():
		return nil, spool.Errorf(spool.Invalid, "whenBusy must be reject, enqueue, latest, interrupt or rollback")
	case r.MaxSteps < 0:
		return nil, spool.Errorf(spool.Invalid, "maxSteps must be zero or a positive number")
	}
	if err := budget.CheckStart(r.Budget, e.config.Pricer != nil); err != nil {
		return nil, err
	}
	r.Budget = r.Budget.Or(agent.Budget).Or(e.config.Budget).Within(e.config.MaxBudget)
	if err := spool.CheckHostState(r.HostState); err != nil {
		return nil, err
	}
	options, err := registry.AllowedOptions(agent, r.ProviderOptions)
	if err != nil {
		return nil, err
	}
	r.ProviderOptions = options
	if r.Client, err = agent.Permitted(spool.Run{Tenant: key.Tenant, Scopes: r.Scopes}).AllowedClient(r.Client); err != nil {
		return nil, err
	}
	if err := e.attachments.CheckAll(r.Attachments); err != nil {
		return nil, err
	}
	return agent, nil
}

// contentOf returns the user turn: the text, then the images.
func contentOf(r StartRequest) spool.Content {
	var content spool.Content
	if r.Prompt != "" {
		content = spool.TextContent(r.Prompt)
	}
	for _, a := range r.Attachments {
		content = append(content, spool.Part{Type: spool.PartImage, Image: a.URL, MIMEType: a.MediaType})
	}
	return content
}

// title returns the title of a thread that begins with the prompt.
func title(prompt string) string { return spool.TextContent(prompt).Preview() }
