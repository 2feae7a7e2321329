package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
)

// KeyMeta is the key of a call's metadata whose value is the idempotency key of the call: the same for every
// repeat, and different for every other call.
const KeyMeta = "io.github.spoolhq/idempotencyKey"

// FenceMeta is the key of a call's metadata whose value is [spool.ToolCall.Fence].
const FenceMeta = "io.github.spoolhq/fence"

const (
	// maxTries bounds how often a call is sent that may be repeated.
	maxTries = 3
	// firstPause is the pause before the second try. Each further one is twice as long.
	firstPause = 500 * time.Millisecond
)

// call executes a call of a tool.
func (s *Server) call(
	ctx context.Context, tool ListedTool, idempotent bool, call spool.ToolCall,
) (json.RawMessage, error) {
	ctx = lease.With(ctx, call)
	if call.Pending != nil {
		result, err := s.resume(ctx, tool, call)
		if unknown, ok := errors.AsType[*spool.OutcomeUnknownError](err); ok && idempotent {
			err = unknown.Err // the model may call the tool again
		}
		return result, err
	}
	args, err := withFiles(ctx, tool.Schema, call)
	if err != nil {
		return nil, err
	}
	params := &sdk.CallToolParams{
		Meta: sdk.Meta{KeyMeta: call.IdempotencyKey(), FenceMeta: call.Fence}, Name: tool.Name, Arguments: args,
	}
	if call.Resume != nil {
		if params.RequestState, params.InputResponses, err = answerForServer(call); err != nil {
			return nil, err
		}
	}
	pause, busy := firstPause, 0
	for try := 1; ; try++ {
		next, id, created, err := s.send(ctx, tool, call, params)
		result := next.Result
		unknown, isUnknown := errors.AsType[*spool.OutcomeUnknownError](err)
		switch {
		case created != nil:
			return nil, s.begun(created)
		case err == nil && next.Question != nil:
			return s.outcome(ctx, id, tool, call, next)
		// it is busy, and gives a state to come back with
		case err == nil && result.NeedsInput() && len(result.InputRequests) == 0 && busy < maxTries:
			busy++
			params.RequestState, params.InputResponses = result.RequestState, nil
		case err == nil && result.NeedsInput() && len(result.InputRequests) == 0:
			return nil, spool.Errorf(spool.Unavailable, "MCP server %s is busy", s.config.Name)
		case err == nil && result.NeedsInput():
			return nil, s.ask(tool, result)
		case err == nil:
			return s.result(ctx, call, result)
		case !isUnknown || !idempotent:
			return nil, err
		case try == maxTries:
			return nil, unknown.Err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
			pause *= 2
		}
	}
}

func argsOf(call spool.ToolCall) json.RawMessage {
	if len(call.Args) == 0 {
		return json.RawMessage("{}")
	}
	return call.Args
}

// send sends a call once. If the server has said that its session is gone, it sends the call again over a new
// connection. It returns the result of the call, or its question and the id of the open call, or the task that the
// server has created instead. The error is an [spool.OutcomeUnknownError] if the server may have executed the call.
func (s *Server) send(
	parent context.Context, tool ListedTool, call spool.ToolCall, params *sdk.CallToolParams,
) (next turn, id string, created json.RawMessage, err error) {
	for renewed := false; ; renewed = true {
		session, release, err := s.ready(parent, tool)
		if err != nil {
			return turn{}, "", nil, err
		}
		if err := lease.Check(parent); err != nil {
			release()
			return turn{}, "", nil, err
		}
		ctx, cancel := context.WithTimeout(parent, s.config.Timeout)
		defer cancel()
		traced, sent := withSent(ctx)
		traced, caught := withCatch(traced)
		o := s.begin(traced, session, release, tool, call, params)
		if s.await(ctx, o, 0) && parent.Err() == nil {
			if next = s.asking(o); next.Question != nil {
				return next, o.id, nil, nil
			}
		}
		s.leave(o)
		s.await(context.WithoutCancel(ctx), o, math.MaxInt)
		if created := caught.created(); o.err == nil || created != nil {
			return turn{Result: o.result}, "", created, nil
		}
		if result, err := s.read(caught, o.err); result != nil || err != nil {
			return turn{Result: result}, "", nil, err
		}
		gone, err := s.failedOn(parent, ctx, session, sent, o.err)
		if !gone || renewed {
			return turn{}, "", nil, err
		}
	}
}

