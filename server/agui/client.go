package agui

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Client returns the client's instructions and tools for a run.
func (in *RunAgentInput) Client() wire.ClientInput {
	var c wire.ClientInput
	for _, t := range in.Tools {
		parameters := t.Parameters
		if string(parameters) == "null" {
			parameters = nil
		}
		c.Tools = append(c.Tools, wire.ClientTool{Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	for _, entry := range in.Context {
		c.Context = append(c.Context, wire.ClientContext(entry))
	}
	return c
}

// ClientResult is the result of a call of one of the client's tools.
type ClientResult struct {
	ToolCallID spool.ToolCallID
	// Payload is the result: the message's JSON object or array, or else its text as a JSON string.
	Payload json.RawMessage
	// Digest identifies the question that the result answers.
	Digest string

	nested bool // a nested run made the call
}

// EndsWithResult reports whether the last message is the result of a tool call.
func (in *RunAgentInput) EndsWithResult() bool {
	return len(in.Messages) > 0 && in.Messages[len(in.Messages)-1].Role == spool.RoleTool
}

// Results returns the results at the end of the messages, for calls of the client's tools that wait in the
// thread. There are none if the agent's own tools gave all results. The snapshot s must have the newest
// messages of the thread, and among them all calls that may wait.
//
// It returns an [spool.Invalid] error for a malformed result, a [spool.Conflict] error if no call waits for a
// result, and a [spool.Gone] error if all of the calls already have their results.
func (in *RunAgentInput) Results(s *wire.Snapshot) ([]ClientResult, error) {
	at := len(in.Messages)
	for at > 0 && in.Messages[at-1].Role == spool.RoleTool {
		at--
	}
	open, begun := waiting(s), callsOf(s.Messages)
	var results []ClientResult
	var again error
	seen := make(map[spool.ToolCallID]bool)
	for _, m := range in.Messages[at:] {
		park, waits := open[m.ToolCallID]
		switch {
		case m.ToolCallID == "":
			return nil, spool.Errorf(spool.Invalid, "messages: the result %q has no toolCallId", m.ID)
		case m.ownResult():
			continue
		case seen[m.ToolCallID]:
			return nil, spool.Errorf(spool.Invalid, "messages: the call %q has two results", m.ToolCallID)
		case waits && park.Reason == wire.ParkClientTool:
			result, err := m.result(park)
			if err != nil {
				return nil, err
			}
			results = append(results, result)
		case waits:
			return nil, spool.Errorf(spool.Conflict,
				"messages: the call %q waits for an answer in resume (%s), and not for a result", m.ToolCallID, park.Reason)
		case begun[m.ToolCallID]:
			again = spool.Errorf(spool.Gone, "messages: the call %q does not wait for a result any more", m.ToolCallID)
		default:
			return nil, spool.Errorf(spool.Conflict, "messages: nothing waits for a result of the call %q", m.ToolCallID)
		}
		seen[m.ToolCallID] = true
	}
	if len(results) > 0 { // a page may repeat earlier results
		return results, nil
	}
	return nil, again
}

// result reads the message as the result of a call of a client's tool.
func (m InputMessage) result(of wire.InputRequired) (ClientResult, error) {
	var text string
	if len(m.Content) > 0 && strictjson.Decode("", m.Content, &text) != nil {
		return ClientResult{}, spool.Errorf(spool.Invalid, "messages: the content of the result of %q must be a string",
			m.ToolCallID)
	}
	r := ClientResult{ToolCallID: m.ToolCallID, Digest: of.Digest, nested: of.AgentID != nil}
	switch payload := json.RawMessage(strings.TrimSpace(text)); {
	case m.Error != "":
		r.Payload = mustJSON(struct {
			Error  string `json:"error"`
			Result string `json:"result,omitempty"`
		}{m.Error, text})
	case len(payload) > 0 && (payload[0] == '{' || payload[0] == '[') && spool.CheckArguments("", payload) == nil:
		r.Payload = payload
	default:
		r.Payload = mustJSON(text)
	}
	if len(r.Payload) > maxResult {
		return r, spool.Errorf(spool.Invalid, "messages: the result of the call %q is longer than %d bytes", m.ToolCallID,
			maxResult)
	}
	return r, spool.CheckArguments("messages: the result of the call "+strconv.Quote(string(m.ToolCallID)), r.Payload)
}

// maxResult bounds the bytes of a result, like the payload of any answer.
const maxResult = 256 << 10

// ownResult reports whether this server created the message: see [resultID].
func (m InputMessage) ownResult() bool {
	step, ours := strings.CutSuffix(m.ID, ":"+string(m.ToolCallID))
	at := strings.LastIndex(step, ":s")
	if !ours || at < 1 {
		return false
	}
	_, err := strconv.Atoi(step[at+len(":s"):])
	return err == nil
}

// waiting returns the parks for which the thread of a snapshot waits, by call.
func waiting(s *wire.Snapshot) map[spool.ToolCallID]wire.InputRequired {
	all := make(map[spool.ToolCallID]wire.InputRequired)
	for _, in := range projection.OpenParks(s) {
		all[in.ToolCallID] = in
	}
	return all
}

func callsOf(messages []spool.Message) map[spool.ToolCallID]bool {
	all := make(map[spool.ToolCallID]bool)
	for _, m := range messages {
		for _, p := range m.ToolCalls() {
			all[p.ToolCallID] = true
		}
	}
	return all
}

// nestedCalls returns the calls of the client's tools that nested runs made. A client executes calls that it
// finds in its messages, and it does not get the messages of nested runs.
func nestedCalls(of projection.Parks) (events []Event) {
	for _, in := range of {
		if !projection.ForClient(in) || in.AgentID == nil {
			continue
		}
		start := ToolStart{
			ToolCallID: in.ToolCallID, ToolCallName: in.ToolName,
			ParentMessageID: string(*in.AgentID) + ":" + string(in.ToolCallID),
		}
		events = append(events, start, ToolArgs{in.ToolCallID, argsText(in.Arguments)}, ToolEnd{in.ToolCallID})
	}
	return events
}
