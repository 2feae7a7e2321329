package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
	"github.com/spoolhq/spool/tool/internal/signin"
)

// tasksExtension is the extension with which a server answers a call by a task, and gives the result later.
const tasksExtension = "io.modelcontextprotocol/tasks"

const (
	defaultEvery = 5 * time.Second
	// maxFailedPause bounds the pause after looks that failed, if the server does not want a longer one.
	maxFailedPause = time.Minute
	// maxTaskID bounds the id of a task, and maxAnswered how many questions of a task are remembered.
	maxTaskID   = 1 << 10
	maxAnswered = 1000
	// maxRefused bounds how often a server may refuse an answer to a question that it asks.
	maxRefused = 5
)

// The states of a task.
const (
	taskWorks     = "working"
	taskAsks      = "input_required"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskCancelled = "cancelled"
)

// task is a task as its server describes it.
type task struct {
	ID      string `json:"taskId"`
	Status  string `json:"status"`
	Message string `json:"statusMessage"`
	// TTL and Every are milliseconds. Nil: for ever, and as the client likes.
	TTL      *float64                   `json:"ttlMs"`
	Every    *float64                   `json:"pollIntervalMs"`
	Result   json.RawMessage            `json:"result"`
	Error    *rpcError                  `json:"error"`
	Requests map[string]json.RawMessage `json:"inputRequests"`
}

// keptTask is what a pending call keeps of its task. It is stored, so the names of its fields must not change.
type keptTask struct {
	ID string `json:"task"`
	// Began is when this client heard of the task. The clock of the server may be wrong.
	Began time.Time `json:"began"`
	// Until is when the server may drop the task. Zero: never.
	Until time.Time `json:"until,omitzero"`
	// Every is the pause between two looks that the server wants.
	Every time.Duration `json:"every"`
	// Failed counts the looks that failed since the last one that did not.
	Failed int `json:"failed,omitempty"`
	// Answers are answers, by the keys of their questions, that the server may not have got. Refused counts how often it
	// has refused them.
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
	Refused int                        `json:"refused,omitempty"`
	// Answered are the keys of the questions whose answers the server has got.
	Answered []string `json:"answered,omitempty"`
}

// milliseconds returns a duration that a server gives, or false for none or one that is too long to count.
func milliseconds(n *float64) (time.Duration, bool) {
	if n == nil || *n >= math.MaxInt64/float64(time.Millisecond) {
		return 0, false
	}
	return time.Duration(max(*n, 0) * float64(time.Millisecond)), true
}

// saw notes what the server says about the times of the task.
func (k *keptTask) saw(t task) {
	k.Failed, k.Every, k.Until = 0, defaultEvery, time.Time{}
	if every, ok := milliseconds(t.Every); ok {
		k.Every = min(max(every, spool.MinPending), spool.MaxPending)
	}
	if ttl, ok := milliseconds(t.TTL); ok {
		k.Until = k.Began.Add(ttl)
	}
}

// over reports whether the server may have dropped the task.
func (k *keptTask) over() bool { return !k.Until.IsZero() && !time.Now().Before(k.Until) }

// pending returns the error of a call whose task goes on. The looks become more frequent before the server may drop the
// task.
func (k *keptTask) pending(after time.Duration, note string) error {
	if left := time.Until(k.Until); !k.Until.IsZero() && left <= after {
		after = left / 2
	}
	state, err := json.Marshal(k)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the state of a task", err)
	}
	return &spool.PendingError{After: after, State: state, Note: note}
}

// begun returns the error of a call that the server answered by a task.
func (s *Server) begun(created json.RawMessage) error {
	var t task
	if err := json.Unmarshal(created, &t); err != nil || t.ID == "" || len(t.ID) > maxTaskID {
		return s.lost("answered with a task that cannot be read", err)
	}
	keep := keptTask{ID: t.ID, Began: time.Now()}
	keep.saw(t)
	after := keep.Every
	if t.Status != taskWorks { // the state of the task has what the call waits for
		after = spool.MinPending
	}
	return keep.pending(after, s.clean(t.Message))
}

// lost returns the error of a call whose task cannot be followed any more. The cause may be nil.
func (s *Server) lost(what string, cause error) error {
	e := &spool.Error{Code: spool.Unavailable, Message: "MCP server " + s.config.Name + " " + what}
	if cause != nil {
		e.Err = s.cause(cause)
	}
	return &spool.OutcomeUnknownError{Err: e}
}

