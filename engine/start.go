package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/admission"
	"github.com/spoolhq/spool/engine/internal/budget"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// StartRequest asks for a run.
type StartRequest struct {
	// Prompt is the text of the user turn. Required.
	Prompt string
	// Agent names the agent. Defaults to the engine's first.
	Agent string
	// Model names the model. Defaults to the agent's.
	Model string
	// RunID is the caller's choice of id. Defaults to a fresh one.
	RunID spool.RunID
	// Title is the title of a thread that the start makes. Defaults to the beginning of Prompt.
	Title string
	// Labels are those of a thread that the start makes: see [spool.CheckLabels]. Nil: none.
	Labels map[string]string
	// EditMessageID is a user turn to replace, with all behind it. Empty: none.
	EditMessageID spool.MessageID
	// ClientMessageID is the client's own name for the user turn. Empty: none.
	ClientMessageID string
	// MaxSteps caps the run below the agent's own ceiling. Zero: no cap.
	MaxSteps int
	// Attachments are images of the user turn.
	Attachments []Attachment
	// HostState is a JSON object, of up to 64 KiB, for the tools of the run and for the settle
	// hook: what the host knows of who asks, such as an account. It comes from the host's own
	// session and never from what a client sent, and no client ever sees it. Empty: none.
	HostState json.RawMessage
	// By is the subject who starts the run, and who owns a thread that the start makes. Empty:
	// not known.
	By string
	// Scopes are what who starts the run may do, in the words of the host. Agents, models and
	// tools can be limited to them: see [spool.Access]. Empty: none.
	Scopes []string
	// IdempotencyKey makes every later start of the tenant with the same key repeat
	// the answer of the one that was accepted. Empty: none.
	IdempotencyKey string
	// Budget bounds the run, with all runs under it. A field that is zero is that of the
	// agent, or else of the configuration.
	Budget spool.Budget
	// ProviderOptions is a JSON object, of up to 16 KiB, that is merged into the requests of the
	// run to its provider, over the Extra of its agent. Each key has to be among the agent's
	// ProviderOptions. Runs that this one spawns get the same. Empty: none.
	ProviderOptions json.RawMessage
	// Client is what the client brings: tools that it runs itself, and what it says of itself. It is
	// bounded by the agent's ClientTools and ClientContext.
	Client spool.ClientInput
	// WhenBusy is what to do where the thread has an active run. Defaults to the agent's.
	WhenBusy spool.WhenBusy
	// MayNotStop says that who starts the run may not stop others: a [spool.WhenBusy] that would,
	// whoever has asked for it, is [spool.BusyReject], and [spool.BusyLatest] leaves the runs of
	// other subjects in line.
	MayNotStop bool

	client *spool.ClientInput // what the run gets of Client
}

// RunResult is the answer to a start. A refusal is not an error.
type RunResult struct {
	Accepted bool           `doc:"Whether the run was accepted." example:"true" json:"accepted"`
	ThreadID spool.ThreadID `doc:"The thread, also a new one."   example:"t1"   json:"threadId"`
	RunID    spool.RunID    `doc:"The run that was accepted."    example:"r1"   json:"runId,omitempty"`
	// State is QUEUED for an accepted run.
	State spool.State `doc:"QUEUED for an accepted run." example:"QUEUED" json:"state,omitempty"`
	// Position is the run's place among those that wait for the thread, from 1, which is
	// the next. Zero: the run has the thread.
	Position int `doc:"The place among the runs that wait for the thread, from 1. Left out: it waits for none." json:"position,omitempty"`
	// Reason is one of the constants named Reason, empty for an accepted run.
	Reason string `doc:"Why the run was refused, for a program." enum:"active_run,queue_full,run_id_used,not_found,not_editable" json:"reason,omitempty"`
	Error  string `doc:"Why the run was refused, for a person."  json:"error,omitempty"`
	// RetryAfter is when the same start may be accepted, which was refused because there is
	// too much to do. Zero: it was not.
	RetryAfter time.Duration `json:"-"`
}

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
	r.IdempotencyKey = actorOf(ctx).startKey(r.IdempotencyKey)
	if first, found, err := e.started(ctx, key.Tenant, r.IdempotencyKey); found || err != nil {
		return first, err
	}
	if err := e.checkRoom(ctx, key.Tenant); err != nil {
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
	request := r.transition(agent)
	err = e.store.Update(ctx, key, 0, func(tx spool.Tx) (err error) {
		if out, err = thread.Start(tx, key, request, e.rules); err != nil {
			return err
		}
		return appendAudit(ctx, tx, key.Tenant, out.Audit)
	})
	if err != nil {
		e.admission.Release(key.Tenant, place)
	}
	var no *thread.Refusal
	switch {
	case err == nil:
		e.logAudit(ctx, out.Audit)
		e.telemetry.Started(ctx, key.Tenant, r.RunID)
		e.bus.Wake(key, spool.WakeRecord)
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
		if err := e.afterStop(ctx, key, out.Stopped); err != nil { // the run is accepted, and gets its turn
			concerning(e.config.Log, key, "").WarnContext(ctx, "settle interrupted run", "error", err)
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

// transition returns the start of a request that was checked.
func (r StartRequest) transition(agent *registry.Agent) thread.StartRequest {
	return thread.StartRequest{
		Run: spool.Run{
			ID: r.RunID, Agent: agent.Name, Model: r.Model, MaxSteps: r.MaxSteps, StartKey: r.IdempotencyKey,
			Allowance: budget.Of(r.Budget), HostState: r.HostState, StartedBy: r.By, Scopes: r.Scopes,
			ProviderOptions: r.ProviderOptions, Client: r.client,
		},
		Content: r.content(), ClientMessageID: r.ClientMessageID, Title: cmp.Or(r.Title, title(r.Prompt)), Labels: r.Labels,
		EditMessageID: r.EditMessageID, WhenBusy: r.WhenBusy, MayNotStop: r.MayNotStop,
	}
}

// checkStart fills in what a request leaves out and says what is wrong with it.
func (e *Engine) checkStart(key *spool.ThreadKey, r *StartRequest) (*registry.Agent, error) {
	if key.ID == "" {
		key.ID = spool.ThreadID(e.rules.Random.ID("thr"))
	}
	if r.RunID == "" {
		r.RunID = spool.RunID(e.rules.Random.ID("run"))
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
	if r.client, err = agent.Permitted(spool.Run{Tenant: key.Tenant, Scopes: r.Scopes}).AllowedClient(r.Client); err != nil {
		return nil, err
	}
	if err := e.attachments.CheckAll(r.Attachments); err != nil {
		return nil, err
	}
	return agent, nil
}

// content returns the user turn: the text, then the images.
func (r StartRequest) content() spool.Content {
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
