package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
)

// A server of an older revision asks in the middle of a call, and the call stays open until it has the answer. The run
// waits without a worker, but only the process that has made the call can give the answer on. So an answer that comes
// to another process makes the call pending: the looks of the engine come to any process, and the one that has the
// call leaves in the state of the call what it has come to.

const (
	// metaCall is where a question names the call that it belongs to. This client adds it, over HTTP.
	metaCall = "io.github.spoolhq/call"
	// theQuestion is the key of the question of an open call.
	theQuestion = "question"

	// maxMissing bounds how long a call waits for the process that has it open.
	maxMissing = 30 * time.Second
	// maxHeld bounds how long a call stays open for an answer, and maxHanded how long what it has come to is kept
	// after another process may have got it.
	maxHeld   = 7 * 24 * time.Hour
	maxHanded = 10 * time.Minute
	// maxOpen bounds the calls of a server that wait for an answer.
	maxOpen = 1000
	// maxOver bounds a result that goes to another process, in bytes. The engine stores a state of 2 MiB.
	maxOver = 1 << 20
)

// openCall is a call that the server has not answered. The server's mu guards what changes in it.
type openCall struct {
	id      string
	tool    string
	session *sdk.ClientSession
	cancel  context.CancelFunc
	over    <-chan struct{} // closed once the call is done
	caught  *catch          // nil: nobody reads along

	call      spool.ToolCall // as its worker has it
	published time.Time

	asked    int // counts its questions
	question *sdk.ElicitParams
	answer   chan *sdk.ElicitResult
	answered time.Time
	expiry   *time.Timer // nil: it has not asked

	done   bool
	result *sdk.CallToolResult
	err    error
}

// keptOpen is what a call keeps that is open in a process. It is stored, so the names of its fields must not change.
type keptOpen struct {
	ID string `json:"open"`
	// Question counts the questions of the call, and Answer is the answer to the last one.
	Question int               `json:"question"`
	Answer   *sdk.ElicitResult `json:"answer,omitempty"`
	// Missing is when a process first did not have the call. Zero: each one had it.
	Missing time.Time `json:"missing,omitzero"`
	// Next is what the call has come to, for a process that does not have it.
	Next *turn `json:"next,omitempty"`
}

// turn is what an open call has come to: its result, its next question, or else its failure.
type turn struct {
	Result   *sdk.CallToolResult `json:"result,omitempty"`
	Question *sdk.ElicitParams   `json:"question,omitempty"`
	Number   int                 `json:"number,omitempty"`
	Code     spool.Code          `json:"code,omitempty"`
	Message  string              `json:"message,omitempty"`
	Unknown  bool                `json:"unknown,omitempty"`

	err error // the failure in the process that has the call
}

// until waits until a condition holds, which it asks under mu. It returns false if ctx ends first.
func (s *Server) until(ctx context.Context, holds func() bool) bool {
	for {
		s.mu.Lock()
		is := holds()
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		if is {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// change wakes those who wait in until. The caller holds mu.
func (s *Server) change() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// begin sends a call, and returns without its answer. The call outlives ctx, so that it can wait for a person.
func (s *Server) begin(
	ctx context.Context, session *sdk.ClientSession, release func(), tool ListedTool, call spool.ToolCall,
	params *sdk.CallToolParams,
) *openCall {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &openCall{
		id: rand.Text(), tool: tool.Name, session: session, call: call, cancel: cancel, over: lasting.Done(),
		caught: catchOf(ctx),
	}
	if o.caught != nil {
		o.caught.call = o.id
	}
	s.mu.Lock()
	s.open = append(s.open, o)
	s.mu.Unlock()
	params.SetProgressToken(o.id)
	go func() {
		defer release()
		defer cancel()
		result, err := session.CallTool(lasting, params)
		s.mu.Lock()
		defer s.mu.Unlock()
		o.done, o.result, o.err = true, result, err
		s.change()
	}()
	return o
}

// opened returns the call with an id, or nil.
func (s *Server) opened(id string) *openCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.open, func(o *openCall) bool { return o.id == id }); i >= 0 {
		return s.open[i]
	}
	return nil
}

// leave cancels a call, unless it is done, and forgets it.
func (s *Server) leave(o *openCall) {
	o.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.expiry != nil {
		o.expiry.Stop()
	}
	s.open = slices.DeleteFunc(s.open, func(other *openCall) bool { return other == o })
	s.change()
}

// await waits until a call is done or has asked more than a number of questions. It returns false if ctx ends first.
func (s *Server) await(ctx context.Context, o *openCall, asked int) bool {
	return s.until(ctx, func() bool { return o.done || o.question != nil && o.asked > asked })
}

// waitsForAnswers reports whether a call is open.
func (s *Server) waitsForAnswers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) > 0
}

