//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// mcpBreaks are the defects of a client that can be planted between the nodes and the MCP server, one at a time, to see
// that the campaign notices.
//
//   - retry: a call that was cut, answered with 503 or left without an answer is sent again.
//   - anew: a process that takes a task over begins it anew.
//   - late: a call of the tool plain becomes one of the newest tool.
//   - payload: the answer to a question arrives with another payload.
var mcpBreaks = []string{"retry", "anew", "late", "payload"}

// planted is what the planted defects remember.
type planted struct {
	mu sync.Mutex
	// calls are the last requests of calls, by key, and tasks those that were begun in place of others.
	calls map[string]mcpRequest
	tasks map[string]string
}

// spoil returns a request as a client with the planted defect would send it.
func (s *mcpServer) spoil(ctx context.Context, q mcpRequest) mcpRequest {
	switch {
	case s.broken == "anew":
		return s.beginAnew(ctx, q)
	case s.broken == "late" && q.Params.Name == "plain":
		_, last := s.tools.extras()
		return q.with(q.Params.Name, extraTool(last))
	case s.broken == "payload":
		q.body = bytes.ReplaceAll(q.body, []byte(payloadBegin), []byte("other-"+payloadBegin))
	}
	return q
}

// with returns a request with another name of a tool or a task.
func (q mcpRequest) with(before, after string) mcpRequest {
	q.body = bytes.ReplaceAll(q.body, []byte(`"`+before+`"`), []byte(`"`+after+`"`))
	q.header = q.header.Clone()
	q.header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(after))+"?=")
	if q.Params.Name == before {
		q.Params.Name = after
	} else {
		q.asked, q.Params.Task = before, after
	}
	return q
}

// beginAnew lets the first look of each other process begin the task anew.
func (s *mcpServer) beginAnew(ctx context.Context, q mcpRequest) mcpRequest {
	p := &s.planted
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.Method == "tools/call" {
		if p.calls == nil {
			p.calls, p.tasks = make(map[string]mcpRequest), make(map[string]string)
		}
		p.calls[q.Params.Meta.Key] = q
		return q
	}
	s.ledger.mu.Lock()
	k, c := s.ledger.task(q.Params.Task)
	s.ledger.mu.Unlock()
	if k == nil {
		return q
	}
	if p.tasks[k.id] == "" && q.Method == "tasks/get" && q.process != k.creator {
		var answer struct {
			Result struct {
				Task string `json:"taskId"`
			} `json:"result"`
		}
		if _, response := s.exchange(ctx, p.calls[c.key]); response != nil && response.Code == http.StatusOK {
			_ = json.Unmarshal(response.Body.Bytes(), &answer)
			p.tasks[k.id] = strings.TrimSpace(answer.Result.Task)
		}
	}
	if instead := p.tasks[k.id]; instead != "" {
		return q.with(q.Params.Task, instead)
	}
	return q
}
