package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// maxBrief bounds what a model tells the agent that it hands the thread to, in bytes.
const maxBrief = 16 << 10

// checkTransfers fills in the defaults of an agent's transfers and validates them. It cannot know yet whether the
// other agents exist.
func (a *Agent) checkTransfers(where string) error {
	if len(a.Transfers) == 0 {
		return nil
	}
	transfers := make(map[string]spool.Transfer, len(a.Transfers))
	for name, t := range a.Transfers {
		switch t.History = cmp.Or(t.History, spool.TransferAll); {
		case name == a.Name:
			return spool.Errorf(spool.Invalid, "%sTransfers has the agent itself", where)
		case !t.History.Known():
			return spool.Errorf(spool.Invalid, "%sTransfers: %q has no History of the name %q", where, name, t.History)
		}
		transfers[name] = t
	}
	a.Transfers = transfers
	return nil
}

// checkTargets returns an error for a transfer to an agent that does not exist.
func (r *Registry) checkTargets() error {
	for _, configured := range r.Agents {
		for _, name := range slices.Sorted(maps.Keys(configured.Transfers)) {
			if r.byName[name] == nil {
				return spool.Errorf(spool.Invalid, "Config.Agents: agent %q: Transfers has the agent %q, which Config.Agents lacks",
					configured.Name, name)
			}
		}
	}
	return nil
}

// HandsOver reports whether any agent can hand threads over.
func (r *Registry) HandsOver() bool {
	return slices.ContainsFunc(r.Agents, func(a spool.Agent) bool { return len(a.Transfers) > 0 })
}

// Successor returns the agent that a run may hand its thread to, and what that agent sees. It returns nil if the run
// may not, because of its agent or its subject.
func (r *Registry) Successor(a *Agent, run store.RunRow, name string) (*Agent, spool.TransferHistory) {
	t, known := a.Transfers[name]
	if !known || name == "" {
		return nil, ""
	}
	to := r.For(name, run.Tenant, run.Scopes)
	if to == nil || !r.HasModelFor(to.Model, run.Tenant, run.Scopes) {
		return nil, ""
	}
	return to, t.History
}

// TransferTool returns the tool by which a dispatched run hands its thread over. It reports false if there is no agent
// that the run may hand it to.
func (r *Registry) TransferTool(a *Agent, run store.RunRow) (spool.Tool, bool) {
	t := transfer{to: a.Transfers}
	for _, name := range slices.Sorted(maps.Keys(a.Transfers)) {
		if to, _ := r.Successor(a, run, name); to != nil {
			t.names = append(t.names, name)
		}
	}
	return t.tool(), len(t.names) > 0
}

// transfer makes the transfer tool of an agent.
type transfer struct {
	to    map[string]spool.Transfer
	names []string // those that the run may use, sorted
}

// isTransfer reports whether the agent's transfer tool has the name.
func (a *Agent) isTransfer(name string) bool {
	return name == spool.TransferTool && len(a.Transfers) > 0
}

// TransferArgs are the arguments of a transfer call.
type TransferArgs struct {
	Agent string `json:"agent"`
	Brief string `json:"brief"`
}

// transferred is the result of a transfer call.
type transferred struct {
	Agent string `json:"transferredTo"`
}

func (t transfer) tool() spool.Tool {
	return spool.Tool{
		ToolSpec:   spool.ToolSpec{Name: spool.TransferTool, Description: t.description(), Parameters: t.parameters()},
		Idempotent: true,
		Check: func(args json.RawMessage) error {
			_, err := t.argsOf(args)
			return err
		},
		Call: func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
			args, err := t.argsOf(call.Args)
			return toolresult.JSON(transferred{args.Agent}), err
		},
	}
}

func (t transfer) description() string {
	var b strings.Builder
	b.WriteString("Hands this conversation to another agent, which answers the user from then on. Your own work ends with this call, so say nothing to the user in its place.")
	for _, name := range t.names {
		fmt.Fprintf(&b, "\n%s: %s", name, t.to[name].Description)
		if t.to[name].History == spool.TransferBrief {
			b.WriteString(" It sees only the user's last message and the brief.")
		}
	}
	return b.String()
}

func (t transfer) parameters() json.RawMessage {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Enum        []string `json:"enum,omitempty"`
	}
	return toolresult.JSON(struct {
		Type       string `json:"type"`
		Properties any    `json:"properties"`
		Required   any    `json:"required"`
		Additional bool   `json:"additionalProperties"`
	}{"object", struct {
		Agent property `json:"agent"`
		Brief property `json:"brief"`
	}{
		property{Type: "string", Description: "Which agent.", Enum: t.names},
		property{Type: "string", Description: "Why, and what the other agent has to know."},
	}, []string{"agent", "brief"}, false})
}

// argsOf returns the checked arguments of a call.
func (t transfer) argsOf(args json.RawMessage) (a TransferArgs, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	choices := "the choices are " + strings.Join(t.names, ", ")
	switch {
	case d.Decode(&a) != nil:
		return a, errors.New("the arguments are agent and brief, both of them strings")
	case !slices.Contains(t.names, a.Agent):
		return a, fmt.Errorf("there is no agent %q: %s", a.Agent, choices)
	case strings.TrimSpace(a.Brief) == "":
		return a, errors.New("brief is required")
	case len(a.Brief) > maxBrief:
		return a, fmt.Errorf("brief is longer than %d bytes", maxBrief)
	}
	return a, nil
}

// transferContents returns the transfers of an agent as a part of its revision, by name.
func transferContents(transfers map[string]spool.Transfer) []wire.TransferContent {
	var contents []wire.TransferContent
	for _, name := range slices.Sorted(maps.Keys(transfers)) {
		t := transfers[name]
		contents = append(contents, wire.TransferContent{Agent: name, Description: t.Description, History: t.History})
	}
	return contents
}

// pinnedTransfers returns the transfers of a revision.
func pinnedTransfers(contents []wire.TransferContent) map[string]spool.Transfer {
	transfers := make(map[string]spool.Transfer, len(contents))
	for _, t := range contents {
		transfers[t.Agent] = spool.Transfer{Description: t.Description, History: t.History}
	}
	return transfers
}

// OptionsOf returns the provider options of a run for its agent. An agent that took the thread over gets only the
// options that its own configuration allows.
func OptionsOf(a *Agent, run store.RunRow) json.RawMessage {
	if len(run.ProviderOptions) == 0 || len(run.Handovers) == 0 {
		return run.ProviderOptions
	}
	var options map[string]json.RawMessage
	_ = json.Unmarshal(run.ProviderOptions, &options) // the start has checked it
	maps.DeleteFunc(options, func(name string, _ json.RawMessage) bool {
		return !slices.Contains(a.ProviderOptions, name)
	})
	if len(options) == 0 {
		return nil
	}
	return toolresult.JSON(options)
}

// TransferredTo reports whether a result is one of the transfer tool, and no error.
func TransferredTo(result json.RawMessage) bool {
	var r transferred
	return json.Unmarshal(result, &r) == nil && r.Agent != ""
}