// resume continues an open call, or looks at the task of a pending call. It passes on the answer of a person, if there
// is one.
func (s *Server) resume(ctx context.Context, tool ListedTool, call spool.ToolCall) (json.RawMessage, error) {
	var keep keptTask
	var open keptOpen
	if err := errors.Join(json.Unmarshal(call.Pending, &keep), json.Unmarshal(call.Pending, &open)); err != nil {
		return nil, spool.Wrap(spool.Internal, "read the state of a call", err)
	}
	if open.ID != "" {
		return s.resumeOpen(ctx, tool, call, open)
	}
	if s.http == nil {
		return nil, s.lost("has become a program, which does not have the task", nil)
	}
	if call.Resume != nil {
		answers, err := answersOf(call)
		if err != nil {
			s.abandonTask(ctx, keep.ID)
			return nil, err
		}
		keep.Answers, keep.Refused = answers, 0
	}
	t, err := s.taskNow(ctx, keep.ID)
	if needed, ok := errors.AsType[*signin.NeededError](err); ok {
		if call.Looking { // the engine calls again for the question
			return nil, nil
		}
		return nil, needed
	}
	switch over := keep.over(); {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isGone(err):
		return nil, s.lost("does not have the task any more", err)
	case over:
		return nil, s.lost("cannot be asked about the task, whose time is over", err)
	default:
		return nil, s.failedLook(ctx, &keep, err)
	}
	keep.saw(t)
	switch note := s.clean(t.Message); {
	case t.Status == taskCompleted && call.Looking:
		return nil, nil
	case t.Status == taskCompleted:
		return s.taskResult(ctx, call, t)
	case t.Status == taskFailed:
		return nil, s.taskError("its task failed", t)
	case t.Status == taskCancelled:
		return nil, s.taskError("its task was cancelled", t)
	case keep.over():
		if !call.Looking {
			s.abandonTask(ctx, keep.ID)
		}
		return nil, s.lost("did not end the task within its time", nil)
	case t.Status == taskAsks:
		return nil, s.taskAsks(ctx, tool, &keep, t, call.Looking)
	default: // it works
		return nil, keep.pending(keep.Every, note)
	}
}

// taskNow asks for the state of a task.
func (s *Server) taskNow(ctx context.Context, id string) (t task, err error) {
	result, err := s.request(ctx, "tasks/get", id, map[string]any{"taskId": id})
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(result, &t); err != nil {
		return t, fmt.Errorf("read the task: %w", err)
	}
	if t.ID != id || t.Status == "" {
		return t, errors.New("the answer is no state of the task")
	}
	return t, nil
}

// isGone reports whether the server has said that it does not have the task, or no tasks at all.
func isGone(err error) bool {
	reply, ok := errors.AsType[*rpcError](err)
	return ok && (reply.Code == codeInvalidParams || reply.Code == codeNoMethod)
}

// failedLook returns the error of a call whose task could not be asked about. The pauses grow.
func (s *Server) failedLook(ctx context.Context, keep *keptTask, err error) error {
	if keep.Failed == 0 {
		s.config.Log.WarnContext(ctx, "MCP server cannot be asked about a task", "server", s.config.Name, "error",
			s.cause(err))
	}
	pause := keep.Every
	for range keep.Failed {
		if pause = min(2*pause, max(keep.Every, maxFailedPause)); pause >= maxFailedPause {
			break
		}
	}
	keep.Failed++
	return keep.pending(pause, "MCP server "+s.config.Name+" cannot be asked how far it is")
}

// taskResult returns the result of a completed task.
func (s *Server) taskResult(ctx context.Context, call spool.ToolCall, t task) (json.RawMessage, error) {
	result, err := readResult(t.Result)
	if err != nil || result.NeedsInput() {
		return nil, spool.Errorf(spool.Invalid, "MCP server %s: its task ended with a result that cannot be read",
			s.config.Name)
	}
	return s.result(ctx, call, result)
}

// taskError returns the error of a task that has ended without a result.
func (s *Server) taskError(what string, t task) error {
	why := t.Message
	if t.Error != nil && t.Error.Message != "" {
		why = t.Error.Message
	}
	if why != "" {
		what += ": " + cut(s.clean(why), maxErrorText)
	}
	return spool.Errorf(spool.Invalid, "MCP server %s: %s", s.config.Name, what)
}

