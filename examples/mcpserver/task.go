package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tasksExtension lets a server answer a call by a task, whose result the client fetches later. The SDK does not have
// it, so audits answers the call and the requests tasks/... itself.
const tasksExtension = "io.modelcontextprotocol/tasks"

// audits are the tasks of the tool audit. They are in memory. A real shop would keep them in its database.
type audits struct {
	takes time.Duration
	count atomic.Int64

	mu    sync.Mutex
	tasks map[string]*audit
}

type audit struct {
	number    int64
	year      int
	began     time.Time
	cancelled bool
}

type year struct {
	Year int `json:"year" jsonschema:"the year"`
}

// task is a task as clients see it.
type task struct {
	mcp.ResultBase

	ResultType string              `json:"resultType"`
	ID         string              `json:"taskId"`
	Status     string              `json:"status"`
	Message    string              `json:"statusMessage"`
	CreatedAt  time.Time           `json:"createdAt"`
	UpdatedAt  time.Time           `json:"lastUpdatedAt"`
	TTL        int64               `json:"ttlMs"`
	Every      int64               `json:"pollIntervalMs"`
	Result     *mcp.CallToolResult `json:"result,omitempty"`
}

type taskID struct {
	mcp.ParamsBase

	ID string `json:"taskId"`
}

type done struct {
	mcp.ResultBase

	ResultType string `json:"resultType"`
}

// addAudits adds the tool audit, whose work takes a while.
func addAudits(server *mcp.Server, takes time.Duration) error {
	a := &audits{takes: takes, tasks: make(map[string]*audit)}
	mcp.AddTool(server, &mcp.Tool{Name: "audit", Description: "Audits the books of a year. It takes a while."}, a.inCall)
	server.AddReceivingMiddleware(a.begin)
	if err := mcp.AddReceivingCustomMethod(server, "tasks/get", a.get); err != nil {
		return err
	}
	return mcp.AddReceivingCustomMethod(server, "tasks/cancel", a.cancel)
}

// begin answers a call of audit by a task if the client offers the extension.
func (a *audits) begin(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		call, ok := r.(*mcp.CallToolRequest)
		if !ok || call.Params.Name != "audit" || !offers(call) {
			return next(ctx, method, r)
		}
		var in year
		if err := json.Unmarshal(call.Params.Arguments, &in); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "year is a number"}
		}
		id := rand.Text()
		a.mu.Lock()
		defer a.mu.Unlock()
		a.tasks[id] = &audit{number: a.count.Add(1), year: in.Year, began: time.Now()}
		return a.describe(id, "task"), nil
	}
}

// offers reports whether the client of a call offers the extension.
func offers(call *mcp.CallToolRequest) bool {
	client := call.Session.InitializeParams()
	return client != nil && client.Capabilities != nil && client.Capabilities.Extensions[tasksExtension] != nil
}

// inCall is the tool for clients without the extension.
func (a *audits) inCall(ctx context.Context, _ *mcp.CallToolRequest, in year) (*mcp.CallToolResult, any, error) {
	select {
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	case <-time.After(a.takes):
		return audited(in.Year, a.count.Add(1)), nil, nil
	}
}

func audited(year int, number int64) *mcp.CallToolResult {
	return said("The books of %d are in order. It was audit %d.", year, number)
}

// describe returns a task as the result of a type. The caller holds mu.
func (a *audits) describe(id, kind string) *task {
	t := a.tasks[id]
	passed := time.Since(t.began)
	out := &task{
		ResultType: kind, ID: id, Status: "working", Message: fmt.Sprintf("%d%% read", 50*(2*passed/a.takes)),
		CreatedAt: t.began, UpdatedAt: time.Now(), TTL: (24 * time.Hour).Milliseconds(), Every: time.Second.Milliseconds(),
	}
	switch {
	case t.cancelled:
		out.Status, out.Message = "cancelled", ""
	case passed >= a.takes && kind != "task": // a new task has no result
		out.Status, out.Message, out.Result = "completed", "", audited(t.year, t.number)
	}
	return out
}

var errNoTask = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task"}

func (a *audits) get(_ context.Context, _ *mcp.ServerSession, r *taskID) (*task, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tasks[r.ID] == nil {
		return nil, errNoTask
	}
	return a.describe(r.ID, "complete"), nil
}

func (a *audits) cancel(_ context.Context, _ *mcp.ServerSession, r *taskID) (*done, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tasks[r.ID]
	if t == nil {
		return nil, errNoTask
	}
	t.cancelled = t.cancelled || time.Since(t.began) < a.takes
	return &done{ResultType: "complete"}, nil
}
