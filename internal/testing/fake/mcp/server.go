// Package mcp is an MCP server of revision 2026-07-28 over HTTP whose tool works in tasks. It is strict: it notes every
// request that the revision or the extension io.modelcontextprotocol/tasks does not allow, and refuses it.
package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Revision is the revision of the protocol that the server speaks.
const Revision = "2026-07-28"

const extension = "io.modelcontextprotocol/tasks"

// Server is the server. Its fields must be set before its first request.
type Server struct {
	// Begin is called for each task, while the server answers the call. Nil: tasks begin as they are.
	Begin func(t *Task)
	// Events lets the server answer with streams of events.
	Events bool
	// InCall lets the tool answer in the call, as a server without the extension does.
	InCall bool
	// Answer answers the calls of all tools, in place of Begin and InCall. Its result is a [Task] that it has made with
	// NewTask, or what the call returns. Nil: there is the one tool, which works in tasks.
	Answer func(c Call) any
	// List returns the tools as tools/list has them. Nil: the one tool.
	List func() []any
	// Offer has further methods, such as resources/read, by their names. They get their params, and return their result.
	Offer map[string]func(params json.RawMessage) any
	// Before is called before each request with its method. It reports whether the server answers: otherwise the
	// connection breaks. Nil: it always answers.
	Before func(method string) bool
	// After is Before, once the request has had its effect.
	After func(method string) bool
	// Status returns the HTTP status with which the server answers a request of a method, without an effect, or 0 for
	// its own answer. Nil: always its own.
	Status func(method string) int
	// Once lets the server refuse an answer to a task that it has got already.
	Once bool

	mu    sync.Mutex
	tasks []*Task
	calls int
	wrong []string
}

// Call is a call of a tool.
type Call struct {
	Name string
	Args json.RawMessage
	// Key is the idempotency key.
	Key string
	// State is what the server has sent with its questions, and Responses are their answers.
	State     string
	Responses map[string]json.RawMessage
}

// Tool is the name of the tool.
const Tool = "audit"

// Started returns how often the tool was called.
func (s *Server) Started() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Tasks returns the tasks in the order in which they began.
func (s *Server) Tasks() []*Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tasks)
}

// Wrong returns the requests that the protocol does not allow.
func (s *Server) Wrong() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrong)
}

// NewTask returns a new task for a call.
func (s *Server) NewTask(key string, args json.RawMessage) *Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newTask(key, args)
}

// newTask is NewTask. The caller holds mu.
func (s *Server) newTask(key string, args json.RawMessage) *Task {
	t := &Task{server: s, ID: fmt.Sprintf("%s-%d", key, s.calls), status: working, Args: args}
	s.tasks = append(s.tasks, t)
	return t
}

// Forget forgets a task.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = slices.DeleteFunc(s.tasks, func(t *Task) bool { return t.ID == id })
}

// Drop forgets all tasks.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = nil
}

type request struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  struct {
		URI       string                     `json:"uri"`
		Name      string                     `json:"name"`
		Arguments json.RawMessage            `json:"arguments"`
		TaskID    string                     `json:"taskId"`
		State     string                     `json:"requestState"`
		Responses map[string]json.RawMessage `json:"inputResponses"`
		Meta      struct {
			Version      string `json:"io.modelcontextprotocol/protocolVersion"` //nolint:tagliatelle // the protocol names it
			Capabilities *struct {
				Extensions map[string]json.RawMessage `json:"extensions"`
			} `json:"io.modelcontextprotocol/clientCapabilities"` //nolint:tagliatelle // the protocol names it
			Key string `json:"io.github.spoolhq/idempotencyKey"` //nolint:tagliatelle // the protocol names it
		} `json:"_meta"` //nolint:tagliatelle // the protocol names it
	} `json:"params"`

	raw json.RawMessage // the params
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	status  int
}