// questions is the middleware of a client that takes the questions of servers of older revisions. Those of the present
// one ask by results.
func (s *Server) questions(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		session, known := r.GetSession().(*sdk.ClientSession)
		switch params := r.GetParams().(type) {
		case *sdk.ElicitParams:
			if known && params != nil {
				return s.elicited(ctx, session, params)
			}
		case *sdk.ProgressNotificationParams:
			if params != nil {
				s.progress(ctx, params)
			}
		}
		return next(ctx, method, r)
	}
}

// elicited asks a person a question of a server, and returns the answer. It takes until then.
func (s *Server) elicited(
	ctx context.Context, session *sdk.ClientSession, params *sdk.ElicitParams,
) (*sdk.ElicitResult, error) {
	if _, _, err := s.questionOf(params); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: spool.MessageOf(err)}
	}
	o, answer := s.claim(ctx, session, params)
	if o == nil {
		s.config.Log.WarnContext(ctx,
			"an MCP server asks a question that belongs to no call, or to one of several; it is cancelled", "server",
			s.config.Name)
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	var result *sdk.ElicitResult
	err := error(&jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nobody will answer, as the call was given up"})
	select {
	case result = <-answer:
		err = nil
	case <-o.over:
	case <-ctx.Done(): // the server has withdrawn the question, or the connection is gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.question == params {
		o.question = nil
		s.change()
	}
	return result, err
}

// claim gives a question to its call. A question over HTTP names the call. Otherwise the call has to be the only one
// over the connection that could ask, which the question waits for, or one of several equal calls of a run.
func (s *Server) claim(
	ctx context.Context, session *sdk.ClientSession, params *sdk.ElicitParams,
) (o *openCall, answer chan *sdk.ElicitResult) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	id, _ := params.Meta[metaCall].(string)
	s.mu.Lock()
	if s.unclaimed == nil {
		s.unclaimed = make(map[*sdk.ClientSession]int)
	}
	s.unclaimed[session]++
	s.mu.Unlock()
	s.until(ctx, func() bool {
		var could []*openCall
		waiting := 0
		for _, c := range s.open {
			if c.expiry != nil && !c.done {
				waiting++
			}
			if c.session == session && !c.done && (id == "" || c.id == id) {
				could = append(could, c)
			}
		}
		if id == "" { // a call with a question asks no other
			could = slices.DeleteFunc(could, func(c *openCall) bool { return c.question != nil })
		}
		different := func(c *openCall) bool { return c.call.RunID != could[0].call.RunID || c.tool != could[0].tool }
		switch {
		case len(could) == 0 || waiting >= maxOpen:
			return true
		case slices.ContainsFunc(could, different), could[0].question != nil:
			return false
		}
		o = could[0]
		answer = make(chan *sdk.ElicitResult, 1)
		o.asked++
		o.question, o.answer = params, answer
		if o.expiry == nil {
			o.expiry = time.AfterFunc(maxHeld, func() { s.leave(o) })
		}
		o.expiry.Reset(maxHeld)
		s.change()
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unclaimed[session]--; s.unclaimed[session] == 0 {
		delete(s.unclaimed, session)
		s.change()
	}
	return o, answer
}

// asking returns the question of a call, or an empty turn if it has none.
func (s *Server) asking(o *openCall) turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.done || o.question == nil {
		return turn{}
	}
	return turn{Question: o.question, Number: o.asked}
}

// turnOf returns what a call that the server has got has come to.
func (s *Server) turnOf(o *openCall, timedOut bool) turn {
	if next := s.asking(o); next.Question != nil && !timedOut {
		return next
	}
	s.mu.Lock()
	result, err := o.result, o.err
	s.mu.Unlock()
	if result != nil && err == nil {
		return turn{Result: result}
	}
	if !timedOut && err != nil {
		if result, unread := s.read(o.caught, err); result != nil {
			return turn{Result: result}
		} else if unread != nil {
			return turn{err: unread, Code: spool.CodeOf(unread), Message: spool.MessageOf(unread)}
		}
	}
	if timedOut || err == nil {
		err = context.DeadlineExceeded
	} else if !isReply(err) {
		s.drop(o.session)
	}
	next := turn{err: s.failed(err, true, timedOut)}
	plain := next.err
	if unknown, ok := errors.AsType[*spool.OutcomeUnknownError](plain); ok {
		next.Unknown, plain = true, unknown.Err
	}
	next.Code, next.Message = spool.CodeOf(plain), spool.MessageOf(plain)
	return next
}

// outcome returns the result, the question or the error of an open call. It stores the number of the question, by which
// an answer finds the question.
func (s *Server) outcome(
	ctx context.Context, id string, tool ListedTool, call spool.ToolCall, next turn,
) (json.RawMessage, error) {
	switch {
	case next.Question != nil:
		err := s.ask(tool, &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{theQuestion: next.Question}})
		if park, ok := errors.AsType[*spool.ParkRequest](err); ok {
			state, failed := json.Marshal(keptOpen{ID: id, Question: next.Number})
			if failed != nil {
				return nil, spool.Wrap(spool.Internal, "encode the state of a call", failed)
			}
			park.Pending = state
		}
		return nil, err
	case next.Result != nil:
		return s.result(ctx, call, next.Result)
	case next.err != nil:
		return nil, next.err
	case next.Unknown:
		return nil, &spool.OutcomeUnknownError{Err: &spool.Error{Code: next.Code, Message: next.Message}}
	default:
		return nil, &spool.Error{Code: next.Code, Message: next.Message}
	}
}

