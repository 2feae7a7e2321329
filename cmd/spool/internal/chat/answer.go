package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// Answer is an answer to a question, before it is sent.
type Answer struct {
	Approve   bool
	Reason    string
	Arguments json.RawMessage
	Payload   json.RawMessage
}

// Check returns an error for an answer that the question cannot have.
func (a Answer) Check(q wire.InputRequired) error {
	switch {
	case a.Arguments != nil && !a.Approve:
		return spool.Errorf(spool.Invalid, "arguments go with an approval")
	case a.Arguments != nil && !editable(a.Arguments):
		return spool.Errorf(spool.Invalid, "the arguments must be a JSON object")
	case a.Payload != nil && !json.Valid(a.Payload):
		return spool.Errorf(spool.Invalid, "the payload must be JSON")
	case a.Approve && a.Payload == nil && q.Reason == wire.ParkBudget:
		return spool.Errorf(spool.Invalid, "a larger budget is needed, such as %s", Larger(q))
	case a.Approve && a.Payload == nil && q.Reason == wire.ParkClientTool:
		return spool.Errorf(spool.Invalid, "the result of the call is needed, as JSON")
	}
	return nil
}

// Request returns the answer in the form for the server. Its digest is that of the question that was shown.
func (a Answer) Request(q wire.InputRequired) client.RespondRequest {
	return client.RespondRequest{
		ToolCallID: q.ToolCallID, Approved: a.Approve, Arguments: a.Arguments, Digest: q.Digest, Payload: a.Payload,
		Reason: a.Reason,
	}
}

// bounds are the fields of the budgets, by the stop reason of a run that has used one up.
var bounds = map[wire.StopReason]string{
	wire.StopTokenBudget: "tokenBudget", wire.StopCostBudget: "costBudgetMicros",
	wire.StopToolCallBudget: "toolCallBudget", wire.StopTimeBudget: "wallTimeMs",
}

// answerTokens is what the engine keeps for an answer of a model whose agent has no limit for it.
const answerTokens = 8192

// Larger returns a total that lets a run go on whose budget a question is about. Twice a budget of tokens may ask again
// at once: what is used, the next prompt, which has at most all of it, and an answer have to fit.
func Larger(q wire.InputRequired) string {
	var asked struct {
		Exhausted wire.StopReason
		Budget    map[string]json.Number
		Spent     map[string]json.Number
	}
	_ = json.Unmarshal(q.Arguments, &asked)
	bound := bounds[asked.Exhausted]
	n, err := asked.Budget[bound].Int64()
	if bound == "" || err != nil {
		return "{}"
	}
	spent, _ := asked.Spent[bound].Int64()
	enough := max(2*n, 3*spent)
	if asked.Exhausted == wire.StopTokenBudget {
		enough = max(enough, spent+max(spent, n)+answerTokens)
	}
	return fmt.Sprintf(`{"%s":%d}`, bound, enough)
}

// givesResult asks for the result of a call that was made and whose outcome is unknown.
const givesResult = "its result, as JSON: "

// approvalLine returns the label and the first text of the line that an approval needs. No label: a yes is enough.
func approvalLine(q wire.InputRequired) (label, with string) {
	switch {
	case q.Reason == wire.ParkBudget:
		return "the new totals: ", Larger(q)
	case q.Reason == wire.ParkClientTool:
		return "the result, as JSON: ", ""
	case q.Reason != wire.ParkApproval && q.Reason != wire.ParkOutcomeUnknown && len(q.InputSchema) > 0 &&
		string(q.InputSchema) != "null":
		return "the answer, as JSON that fits " + oneLine(q.InputSchema, 400) + ": ", ""
	}
	return "", ""
}

// edit lets a person edit arguments in the editor of the environment.
func edit(ctx context.Context, editor string, args json.RawMessage) (json.RawMessage, error) {
	f, err := os.CreateTemp("", "spool-arguments-*.json") // only its owner may read it
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	text := bytes.NewBuffer(nil)
	if json.Indent(text, args, "", "  ") != nil {
		text = bytes.NewBuffer(args)
	}
	text.WriteByte('\n')
	if _, err = f.Write(text.Bytes()); err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, err
	}
	words := append(strings.Fields(editor), f.Name())
	c := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the person's own editor
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	edited, err := os.ReadFile(f.Name())
	if err != nil {
		return nil, err
	}
	if !editable(edited) {
		return nil, spool.Errorf(spool.Invalid, "the arguments must be a JSON object")
	}
	return edited, nil
}

// decided reads the answer to "approve (y/n)", which may also be one of the keys.
func decided(text string) (approve bool, err error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "a":
		return true, nil
	case "n", "no", "d":
		return false, nil
	default:
		return false, spool.Errorf(spool.Invalid, "y or n")
	}
}
