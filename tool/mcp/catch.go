package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// catch reads along in the answer to a call. The SDK does not know results that are tasks and drops what they say, and
// it does not say which call a question of an older revision belongs to.
//
// It also keeps the answer itself: the SDK gives nothing of one that it cannot read.
type catch struct {
	task   atomic.Pointer[json.RawMessage]
	answer atomic.Pointer[json.RawMessage] // the result
	broken atomic.Pointer[unreadableError] // why the answer is no message at all
	call   string                          // the id of the call
	alone  bool                            // the SDK need not have the result: see withoutResults
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
	case m.Method == "" && m.Result != nil:
		c.answer.Store(&m.Result)
		if json.Unmarshal(m.Result, &kind) == nil && kind.Type == "task" {
			c.task.Store(&m.Result)
		}
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

// events returns a body whose events the catch sees before the reader has them. They answer a request.
func (c *catch) events(body io.ReadCloser, r *http.Request) io.ReadCloser {
	if c == nil {
		return body
	}
	return &seenEvents{ReadCloser: body, lines: bufio.NewReader(body), catch: c, request: idOf(r)}
}

// idOf returns the id of a request in JSON, or nil.
func idOf(r *http.Request) json.RawMessage {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.NewDecoder(body).Decode(&m) != nil {
		return nil
	}
	return m.ID
}

// seenEvents is a stream of events that a catch reads along. It gives each event as a whole.
type seenEvents struct {
	io.ReadCloser

	lines *bufio.Reader
	catch *catch
	// request is the id of the request that the events answer. Nil: they answer none.
	request json.RawMessage
	ready   []byte // what has been seen and was not read
	event   []byte
	data    []byte
	// long is true in an event that is too large. The reader refuses it, unless it answers a request: see replace.
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
	case len(e.event) > maxMessage, e.long:
		if !e.long && e.request != nil {
			e.replace(tooLarge())
		} else if e.request == nil {
			e.ready = e.event // it is given on as it is
		}
		e.event, e.data, e.long = nil, nil, len(line) > 0
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

// replace gives the reader an error in place of an event that cannot be read: the SDK would break the connection,
// with all calls that are under way.
func (e *seenEvents) replace(why *unreadableError) {
	e.catch.broken.Store(why)
	e.ready = fmt.Appendf(nil,
		"data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"the answer cannot be read\"}}\n\n",
		e.request, jsonrpc.CodeInternalError)
}

func (e *seenEvents) endEvent() {
	if e.request != nil && len(bytes.TrimSpace(e.data)) > 0 {
		if _, err := jsonrpc.DecodeMessage(e.data); err != nil {
			e.event, e.data = nil, nil
			e.replace(unreadableAnswer("it is no message of JSON-RPC"))
			return
		}
	}
	if seen := e.catch.see(e.data); len(e.data) > 0 && !bytes.Equal(seen, e.data) {
		lines := slices.Collect(bytes.Lines(e.event))
		lines = slices.DeleteFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, []byte("data:")) })
		e.event = slices.Concat([]byte("data: "), seen, []byte("\n"), bytes.Join(lines, nil))
	}
	e.ready, e.event, e.data = e.event, nil, nil
}

// catches has a catch for each request of a connection that has no answer yet.
type catches struct {
	mu   sync.Mutex
	byID map[jsonrpc.ID]*catch
}

// add notes the catch of a request, until its answer or its end.
func (c *catches) add(ctx context.Context, id jsonrpc.ID) {
	caught := catchOf(ctx)
	if caught == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = make(map[jsonrpc.ID]*catch)
	}
	c.byID[id] = caught
	context.AfterFunc(ctx, func() { c.remove(id) })
}

// remove returns the catch of a request, and forgets it. It returns nil if there is none.
func (c *catches) remove(id jsonrpc.ID) *catch {
	c.mu.Lock()
	defer c.mu.Unlock()
	caught := c.byID[id]
	delete(c.byID, id)
	return caught
}
