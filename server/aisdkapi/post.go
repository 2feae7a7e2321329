package aisdkapi

import (
	"cmp"
	"context"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

const triggerRegenerate = "regenerate-message"

// read does what a post says, and returns what the client sees.
func (c Controller) read(
	ctx context.Context, key spool.ThreadKey, in *ChatRequest, who access.Principal,
) (aisdk.Options, *ChatRefusal, error) {
	post, err := aisdk.ReadPost(in.Messages)
	if err == nil && in.Trigger != triggerRegenerate {
		err = post.CheckRole()
	}
	switch {
	case err != nil:
		return aisdk.Options{}, nil, err
	case len(in.Answers) > 0 && (in.Trigger == triggerRegenerate || post.Role != spool.RoleAssistant):
		return aisdk.Options{}, nil, spool.Errorf(spool.Invalid,
			"answers is only for a post whose last message is the assistant's")
	case in.Trigger == triggerRegenerate:
		return c.regenerate(ctx, key, in, post)
	case post.Role == spool.RoleAssistant:
		return c.answer(ctx, key, in, post, who)
	default:
		return c.prompt(ctx, key, in, post)
	}
}

// prompt starts a run with the user's message. A message that the thread has already is shown, unless the client
// has edited it. Another text under its id is refused: the client would see the answer to the first one.
func (c Controller) prompt(
	ctx context.Context, key spool.ThreadKey, in *ChatRequest, post aisdk.Post,
) (aisdk.Options, *ChatRefusal, error) {
	text, attachments, err := post.Turn(c.address(key))
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	_, turns, err := c.Engine.UserTurns(ctx, key)
	if err != nil && spool.CodeOf(err) != spool.NotFound { // its first turn makes it
		return aisdk.Options{}, nil, err
	}
	start := wire.StartRequest{
		Prompt: text, Attachments: attachments, ClientMessageID: post.ClientID(), RunID: post.RunID(key.ID),
	}
	if said, ok := aisdk.FindTurn(post.ID, turns); ok {
		if in.MessageID == nil || *in.MessageID != post.ID {
			saved, err := c.saved(ctx, key, said.ID)
			if was, _ := aisdk.Said(saved); err == nil && was != text {
				return aisdk.Options{}, refused(key, wire.ReasonKeyReused, "The id of this message belongs to another one"), nil
			}
			return aisdk.Options{RunID: said.RunID}, nil, err // the client has lost the stream, and asks again
		}
		start.EditMessageID, start.RunID = said.ID, ""
	}
	return c.start(ctx, key, in, start)
}

// regenerate answers a turn again, as it was said.
func (c Controller) regenerate(
	ctx context.Context, key spool.ThreadKey, in *ChatRequest, post aisdk.Post,
) (aisdk.Options, *ChatRefusal, error) {
	_, turns, err := c.Engine.UserTurns(ctx, key)
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	id := post.ID
	if in.MessageID != nil {
		id = cmp.Or(*in.MessageID, id)
	}
	turn, ok := aisdk.FindTurn(id, turns)
	if !ok {
		turn, ok = aisdk.FindTurn(post.ID, turns)
	}
	switch {
	case !ok && id != "":
		return aisdk.Options{}, nil, spool.Errorf(spool.NotFound, "the chat has no message with this messageId")
	case !ok && len(turns) == 0:
		return aisdk.Options{}, nil, spool.Errorf(spool.NotFound, "the chat has no message to answer again")
	case !ok:
		turn = turns[len(turns)-1]
	}
	saved, err := c.saved(ctx, key, turn.ID)
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	start := wire.StartRequest{EditMessageID: turn.ID, ClientMessageID: turn.ClientMessageID}
	start.Prompt, start.Attachments = aisdk.Said(saved)
	return c.start(ctx, key, in, start)
}

// saved returns a message with its content.
func (c Controller) saved(ctx context.Context, key spool.ThreadKey, id spool.MessageID) (spool.Message, error) {
	for _, limit := range []int{recentMessages, 0} { // it is most often a new one
		s, err := c.Engine.Snapshot(ctx, key, &wire.SnapshotOptions{Limit: limit})
		if err != nil {
			return spool.Message{}, err
		}
		if at := slices.IndexFunc(s.Messages, func(m spool.Message) bool { return m.ID == id }); at >= 0 {
			return s.Messages[at], nil
		}
	}
	return spool.Message{}, spool.Errorf(spool.NotFound, "the message was dropped in this moment")
}

// recentMessages is how many messages are read for the calls that may wait.
const recentMessages = 50

// start starts a run, and shows it from its start.
func (c Controller) start(
	ctx context.Context, key spool.ThreadKey, in *ChatRequest, start wire.StartRequest,
) (aisdk.Options, *ChatRefusal, error) {
	start.StartOptions, start.WhenBusy = in.StartOptions, in.WhenBusy
	for _, t := range in.Tools {
		start.Client.Tools = append(start.Client.Tools, wire.ClientTool(t))
	}
	result, err := c.Starts.Run(ctx, c.Engine, key, start)
	switch {
	case err != nil:
		return aisdk.Options{}, nil, err
	case start.RunID != "" && c.cameBefore(ctx, key, start.RunID, result): // the same post came twice at once
		return aisdk.Options{RunID: start.RunID}, nil, nil
	case !result.Accepted:
		refusal := refused(key, result.Reason, result.Error)
		if refusal.retryAfter = result.RetryAfter; result.RetryAfter > 0 {
			refusal.Code = wire.ReasonQueueFull
		}
		return aisdk.Options{}, refusal, nil
	}
	// The run may be over before the stream is open, and is told from its start all the same.
	return aisdk.Options{RunID: result.RunID, From: &wire.Run{ID: result.RunID}}, nil, nil
}

// cameBefore reports whether a start was refused because of a run with the same id, which may still be active.
func (c Controller) cameBefore(ctx context.Context, key spool.ThreadKey, id spool.RunID, r wire.RunResult) bool {
	if r.Reason != wire.ReasonActiveRun {
		return r.Reason == wire.ReasonRunIDUsed
	}
	thread, err := c.Engine.Thread(ctx, key)
	return err == nil && thread.RunID == id
}

func refused(key spool.ThreadKey, reason, text string) *ChatRefusal {
	return &ChatRefusal{ThreadID: key.ID, Reason: reason, Error: text}
}

// answer gives the answers in an assistant's message to the open questions, and shows what follows. It answers
// nothing but open questions. If somebody else has answered them, the client only sees what follows.
func (c Controller) answer(
	ctx context.Context, key spool.ThreadKey, in *ChatRequest, post aisdk.Post, who access.Principal,
) (aisdk.Options, *ChatRefusal, error) {
	thread, err := c.Engine.Snapshot(ctx, key, &wire.SnapshotOptions{Limit: recentMessages})
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	run := thread.Thread.RunID
	if post.ID != string(run) {
		return aisdk.Options{}, refused(key, wire.ReasonMovedOn, "The message is not the answer that the chat is at"), nil
	}
	answers, err := post.Answers(projection.OpenParks(thread), in.Answers)
	if spool.CodeOf(err) == spool.Conflict {
		return aisdk.Options{}, refused(key, wire.ReasonChanged, spool.MessageOf(err)), nil
	}
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	show := aisdk.Options{RunID: run, Copied: answers.Copied, Results: answers.Given}
	responses := slices.Concat(answers.Approvals, answers.Outputs)
	if len(responses) == 0 {
		if !answers.Late {
			return aisdk.Options{}, refused(key, wire.ReasonNoPark, "Nothing waits for these answers"), nil
		}
		return show, nil, nil
	}
	if len(answers.Approvals) > 0 && !who.May(access.ScopeApprove) {
		return aisdk.Options{}, nil, access.Lacks(access.ScopeApprove, "an approval")
	}
	for i := range responses {
		responses[i].By = who.Subject
	}
	results, err := c.Engine.RespondAll(ctx, key, responses)
	if err != nil {
		return aisdk.Options{}, nil, err
	}
	if at := slices.IndexFunc(results, func(r wire.RespondResult) bool { return r.Delivered }); at < 0 &&
		len(results) > 0 {
		last := results[len(results)-1]
		if last.Reason == wire.ReasonAnswered || last.Reason == wire.ReasonNoPark { // somebody else was faster
			return show, nil, nil
		}
		return aisdk.Options{}, refused(key, last.Reason, last.Error), nil
	}
	if r, ok := projection.RunOf(thread, run); ok && r.State == wire.WaitingForInput {
		show.From = &r
	}
	return show, nil, nil
}