// taskAsks gives the server the answers that it waits for, or returns the park for its questions.
func (s *Server) taskAsks(ctx context.Context, tool ListedTool, keep *keptTask, t task, looking bool) error {
	answers := maps.Clone(keep.Answers)
	maps.DeleteFunc(answers, func(key string, _ json.RawMessage) bool { return t.Requests[key] == nil })
	if len(answers) > 0 {
		if err := s.sendAnswers(ctx, keep, answers, looking); err != nil {
			return err
		}
	}
	if len(keep.Answers) > 0 { // the server has the answers to the questions that it still asks
		keep.Answered = slices.AppendSeq(keep.Answered, maps.Keys(keep.Answers))
		keep.Answers, keep.Refused = nil, 0
		return keep.pending(spool.MinPending, s.clean(t.Message))
	}
	open := make(sdk.InputRequestMap)
	for key, request := range t.Requests {
		if slices.Contains(keep.Answered, key) { // the server has not read the answer yet
			continue
		}
		var one sdk.InputRequestMap
		// A request of an unknown kind is refused by ask, like a known one that this client does not offer.
		if err := one.UnmarshalJSON(fmt.Appendf(nil, `{"q":%s}`, request)); err != nil {
			one = nil
		}
		open[key] = one["q"]
	}
	switch {
	case len(open) == 0:
		return keep.pending(keep.Every, s.clean(t.Message))
	case len(keep.Answered) > maxAnswered:
		s.abandonTask(ctx, keep.ID)
		return spool.Errorf(spool.Limit, "MCP server %s asks too often", s.config.Name)
	}
	err := s.ask(tool, &sdk.CallToolResult{InputRequests: open})
	if _, asks := errors.AsType[*spool.ParkRequest](err); !asks && !looking {
		s.abandonTask(ctx, keep.ID)
	}
	return err
}

// sendAnswers gives the server answers that it waits for. It returns nil if the server has got them.
//
// A refusal does not end the call at once. The server may have got the answers in a request that broke, or may not ask
// any more since the last look: the next look shows it.
func (s *Server) sendAnswers(
	ctx context.Context, keep *keptTask, answers map[string]json.RawMessage, looking bool,
) error {
	if err := lease.Check(ctx); err != nil {
		return err
	}
	guarded, sent := withSent(ctx)
	_, err := s.request(guarded, "tasks/update", keep.ID, map[string]any{"taskId": keep.ID, "inputResponses": answers})
	reply, refused := errors.AsType[*rpcError](err)
	switch lapsed := sent.Refused(); {
	case err == nil:
		return nil
	case lapsed != nil:
		return lapsed
	case ctx.Err() != nil:
		return ctx.Err()
	case refused && keep.Refused+1 < maxRefused:
		keep.Refused++
		return keep.pending(min(keep.Every, maxFailedPause),
			"MCP server "+s.config.Name+" does not take the answer to its question")
	case refused:
		if !looking {
			s.abandonTask(ctx, keep.ID)
		}
		return s.lost("does not take the answer to its question: "+cut(s.clean(reply.Message), maxErrorText), err)
	default: // the next look sends them again if the server still asks
		return s.failedLook(ctx, keep, err)
	}
}

// abandonTask asks the server to cancel a task whose result nobody will fetch.
func (s *Server) abandonTask(ctx context.Context, id string) {
	if err := s.cancelTask(ctx, id); err != nil {
		s.config.Log.WarnContext(ctx, "a task of an MCP server was not cancelled", "server", s.config.Name, "error",
			s.cause(err))
	}
}

// cancel cancels an open call that this process has, or the task of a pending call. It tries again if the server cannot
// be reached.
func (s *Server) cancel(ctx context.Context, call spool.ToolCall) error {
	var keep keptTask
	var open keptOpen
	if err := errors.Join(json.Unmarshal(call.Pending, &keep), json.Unmarshal(call.Pending, &open)); err != nil {
		return spool.Wrap(spool.Internal, "read the state of a call", err)
	}
	if o := s.opened(open.ID); o != nil {
		s.leave(o)
	}
	if open.ID != "" {
		return nil
	}
	if s.http == nil {
		return nil
	}
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		err := s.cancelTask(ctx, keep.ID)
		switch _, refused := errors.AsType[*rpcError](err); {
		case err == nil:
			return nil
		case refused || try == maxTries:
			return s.cause(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// cancelTask asks the server to cancel a task. A task that the server does not have is no error.
func (s *Server) cancelTask(ctx context.Context, id string) error {
	_, err := s.request(ctx, "tasks/cancel", id, map[string]any{"taskId": id})
	if isGone(err) {
		return nil
	}
	return err
}
