// Package aguiapi has the endpoints that AG-UI clients call. It decides what a post means: a start, answers,
// results of the client's tools, or nothing but to see the run. Package agui reads the post and writes the
// events.
package aguiapi

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/bodies"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. All fields are required.
type Controller struct {
	Engine   *engine.Engine
	Streams  *stream.Streams
	Starts   *runs.Starts
	Absences *Absences
	Log      *slog.Logger
}

// Input is what an AG-UI client posts.
type Input struct {
	Body *agui.RunAgentInput `required:"true"`
}

// Validate implements [rest.Validator].
func (in *Input) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.Body.ThreadID)); err != nil {
		return err
	}
	return spool.CheckID("runId", string(in.Body.RunID))
}

// AgentRefusal is why there is nothing to stream. Nothing was changed.
type AgentRefusal struct {
	Accepted bool           `json:"accepted"`                      // Always false.
	ThreadID spool.ThreadID `example:"t1"         json:"threadId"` // The thread.
	Reason   string         `example:"active_run" json:"reason"`   // The reason of the refusal, for a program.
	Error    string         `json:"error"`                         // The reason of the refusal, for a person.
	// queue_full in a 503: the same request may be accepted later. Left out in all other cases.
	Code spool.Code `json:"code,omitempty"`

	// retryAfter is when. Zero: the refusal is for now.
	retryAfter time.Duration
}

// Answer is the stream of a run, or a refusal. The events that it embeds are for the
// document alone.
type Answer struct {
	rest.Events[bodies.AgentEvent]

	live    *stream.Live
	refusal *AgentRefusal
}

// Respond implements [rest.Responder].
func (a Answer) Respond(w http.ResponseWriter, r *http.Request) error {
	if a.refusal == nil {
		return a.live.Respond(w, r)
	}
	return call.Refuse(w, a.refusal, a.refusal.retryAfter)
}

// An AG-UI client, such as the HttpAgent of @ag-ui/client, posts here to start a run, to answer what a run waits for,
// or to see a run again. The answer is the run as server-sent events.
//
// If the last message is the user's, the post starts a run. If the thread already has that message, the agent answers
// it again, and the new answer replaces everything after the message. The model gets the client's tools for that run. A
// call of such a tool ends the answer: the client sends the result as a last message with the role tool, and the run
// continues. With resume, the post answers all calls that wait at once, and the run continues. In all other cases, and
// for a run that this client has started before, the post shows the thread as it is.
//
// If the client closes the connection before the end, forwardedProps.spool.onDisconnect says what happens to the run.
// With continue, it goes on. With stop, it is stopped at once, which needs the scope stop. Without onDisconnect, it is
// stopped ten seconds later, unless a client follows the thread by then, or the caller lacks the scope stop. The post
// also needs the scope read, and approve with resume.
func (c Controller) Run(ctx context.Context, in Input) (Answer, error) {
	who, body := call.By(ctx), in.Body
	key := who.Key(body.ThreadID)
	call.Concerns(ctx, key, body.RunID)
	ctx = call.Acting(ctx)
	need := []access.Scope{access.ScopeRead}
	if len(body.Resume) > 0 {
		need = append(need, access.ScopeApprove)
	}
	wishes, err := body.Wishes()
	if err != nil {
		return Answer{}, err
	}
	if wishes.Stops() || wishes.WhenBusy.Stops() {
		need = append(need, access.ScopeStop)
	}
	for _, scope := range need {
		if !who.May(scope) {
			return Answer{}, spool.Errorf(spool.Forbidden, "the scope %q is required", scope)
		}
	}
	// Before anything is started that nobody could see then.
	slot, err := c.Streams.Take(rest.RequestOf(ctx), who)
	if err != nil {
		return Answer{}, call.About(ctx, err, key, body.RunID)
	}
	var show agui.Options
	var refusal *AgentRefusal
	switch {
	case len(body.Resume) > 0:
		show, refusal, err = c.resume(ctx, key, body, who.Subject)
	case body.EndsWithResult():
		show, refusal, err = c.results(ctx, key, body, who.Subject)
	default:
		show, refusal, err = c.prompt(ctx, key, body, wishes)
	}
	if err != nil || refusal != nil {
		slot.Release()
		return Answer{refusal: refusal}, call.About(ctx, err, key, body.RunID)
	}
	show.ClientRunID, show.State, show.Before1 = string(body.RunID), agui.UseOf(body.State), body.Before1()
	r := rest.RequestOf(ctx)
	gone, done := func() {}, func() {}
	switch {
	case wishes.Stops():
		gone = func() { c.abandon(r, who, key, show.RunID) }
	case wishes.OnDisconnect == "" && body.Acts() && who.May(access.ScopeStop):
		gone = func() { c.Absences.add(ctx, who, key, show.RunID) }
		done = c.Absences.reads(who, key, show.RunID)
	}
	answer, err := c.follow(r, who, key, show)
	if err != nil {
		slot.Release()
		if r.Context().Err() != nil {
			gone()
		}
		done()
		return Answer{}, err
	}
	forget := answer.live.Forget
	answer.live.Slot, answer.live.Abandon, answer.live.Forget = slot, gone, func() { forget(); done() }
	return answer, nil
}

