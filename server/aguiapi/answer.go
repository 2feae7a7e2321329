package aguiapi

import (
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/wire"
)

// resume answers all that the thread waits for. It is refused when somebody else has
// answered everything in the meantime.
func (c Controller) resume(
	ctx context.Context, key spool.ThreadKey, in *agui.RunAgentInput, by string,
) (agui.Options, *AgentRefusal, error) {
	thread, err := c.Engine.Snapshot(ctx, key, &wire.SnapshotOptions{Limit: recentMessages})
	if err != nil {
		return agui.Options{}, nil, err
	}
	open := agui.Open(thread)
	answers, err := in.Answers(open)
	if spool.CodeOf(err) == spool.Conflict {
		return agui.Options{}, &AgentRefusal{ThreadID: key.ID, Reason: wire.ReasonNoPark, Error: spool.MessageOf(err)}, nil
	}
	if err != nil {
		return agui.Options{}, nil, err
	}
	if !mayAnswer(thread, open, by) {
		return agui.Options{}, &AgentRefusal{
			ThreadID: key.ID, Reason: wire.ReasonSameApprover, Error: "These requests are not all for who started the run",
		}, nil
	}
	responses := make([]wire.Response, len(answers))
	for i, a := range answers {
		responses[i] = wire.Response{
			ToolCallID: a.ToolCallID, Approved: a.Approved, Payload: a.Payload, Args: a.Args, Reason: a.Reason, Digest: a.Digest,
			By: by,
		}
	}
	results, err := in.Results(thread) // a page that has run its tools waits with them for the answers
	if err != nil && spool.CodeOf(err) != spool.Gone {
		return refusedResult(key, err)
	}
	return c.answer(ctx, key, thread, slices.Concat(responses, resultResponses(results, by)), results)
}

// results gives results of the client's tools to the calls that wait for them. The run goes on
// once nothing else is waited for.
func (c Controller) results(
	ctx context.Context, key spool.ThreadKey, in *agui.RunAgentInput, by string,
) (agui.Options, *AgentRefusal, error) {
	thread, err := c.Engine.Snapshot(ctx, key, &wire.SnapshotOptions{Limit: recentMessages})
	if err != nil {
		return agui.Options{}, nil, err
	}
	results, err := in.Results(thread)
	switch {
	case err != nil:
		return refusedResult(key, err)
	case len(results) == 0 && thread.Thread.RunID == "":
		return agui.Options{}, nil, spool.Errorf(spool.NotFound, "the thread has no run to show")
	case len(results) == 0:
		return agui.Options{RunID: thread.Thread.RunID}, nil, nil
	}
	return c.answer(ctx, key, thread, resultResponses(results, by), results)
}

// recentMessages is how many messages are read for the calls that may have results to come.
const recentMessages = 50

// refusedResult returns why results are not taken: a refusal where nothing waits for them.
func refusedResult(key spool.ThreadKey, err error) (agui.Options, *AgentRefusal, error) {
	reason := wire.ReasonNoPark
	switch spool.CodeOf(err) {
	case spool.Conflict:
	case spool.Gone:
		reason = wire.ReasonAnswered
	default:
		return agui.Options{}, nil, err
	}
	return agui.Options{}, &AgentRefusal{ThreadID: key.ID, Reason: reason, Error: spool.MessageOf(err)}, nil
}

func resultResponses(results []agui.ClientResult, by string) []wire.Response {
	responses := make([]wire.Response, len(results))
	for i, r := range results {
		responses[i] = wire.Response{ToolCallID: r.ToolCallID, Approved: true, Payload: r.Payload, Digest: r.Digest, By: by}
	}
	return responses
}

// answer answers the questions of the thread of a snapshot, and shows the run from there on. Own are the results of the
// client's own tools.
func (c Controller) answer(
	ctx context.Context, key spool.ThreadKey, thread *wire.Snapshot, responses []wire.Response, own []agui.ClientResult,
) (agui.Options, *AgentRefusal, error) {
	results, err := c.Engine.RespondAll(ctx, key, responses)
	if err != nil {
		return agui.Options{}, nil, err
	}
	if !slices.ContainsFunc(results, func(r wire.RespondResult) bool { return r.Delivered }) {
		refused := wire.RespondResult{Reason: wire.ReasonNoPark, Error: "Nothing waits for an answer"}
		if len(results) > 0 {
			refused = results[len(results)-1]
		}
		return agui.Options{}, &AgentRefusal{ThreadID: key.ID, Reason: refused.Reason, Error: refused.Error}, nil
	}
	show := agui.Options{RunID: thread.Thread.RunID, Results: own}
	for _, r := range thread.Runs {
		if r.ID == show.RunID && r.State == wire.WaitingForInput {
			show.From = &r
		}
	}
	return show, nil, nil
}

// mayAnswer reports whether the subject may answer all open questions. The engine checks each answer again, but then
// it may have accepted some answers before it refuses one.
func mayAnswer(thread *wire.Snapshot, open []agui.Interrupt, subject string) bool {
	if !slices.ContainsFunc(open, func(i agui.Interrupt) bool { return i.DistinctApprover }) {
		return true
	}
	return slices.ContainsFunc(thread.Runs, func(r wire.Run) bool {
		return r.ID == thread.Thread.RunID && r.DistinctFrom(subject)
	})
}