// read returns the result of a call that the SDK could not read, or an error that says that the call was executed. It
// returns neither if there was no answer, or an error of the server.
func (s *Server) read(caught *catch, err error) (*sdk.CallToolResult, error) {
	answer, err := caught.answered(err)
	var result *sdk.CallToolResult
	if err == nil && answer != nil {
		result, err = readResult(answer)
	}
	if err != nil {
		return nil, s.unread("the tool", err)
	}
	return result, nil
}

// failedOn returns the error of a request over a connection without an answer that can be read, and drops the
// connection if it is of no use. It also returns whether the server has only said that its session is gone: then the
// request may be sent again.
func (s *Server) failedOn(
	parent, ctx context.Context, session *sdk.ClientSession, sent *sending, err error,
) (gone bool, _ error) {
	status, isStatus := errors.AsType[*statusError](err)
	gone = isStatus && status.status == http.StatusNotFound && status.session
	if gone || !isReply(err) && !isStatus && ctx.Err() == nil {
		s.drop(session)
	}
	if refused := sent.Refused(); refused != nil {
		return gone, refused
	}
	if parent.Err() != nil {
		return gone, parent.Err()
	}
	return gone, s.failed(err, s.http == nil || sent.Load(), ctx.Err() != nil)
}

// ready returns a connection for a call of a tool, until release is called.
func (s *Server) ready(
	parent context.Context, tool ListedTool,
) (session *sdk.ClientSession, release func(), err error) {
	ctx, cancel := context.WithTimeout(parent, 2*s.config.ConnectTimeout)
	defer cancel()
	session, release, err = s.acquire(ctx)
	// the SDK takes these headers from a list of its session
	if err == nil && strings.Contains(string(tool.Schema), "x-mcp-header") {
		_, err = s.listPages(ctx, session, func([]*sdk.Tool) bool { return true })
		if _, unread := errors.AsType[*unreadableError](err); unread || isReply(err) {
			err = nil
		} else if err != nil {
			release()
			s.drop(session)
		}
	}
	if err == nil && !s.until(ctx, func() bool { return s.unclaimed[session] == 0 }) {
		release()
		err = ctx.Err()
	}
	switch {
	case err == nil:
		return session, release, nil
	case parent.Err() != nil:
		return nil, nil, parent.Err()
	case ctx.Err() != nil:
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	return nil, nil, s.unreachable(err)
}

// failed returns the error of a call without a result. Sent says that the server may have got it.
func (s *Server) failed(err error, sent, timedOut bool) error {
	if reply, ok := replyOf(err); ok {
		return spool.Errorf(spool.Invalid, "MCP server %s: %s", s.config.Name, cut(s.clean(reply.Message), maxErrorText))
	}
	if status, ok := errors.AsType[*statusError](err); ok && status.status < http.StatusInternalServerError {
		return spool.Errorf(spool.Invalid, "MCP server %s: %s", s.config.Name, status.Error())
	}
	if errors.Is(err, errRedirect) {
		return spool.Errorf(spool.Invalid, "MCP server %s: %s", s.config.Name, errRedirect.Error())
	}
	if !sent {
		return s.unreachable(err)
	}
	message := "the connection to MCP server " + s.config.Name + " broke before the answer"
	if timedOut {
		message = "MCP server " + s.config.Name + " did not answer within " + s.config.Timeout.String()
	}
	return &spool.OutcomeUnknownError{Err: &spool.Error{Code: spool.Unavailable, Message: message, Err: s.cause(err)}}
}

// isReply reports whether an error is the server's answer to the request.
func isReply(err error) bool {
	_, ok := replyOf(err)
	return ok
}

// replyOf returns the error that the server answered with. The SDK has errors of its own that look alike.
func replyOf(err error) (*jsonrpc.Error, bool) {
	reply, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return nil, false
	}
	switch reply.Code {
	case -32003, -32004, -32005: // the SDK's client is closing, its server is closing, its transport rejected the request
		return nil, false
	default:
		return reply, true
	}
}