// abandon stops a run whose client has gone, as it has asked for.
func (c Controller) abandon(r *http.Request, who access.Principal, key spool.ThreadKey, run spool.RunID) {
	ctx, cancel := context.WithTimeout(call.ActingAs(context.WithoutCancel(r.Context()), who), abandonTimeout)
	defer cancel()
	if _, err := c.Engine.StopRun(ctx, key, run); err != nil {
		call.Log(c.Log).ErrorContext(ctx, "stop failed behind a connection that is gone", "error",
			call.About(ctx, err, key, run))
	}
}

// abandonTimeout bounds a stop that no client waits for.
const abandonTimeout = 10 * time.Second

// follow opens the stream of a run, of the request alone: it outlives what rest keeps for
// a call.
func (c Controller) follow(r *http.Request, who access.Principal, key spool.ThreadKey, o agui.Options) (Answer, error) {
	lasts, forget := access.Lifetime(call.ActingAs(r.Context(), who), who, who.Until)
	opened, err := c.Streams.OpenAGUI(lasts, key, o)
	if err != nil {
		forget()
		return Answer{}, call.About(r.Context(), err, key, o.RunID)
	}
	opened.Until, opened.Forget = who.Until, forget
	return Answer{live: opened}, nil
}

// prompt starts a run with the last message, or finds the one that is to be shown.
func (c Controller) prompt(
	ctx context.Context, key spool.ThreadKey, in *agui.RunAgentInput, wishes agui.Wishes,
) (agui.Options, *AgentRefusal, error) {
	turn, err := in.Turn()
	if err != nil {
		return agui.Options{}, nil, err
	}
	thread, turns, err := c.Engine.UserTurns(ctx, key)
	switch {
	case spool.CodeOf(err) == spool.NotFound && turn != nil: // its first turn makes it
	case err != nil:
		return agui.Options{}, nil, err
	case turn == nil && thread.RunID == "":
		return agui.Options{}, nil, spool.Errorf(spool.NotFound, "the thread has no run to show")
	case turn == nil:
		return agui.Options{RunID: thread.RunID}, nil, nil
	}
	start := wire.StartRequest{
		StartOptions: wishes.StartOptions, WhenBusy: wishes.WhenBusy,
		Prompt: turn.Text, RunID: in.RunID, ClientMessageID: turn.ID, Client: in.Client(), Attachments: turn.Attachments,
	}
	if saved, ok := turn.Saved(turns); ok {
		if saved.RunID == in.RunID || saved.RunID == thread.RunID && thread.State.Active() {
			if same, err := c.hasText(ctx, key, saved.ID, turn.Text); same || err != nil {
				return agui.Options{RunID: saved.RunID}, nil, err // the client has lost the stream, and asks again
			}
		}
		start.EditMessageID = saved.ID
	}
	if who := call.By(ctx); wishes.WhenBusy == "" && who.May(access.ScopeStop) &&
		c.Absences.has(ctx, who, key, thread.RunID) {
		start.WhenBusy = spool.BusyInterrupt // who goes on with another turn does not come back to the one before
	}
	result, err := c.Starts.Run(ctx, c.Engine, key, start)
	if err == nil && !result.Accepted {
		refusal := &AgentRefusal{ThreadID: key.ID, Reason: result.Reason, Error: result.Error, retryAfter: result.RetryAfter}
		if result.RetryAfter > 0 {
			refusal.Code = runs.CodeQueueFull
		}
		return agui.Options{}, refusal, nil
	}
	// The run may end before the stream is open. The stream begins at the run's start all the same.
	return agui.Options{RunID: result.RunID, From: &wire.Run{ID: result.RunID}}, nil, err
}

// hasText reports whether a message of the thread has the text. A request with the id of the message and another text
// is an edit.
func (c Controller) hasText(ctx context.Context, key spool.ThreadKey, id spool.MessageID, text string) (bool, error) {
	for _, limit := range []int{recentMessages, 0} { // it is most often a new one
		s, err := c.Engine.Snapshot(ctx, key, &wire.SnapshotOptions{Limit: limit})
		if err != nil {
			return false, err
		}
		if at := slices.IndexFunc(s.Messages, func(m spool.Message) bool { return m.ID == id }); at >= 0 {
			return s.Messages[at].Content.Text() == text, nil
		}
	}
	return false, spool.Errorf(spool.NotFound, "the message was dropped in this moment")
}
