package aisdk

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// Subagent is the content of a part of the type data-subagent: a nested run. Its id is the call that spawned it.
// That call is no part of its own, because a page could not answer a question in the step while the call has no
// result. The calls of the nested run are parts of the type dynamic-tool.
type Subagent struct {
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	AgentID    spool.AgentID    `json:"agentId,omitempty"`
	Name       string           `json:"name"`
	Prompt     string           `json:"prompt,omitempty"`
	// Status is running, completed, failed or cancelled.
	Status string `json:"status"`
	Text   string `json:"text,omitempty"`
	Error  string `json:"error,omitempty"`
}

const (
	statusRunning   = "running"
	statusCompleted = "completed"
	statusFailed    = "failed"
	statusCancelled = "cancelled"
)

func isSpawn(tool string) bool { return tool == spool.SpawnTool }

// newSubagent reads the arguments of the call that spawns a nested run.
func newSubagent(id spool.ToolCallID, args json.RawMessage) *Subagent {
	var in struct {
		Name         string `json:"name"`
		Instructions string `json:"instructions"`
	}
	_ = json.Unmarshal(args, &in) //nolint:forbidigo // saved arguments; a call with others has an error as its result
	return &Subagent{ToolCallID: id, Name: in.Name, Prompt: in.Instructions, Status: statusRunning}
}

// spawnResult is the result of a call that spawned a nested run.
type spawnResult struct {
	AgentID spool.AgentID   `json:"agentId"`
	Result  json.RawMessage `json:"result"`
	Error   string          `json:"error"`
}

func spawned(result json.RawMessage) (r spawnResult, ok bool) {
	return r, json.Unmarshal(result, &r) == nil && r.AgentID != "" //nolint:forbidigo // a saved result
}

// end applies the result of the call.
func (s *Subagent) end(result json.RawMessage) {
	r, ok := spawned(result)
	if ok {
		s.AgentID = r.AgentID
	}
	switch outcome := readResult(result); {
	case outcome.error != "":
		s.Status, s.Error = statusFailed, outcome.error
	case ok:
		s.Status = statusCompleted
		if json.Unmarshal(r.Result, &s.Text) != nil { //nolint:forbidigo // a saved result
			s.Text = string(r.Result)
		}
	default:
		s.Status = statusCancelled
	}
}

// callOutcome is how a call has ended, according to its result.
type callOutcome struct {
	denied bool
	reason string
	error  string
}

// readResult reads the forms of a result that the engine itself makes.
func readResult(result json.RawMessage) callOutcome {
	var plain string
	if json.Unmarshal(result, &plain) == nil { //nolint:forbidigo // a saved result
		failure, _ := strings.CutPrefix(plain, "error: ")
		if failure == plain {
			return callOutcome{}
		}
		return callOutcome{error: failure}
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil { //nolint:forbidigo // a saved result
		return callOutcome{}
	}
	text := func(key string) (s string) {
		_ = json.Unmarshal(fields[key], &s) //nolint:forbidigo // a saved result; another form is the tool's own
		return s
	}
	has := func(key string) bool { return string(fields[key]) == "true" }
	_, nested := fields["agentId"]
	_, cut := fields["outcome"] // of a call that was cut off
	switch {
	case has("denied"):
		return callOutcome{denied: true, reason: text("reason")}
	case len(fields) == 1, nested, cut, has("approved") && fields["result"] == nil:
		return callOutcome{error: text("error")}
	default:
		return callOutcome{}
	}
}