func refuse(code int, format string, args ...any) *failure {
	return &failure{Code: code, Message: fmt.Sprintf(format, args...), status: http.StatusBadRequest}
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var q request
	wrong := check(r, body, &q)
	if s.Before != nil && !s.Before(q.Method) {
		panic(http.ErrAbortHandler)
	}
	if s.Status != nil {
		if status := s.Status(q.Method); status != 0 {
			w.WriteHeader(status)
			return
		}
	}
	var result any
	if wrong == nil {
		result, wrong = s.do(q)
	}
	if s.After != nil && !s.After(q.Method) {
		panic(http.ErrAbortHandler)
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": q.ID}
	if answer["result"] = result; wrong != nil {
		delete(answer, "result")
		answer["error"] = wrong
		if wrong.status == http.StatusBadRequest {
			s.note(q.Method + ": " + wrong.Message)
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	switch {
	case wrong != nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(wrong.status)
	case s.Events:
		w.Header().Set("Content-Type", "text/event-stream")
		text = fmt.Appendf(nil, ": a comment\n\nevent: message\r\ndata: %s\n\ndata: %s\n\n",
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`, text)
	default:
		w.Header().Set("Content-Type", "application/json")
	}
	_, _ = w.Write(text) // the client may have gone
}

func (s *Server) note(wrong string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, wrong)
}

// check checks what the transport demands of each request.
func check(r *http.Request, body []byte, q *request) *failure {
	const headerMismatch = -32020
	var all struct {
		Params json.RawMessage `json:"params"`
	}
	if err := errors.Join(json.Unmarshal(body, q), json.Unmarshal(body, &all)); err != nil {
		return refuse(-32700, "the body is %s: %v", body, err)
	}
	q.raw = all.Params
	accept := r.Header.Get("Accept")
	version := r.Header.Get("Mcp-Protocol-Version")
	name := q.Params.Name + q.Params.TaskID + q.Params.URI
	header := r.Header.Get("Mcp-Name")
	if text, ok := strings.CutPrefix(header, "=?base64?"); ok {
		decoded, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(text, "?="))
		if err != nil {
			return refuse(headerMismatch, "Mcp-Name is %q", header)
		}
		header = string(decoded)
	}
	switch {
	case r.Method != http.MethodPost, r.Header.Get("Content-Type") != "application/json":
		return refuse(-32600, "%s with the type %q", r.Method, r.Header.Get("Content-Type"))
	case !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream"):
		return refuse(-32600, "Accept is %q", accept)
	case q.Version != "2.0" || len(q.ID) == 0 || string(q.ID) == "null":
		return refuse(-32600, "the request is %s", body)
	case version != Revision || version != q.Params.Meta.Version:
		return refuse(headerMismatch, "the versions are %q and %q", version, q.Params.Meta.Version)
	case r.Header.Get("Mcp-Method") != q.Method || header != name:
		return refuse(headerMismatch, "Mcp-Method is %q, Mcp-Name is %q", r.Header.Get("Mcp-Method"), header)
	case q.Params.Meta.Capabilities == nil:
		return refuse(-32602, "the request has no capabilities")
	case r.Header.Get("Mcp-Session-Id") != "":
		return refuse(-32600, "there are no sessions")
	default:
		return nil
	}
}

// do executes a request.
func (s *Server) do(q request) (any, *failure) {
	offered := q.Params.Meta.Capabilities.Extensions[extension] != nil
	switch q.Method {
	case "server/discover":
		can := map[string]any{"tools": map[string]any{}, "extensions": map[string]any{extension: map[string]any{}}}
		for method := range s.Offer {
			what, _, _ := strings.Cut(method, "/")
			can[what] = map[string]any{}
		}
		return map[string]any{
			"resultType": "complete", "supportedVersions": []string{Revision}, "ttlMs": 0, "cacheScope": "private",
			"capabilities": can,
			"_meta": map[string]any{
				"io.modelcontextprotocol/serverInfo": map[string]any{"name": "works", "version": "1"},
			},
		}, nil
	case "tools/list":
		list := audits
		if s.List != nil {
			list = s.List
		}
		return map[string]any{"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": list()}, nil
	case "tools/call":
		return s.call(q, offered)
	case "tasks/get", "tasks/update", "tasks/cancel":
		if !offered {
			return nil, refuse(-32021, "the client does not offer the extension")
		}
		return s.task(q)
	default:
		if answer := s.Offer[q.Method]; answer != nil {
			return answer(q.raw), nil
		}
		return nil, &failure{-32601, "there is no method " + q.Method, http.StatusNotFound}
	}
}

// audits returns the list of the one tool.
func audits() []any { return []any{Listed(Tool, "Audits the books.", "year")} }

// Listed returns a tool, with an integer as its argument, as tools/list has it.
func Listed(name, description, argument string) map[string]any {
	return map[string]any{"name": name, "description": description, "inputSchema": map[string]any{
		"type": "object", "properties": map[string]any{argument: map[string]any{"type": "integer"}},
		"required": []string{argument},
	}}
}

func (s *Server) call(q request, offered bool) (any, *failure) {
	if s.Answer != nil {
		s.mu.Lock()
		s.calls++
		s.mu.Unlock()
		result := s.Answer(Call{q.Params.Name, q.Params.Arguments, q.Params.Meta.Key, q.Params.State, q.Params.Responses})
		if t, ok := result.(*Task); ok {
			result = t.describe("task")
		}
		return result, nil
	}
	s.mu.Lock()
	if q.Params.Name != Tool {
		s.mu.Unlock()
		return nil, refuse(-32602, "there is no tool %q", q.Params.Name)
	}
	s.calls++
	if s.InCall || !offered {
		s.mu.Unlock()
		return Said("in the call"), nil
	}
	t := s.newTask(q.Params.Meta.Key, q.Params.Arguments)
	s.mu.Unlock()
	if s.Begin != nil {
		s.Begin(t)
	}
	return t.describe("task"), nil
}

// task executes a request about a task.
func (s *Server) task(q request) (any, *failure) {
	s.mu.Lock()
	at := slices.IndexFunc(s.tasks, func(t *Task) bool { return t.ID == q.Params.TaskID })
	if at < 0 {
		s.mu.Unlock()
		return nil, &failure{-32602, "Failed to retrieve task: Task not found", http.StatusOK}
	}
	t := s.tasks[at]
	s.mu.Unlock()
	switch q.Method {
	case "tasks/get":
		return t.get(), nil
	case "tasks/update":
		return t.update(q.Params.Responses)
	default:
		return t.cancel()
	}
}

// Said returns the result of a tool that says a text.
func Said(text string) map[string]any {
	return map[string]any{"resultType": "complete", "content": []any{map[string]any{"type": "text", "text": text}}}
}
