package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"
)

// catch reads along in the answer to a call. The SDK does not know results that are tasks and drops what they say, and
// it does not say which call a question of an older revision belongs to.
type catch struct {
	task atomic.Pointer[json.RawMessage]
	call string // the id of the call
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

// see reads a message, and returns it with the name of its call if it is a question.
func (c *catch) see(message []byte) []byte {
	var m struct {
		Method string          `json:"method"`
		Result json.RawMessage `json:"result"`
	}
	var kind struct {
		Type string `json:"resultType"`
	}
	switch {
	case c == nil || json.Unmarshal(message, &m) != nil:
	case m.Method == "elicitation/create":
		return c.named(message)
	case json.Unmarshal(m.Result, &kind) == nil && kind.Type == "task":
		c.task.Store(&m.Result)
	}
	return message
}

// named returns a question with the id of its call in its metadata.
func (c *catch) named(message []byte) []byte {
	var m, params, meta map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || json.Unmarshal(m["params"], &params) != nil || params == nil {
		return message
	}
	if json.Unmarshal(params["_meta"], &meta) != nil || meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	var errs [4]error
	meta[metaCall], errs[0] = json.Marshal(c.call)
	params["_meta"], errs[1] = json.Marshal(meta)
	m["params"], errs[2] = json.Marshal(params)
	named, err := json.Marshal(m)
	if errs[3] = err; errors.Join(errs[:]...) != nil {
		return message
	}
	return named
}

// events returns a body whose events the catch sees before the reader has them.
func (c *catch) events(body io.ReadCloser) io.ReadCloser {
	if c == nil {
		return body
	}
	return &seenEvents{ReadCloser: body, lines: bufio.NewReader(body), catch: c}
}

// seenEvents is a stream of events that a catch reads along. It gives each event as a whole.
type seenEvents struct {
	io.ReadCloser

	lines *bufio.Reader
	catch *catch
	ready []byte // what has been seen and was not read
	event []byte
	data  []byte
	// long is true in an event that is too large, which the reader refuses.
	long bool
	// whole drops an event without an end.
	whole bool
	err   error
}

// Read implements [io.Reader].
func (e *seenEvents) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.readLine()
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// readLine reads a line, or a piece of one that is too long.
func (e *seenEvents) readLine() {
	begin := len(e.event)
	for len(e.event) <= maxMessage {
		piece, err := e.lines.ReadSlice('\n')
		e.event = append(e.event, piece...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		e.err = err
		break
	}
	line := bytes.TrimRight(e.event[begin:], "\r\n")
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case len(e.event) > maxMessage, e.long: // it is given on as it is
		e.ready, e.event, e.data, e.long = e.event, nil, nil, len(line) > 0
	case e.err != nil && e.whole:
		e.event = nil
	case e.err != nil:
		e.ready, e.event = e.event, nil
	case isData:
		e.data = append(append(e.data, data...), '\n')
	case len(line) == 0:
		e.endEvent()
	}
}

func (e *seenEvents) endEvent() {
	if seen := e.catch.see(e.data); len(e.data) > 0 && !bytes.Equal(seen, e.data) {
		lines := slices.Collect(bytes.Lines(e.event))
		lines = slices.DeleteFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte("data:")) })
		e.event = slices.Concat([]byte("data: "), seen, []byte("\n"), bytes.Join(lines, nil))
	}
	e.ready, e.event, e.data = e.event, nil, nil
}
