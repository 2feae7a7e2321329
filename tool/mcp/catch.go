package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync/atomic"
)

// catch reads along in the answer to a call. The SDK does not know results that are tasks and drops what they say.
type catch struct {
	task atomic.Pointer[json.RawMessage]
}

type catchKey struct{}

// withCatch returns a context with whose requests the catch reads along.
func withCatch(ctx context.Context) (context.Context, *catch) {
	c := new(catch)
	return context.WithValue(ctx, catchKey{}, c), c
}

func catchOf(ctx context.Context) *catch {
	c, _ := ctx.Value(catchKey{}).(*catch)
	return c
}

// created returns the result of the call if it is a task, or nil.
func (c *catch) created() json.RawMessage {
	if task := c.task.Load(); task != nil {
		return *task
	}
	return nil
}

// see reads a message.
func (c *catch) see(message []byte) {
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	var kind struct {
		Type string `json:"resultType"`
	}
	if c != nil && json.Unmarshal(message, &m) == nil && json.Unmarshal(m.Result, &kind) == nil && kind.Type == "task" {
		c.task.Store(&m.Result)
	}
}

// events returns a body whose events the catch sees before the reader has them.
func (c *catch) events(body io.ReadCloser) io.ReadCloser {
	if c == nil {
		return body
	}
	return &seenEvents{ReadCloser: body, catch: c}
}

// seenEvents is a stream of events that a catch reads along.
type seenEvents struct {
	io.ReadCloser

	catch *catch
	line  []byte
	data  []byte
	// long is true in an event that is too large, which the reader refuses.
	long bool
}

// Read implements [io.Reader].
func (e *seenEvents) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	for part := range bytes.Lines(p[:n]) {
		if e.line = append(e.line, part...); len(e.line)+len(e.data) > maxMessage {
			e.line, e.data, e.long = e.line[:0], nil, true
		}
		if part[len(part)-1] == '\n' {
			e.endLine(bytes.TrimRight(e.line, "\r\n"))
			e.line = e.line[:0]
		}
	}
	return n, err
}

func (e *seenEvents) endLine(line []byte) {
	switch data, ok := bytes.CutPrefix(line, []byte("data:")); {
	case ok:
		e.data = append(append(e.data, data...), '\n')
	case len(line) == 0:
		if !e.long && len(e.data) > 0 {
			e.catch.see(e.data)
		}
		e.data, e.long = e.data[:0], false
	}
}
