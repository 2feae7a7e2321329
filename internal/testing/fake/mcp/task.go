package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"
)

// The states of a task.
const (
	working   = "working"
	asks      = "input_required"
	completed = "completed"
	failed    = "failed"
	cancelled = "cancelled"
)

// Task is a task of the server.
type Task struct {
	// ID is the key of the call and the number of the task.
	ID string
	// Args are the arguments of the call.
	Args json.RawMessage

	server *Server
	// The fields below belong to the server's lock.

	status   string
	message  string
	ttl      *int64
	every    *int64
	result   any
	failure  any
	requests map[string]any
	asked    map[string]bool
	lazy     int
	answers  map[string]json.RawMessage
	gets     int
	cancels  int
}

func (t *Task) set(change func()) {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	change()
}

// Works says how far the task is.
func (t *Task) Works(message string) { t.set(func() { t.status, t.message = working, message }) }

// Complete ends the task with a result.
func (t *Task) Complete(result any) { t.set(func() { t.status, t.result = completed, result }) }

// Fail ends the task with an error of JSON-RPC.
func (t *Task) Fail(code int, message string) {
	t.set(func() { t.status, t.failure = failed, map[string]any{"code": code, "message": message} })
}

// Cancel ends the task without a result.
func (t *Task) Cancel(why string) { t.set(func() { t.status, t.message = cancelled, why }) }

// Last sets the time after which the server may drop the task, and the pause that it wants between two looks, in
// milliseconds.
func (t *Task) Last(ttl, every int64) { t.set(func() { t.ttl, t.every = &ttl, &every }) }

// Ask asks a question with a field of the form. The server keeps asking it for so many looks after the answer, as it
// may.
func (t *Task) Ask(key, field string, lazy int) {
	t.AskRaw(key, lazy, Question("Which "+field+"?", field))
}

// Question returns a request for a form with one field.
func Question(message, field string) map[string]any {
	return map[string]any{"method": "elicitation/create", "params": map[string]any{
		"mode": "form", "message": message, "requestedSchema": map[string]any{
			"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}}, "required": []string{field},
		},
	}}
}

// AskRaw is Ask with any request.
func (t *Task) AskRaw(key string, lazy int, request any) {
	t.set(func() {
		t.status, t.lazy = asks, lazy
		if t.asked == nil {
			t.asked, t.answers = make(map[string]bool), make(map[string]json.RawMessage)
		}
		if t.requests == nil {
			t.requests = make(map[string]any)
		}
		if t.asked[key] {
			panic("a key names one question")
		}
		t.requests[key], t.asked[key] = request, true
	})
}

// Withdraw takes a question back.
func (t *Task) Withdraw(key string) { t.set(func() { delete(t.requests, key) }) }

// Answers returns the answers that the task has got.
func (t *Task) Answers() map[string]json.RawMessage {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return maps.Clone(t.answers)
}

// Asking reports whether the task waits for answers.
func (t *Task) Asking() bool {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return t.status == asks
}

// Looks returns how often a client asked for the state.
func (t *Task) Looks() int {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return t.gets
}

// Cancels returns how often a client cancelled the task.
func (t *Task) Cancels() int {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	return t.cancels
}

// describe returns the task as a result of a type.
func (t *Task) describe(kind string) map[string]any {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	now := time.Now().UTC().Format(time.RFC3339)
	d := map[string]any{
		"resultType": kind, "taskId": t.ID, "status": t.status, "createdAt": now, "lastUpdatedAt": now, "ttlMs": t.ttl,
	}
	if t.every != nil {
		d["pollIntervalMs"] = *t.every
	}
	if t.message != "" {
		d["statusMessage"] = t.message
	}
	if kind == "task" { // it has no details
		return d
	}
	switch t.status {
	case completed:
		d["result"] = t.result
	case failed:
		d["error"] = t.failure
	case asks:
		d["inputRequests"] = maps.Clone(t.requests)
	}
	return d
}

func (t *Task) get() any {
	d := t.describe("complete")
	t.set(func() {
		t.gets++
		if t.status == asks && t.answered() {
			t.lazy--
			t.goOn()
		}
	})
	return d
}

// answered reports whether all questions have answers.
func (t *Task) answered() bool {
	for key := range t.requests {
		if t.answers[key] == nil {
			return false
		}
	}
	return true
}

// goOn ends the questions that have answers.
func (t *Task) goOn() {
	if t.answered() && t.lazy <= 0 {
		t.requests, t.status = nil, working
	}
}

func (t *Task) update(answers map[string]json.RawMessage) (any, *failure) {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	if len(answers) == 0 {
		return nil, refuse(-32600, "there are no answers")
	}
	for key, answer := range answers {
		var a struct {
			Action  string         `json:"action"`
			Content map[string]any `json:"content"`
		}
		switch err := json.Unmarshal(answer, &a); {
		case err != nil || a.Action != "accept" && a.Action != "decline" && a.Action != "cancel":
			return nil, refuse(-32600, "the answer is %s", answer)
		case t.answers[key] != nil && t.server.Once:
			return nil, &failure{-32600, "the answer is there", http.StatusOK}
		case t.answers[key] != nil && string(t.answers[key]) == string(answer):
			continue // it has been sent again
		case t.answers[key] != nil:
			return nil, refuse(-32600, "another answer for %q", key)
		case t.asked[key] && t.requests[key] == nil: // since the client's last look
			return nil, &failure{-32600, "the question was withdrawn", http.StatusOK}
		case t.status != asks || t.requests[key] == nil:
			return nil, refuse(-32600, "the task is %s and does not ask %q", t.status, key)
		}
		t.answers[key] = answer
	}
	t.goOn()
	return map[string]any{"resultType": "complete"}, nil
}

func (t *Task) cancel() (any, *failure) {
	t.server.mu.Lock()
	defer t.server.mu.Unlock()
	t.cancels++
	if t.status == working || t.status == asks {
		t.status = cancelled
	}
	return map[string]any{"resultType": "complete"}, nil
}