// resumeOpen gives an open call the answer of a person, and waits for what follows.
func (s *Server) resumeOpen(
	ctx context.Context, tool ListedTool, call spool.ToolCall, keep keptOpen,
) (json.RawMessage, error) {
	o := s.opened(keep.ID)
	if call.Resume != nil {
		_, answers, err := answerForServer(call)
		if err != nil {
			if o != nil {
				s.leave(o)
			}
			return nil, err
		}
		keep.Answer, _ = answers[theQuestion].(*sdk.ElicitResult)
	}
	switch {
	case keep.Next != nil && call.Looking:
		return nil, nil
	case keep.Next != nil:
		return s.outcome(ctx, keep.ID, tool, call, *keep.Next)
	case o == nil:
		return nil, s.missing(keep)
	}
	next, err := s.answered(ctx, o, call, keep)
	switch {
	case err != nil:
		return nil, err
	case call.Looking:
		return nil, s.handOver(o, keep, next)
	}
	if next.Question == nil {
		s.leave(o)
	}
	return s.outcome(ctx, keep.ID, tool, call, next)
}

// answered gives a call its answer, once, and returns what the call comes to.
func (s *Server) answered(ctx context.Context, o *openCall, call spool.ToolCall, keep keptOpen) (turn, error) {
	if err := lease.Check(ctx); err != nil {
		return turn{}, err
	}
	s.mu.Lock()
	if o.asked == keep.Question && o.answer != nil {
		o.answer <- keep.Answer
		o.answer, o.answered = nil, time.Now()
	}
	o.call = call
	over := o.answered.Add(s.config.Timeout)
	s.mu.Unlock()
	waiting, cancel := context.WithDeadline(ctx, over)
	defer cancel()
	if call.Looking { // a look is bounded too
		var bounded context.CancelFunc
		waiting, bounded = context.WithTimeout(waiting, maxRequest)
		defer bounded()
	}
	came := s.await(waiting, o, keep.Question)
	switch {
	case came:
	case ctx.Err() != nil && call.Looking:
		return turn{}, ctx.Err()
	case ctx.Err() != nil: // the run was stopped, or the process shuts down
		s.leave(o)
		return turn{}, ctx.Err()
	case call.Looking && time.Now().Before(over):
		return turn{}, keep.pending("waits for the MCP server " + s.config.Name)
	default:
		o.cancel()
	}
	return s.turnOf(o, !came), nil
}

// handOver returns the error of a look at a call, with what the call has come to for the process that goes on.
func (s *Server) handOver(o *openCall, keep keptOpen, next turn) error {
	keep.Next, keep.Missing = &next, time.Time{}
	if text, err := json.Marshal(next); err != nil || len(text) > maxOver {
		keep.Next = &turn{
			Code:    spool.Limit,
			Message: "the tool was executed, but its result is too large for the process that goes on with the call",
		}
	}
	if next.Question == nil {
		o.expiry.Reset(maxHanded) // the look may come again
	}
	return keep.pending("")
}

// missing returns the error of a call that this process does not have.
func (s *Server) missing(keep keptOpen) error {
	if keep.Missing.IsZero() {
		keep.Missing = time.Now()
	}
	if time.Since(keep.Missing) >= maxMissing {
		return s.lost("was asked by a process that has ended, and so the answer to its question was not sent", nil)
	}
	return keep.pending("waits for the process that has asked the MCP server " + s.config.Name)
}

func (k keptOpen) pending(note string) error {
	state, err := json.Marshal(k)
	if err != nil {
		return spool.Wrap(spool.Internal, "encode the state of a call", err)
	}
	return &spool.PendingError{After: spool.MinPending, State: state, Note: note}
}
