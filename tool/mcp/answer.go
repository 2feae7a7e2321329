package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
)

// A server's answer may be one that nobody can read: too large, no JSON, or with data that are no base64. The request
// was executed all the same. So it is not sent again, nothing asks a person about its outcome, and the connection
// stays.

// unreadableError is an answer that has come and that cannot be read.
type unreadableError struct{ reason string }

func (e *unreadableError) Error() string { return "the answer cannot be read: " + e.reason }

func unreadableAnswer(format string, args ...any) *unreadableError {
	return &unreadableError{reason: fmt.Sprintf(format, args...)}
}

// tooLarge is the answer above the bound.
func tooLarge() *unreadableError {
	return unreadableAnswer("it is larger than %d bytes", maxMessage)
}

// unread returns the error of a request whose answer cannot be read. The thing is what was executed.
func (s *Server) unread(subject string, err error) error {
	reason := err.Error()
	if e, ok := errors.AsType[*unreadableError](err); ok {
		reason = e.reason
	}
	return spool.Errorf(spool.Invalid, "%s was executed, but the answer of MCP server %s cannot be read: %s", subject,
		s.config.Name, cut(s.clean(reason), maxErrorText))
}

// unreadable is a part of a result that cannot be read. The embedded text says why.
type unreadable struct {
	*sdk.TextContent

	kind string
}

// readResult reads the result of a call. Parts that cannot be read, or that are of an unknown type, become parts that
// say so: the others are of use all the same.
func readResult(answer json.RawMessage) (*sdk.CallToolResult, error) {
	result := new(sdk.CallToolResult)
	if err := json.Unmarshal(answer, result); err == nil && string(answer) != "null" {
		return result, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil || fields == nil {
		return nil, unreadableAnswer("the result is no object")
	}
	contents, err := eachContent(fields["content"])
	if err != nil {
		return nil, err
	}
	delete(fields, "content")
	remaining, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(remaining, result)
	}
	if err != nil {
		return nil, unreadableAnswer("%v", err)
	}
	result.Content = contents
	return result, nil
}

// eachContent reads a list of parts one by one.
func eachContent(list json.RawMessage) ([]sdk.Content, error) {
	var all []json.RawMessage
	if len(list) > 0 && json.Unmarshal(list, &all) != nil {
		return nil, unreadableAnswer("its content is no list")
	}
	contents := make([]sdk.Content, 0, len(all))
	for _, one := range all {
		contents = append(contents, contentOne(one))
	}
	return contents, nil
}

// contentOne reads a part.
func contentOne(text json.RawMessage) sdk.Content {
	const maxKind = 50
	var one sdk.CallToolResult
	err := json.Unmarshal(fmt.Appendf(nil, `{"content":[%s]}`, text), &one)
	if err == nil && len(one.Content) == 1 {
		return one.Content[0]
	}
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(text, &kind) != nil || kind.Type == "" {
		kind.Type = "unknown"
	}
	why := "[this part cannot be read]"
	if err != nil {
		why = "[this part cannot be read: " + cut(err.Error(), maxTitle) + "]"
	}
	return &unreadable{TextContent: &sdk.TextContent{Text: why}, kind: cut(kind.Type, maxKind)}
}

// answered returns what the server has answered to a request for which the SDK has only an error: a result that is no
// error of the server. It returns nil, and no error, if there is no such answer.
func (c *catch) answered(err error) (json.RawMessage, error) {
	if c == nil {
		return nil, nil
	}
	if broken := c.broken.Load(); broken != nil {
		return nil, broken
	}
	if broken, ok := errors.AsType[*unreadableError](err); ok {
		return nil, broken
	}
	if answer := c.answer.Load(); answer != nil {
		return *answer, nil
	}
	return nil, nil
}

// readAlongConn is a connection with which catches read along, as they do over HTTP.
type readAlongConn struct {
	sdk.Connection

	catches catches
}

// Write implements [sdk.Connection].
func (c *readAlongConn) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.catches.add(ctx, r.ID)
	}
	return c.Connection.Write(ctx, m)
}

// Read implements [sdk.Connection].
func (c *readAlongConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	r, ok := m.(*jsonrpc.Response)
	if !ok || err != nil {
		return m, err
	}
	caught := c.catches.remove(r.ID)
	reply, fails := errors.AsType[*jsonrpc.Error](r.Error)
	switch {
	case caught == nil:
	case fails && reply.Code == codeUnread:
		caught.broken.Store(tooLarge())
	case r.Error == nil && len(r.Result) > 0:
		caught.answer.Store(&r.Result)
	}
	return m, nil
}
