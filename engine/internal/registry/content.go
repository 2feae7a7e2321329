package registry

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/wire"
)

// contentOf returns the content of a checked agent. It returns an [spool.Invalid] error for an Extra that is
// not JSON.
func (c Config) contentOf(a *Agent) (content wire.AgentContent, err error) {
	content = wire.AgentContent{
		Name: a.Name, Instructions: a.Instructions, Model: c.modelContent(a.Model), Tools: toolContents(a.ownTools()),
		ToolSources: sourceContents(a.ToolSources), MaxSteps: a.MaxSteps, NoFinalAnswer: a.NoFinalAnswer,
		MaxOutputTokens: a.MaxOutputTokens, Budget: a.Budget, OnBudget: a.OnBudget, Access: accessContent(a.Access),
		DistinctApprover: a.DistinctApprover, ProviderOptions: sorted(a.ProviderOptions), ClientTools: a.ClientTools,
		ClientContext: a.ClientContext, Output: a.Output, FixedOutput: a.FixedOutput, Fallback: c.fallbackContent(a),
		Transfers: transferContents(a.Transfers),
	}
	if content.Extra, err = extraContent(a.Extra); err != nil {
		return content, spool.Errorf(spool.Invalid, "Config.Agents: agent %q has an Extra that is not JSON: %s", a.Name, err)
	}
	if a.Spawn == nil {
		return content, nil
	}
	content.Spawn = &wire.SpawnContent{
		Profiles: []wire.ProfileContent{}, Open: a.Spawn.Open, MaxDepth: a.Spawn.MaxDepth,
		MaxConcurrent: a.Spawn.MaxConcurrent, MaxSteps: a.Spawn.MaxSteps, ResultCap: a.Spawn.ResultCap,
	}
	for name, p := range a.Spawn.Profiles {
		profile := wire.ProfileContent{
			Name: name, Description: p.Description, Instructions: p.Instructions, Tools: toolContents(p.Tools),
			ToolSources: sourceContents(p.ToolSources), MaxSteps: a.profiles[name].MaxSteps, MaxOutputTokens: p.MaxOutputTokens,
			Output: p.Output, Spawns: p.Spawns, Fallbacks: c.modelContents(p.Fallbacks),
		}
		if p.Model != "" {
			profile.Model = c.modelContent(p.Model)
		}
		if profile.Extra, err = extraContent(p.Extra); err != nil {
			return content, spool.Errorf(spool.Invalid,
				"Config.Agents: agent %q has a profile %q with an Extra that is not JSON: %s", a.Name, name, err)
		}
		content.Spawn.Profiles = append(content.Spawn.Profiles, profile)
	}
	slices.SortFunc(content.Spawn.Profiles, func(a, b wire.ProfileContent) int { return cmp.Compare(a.Name, b.Name) })
	return content, nil
}

// ownTools returns the configured tools, without the spawn tool, which follows from the Spawn.
func (a *Agent) ownTools() []spool.Tool {
	if a.Spawn == nil {
		return a.Tools
	}
	return a.personaTools
}

func (c Config) modelContent(name string) wire.ModelContent {
	info := spool.InfoOf(c.Models[name])
	return wire.ModelContent{Name: name, Provider: info.Provider, ID: info.Model}
}

func toolContents(tools []spool.Tool) []wire.ToolContent {
	contents := make([]wire.ToolContent, 0, len(tools))
	for _, t := range tools {
		parameters := t.Parameters
		if len(parameters) > 0 && !json.Valid(parameters) {
			parameters = toolresult.JSON(string(parameters))
		}
		contents = append(contents, wire.ToolContent{
			Name: t.Name, Description: t.Description, Parameters: parameters, Approval: approvalKind(t),
			Idempotent: t.Idempotent, Polling: t.Polling, Search: t.Search, Access: accessContent(t.Access),
			DistinctApprover: t.DistinctApprover,
		})
	}
	slices.SortFunc(contents, func(a, b wire.ToolContent) int { return cmp.Compare(a.Name, b.Name) })
	return contents
}

var alwaysApprove = reflect.ValueOf(spool.AlwaysApprove).Pointer()

func approvalKind(t spool.Tool) wire.ApprovalKind {
	switch {
	case t.Approval == nil:
		return ""
	case reflect.ValueOf(t.Approval).Pointer() == alwaysApprove:
		return wire.ApprovalAlways
	default:
		return wire.ApprovalSometimes
	}
}

func accessContent(a spool.Access) spool.Access {
	return spool.Access{Tenants: sorted(a.Tenants), Scopes: sorted(a.Scopes)}
}

// sorted returns the elements in order, nil for none.
func sorted[T cmp.Ordered](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func extraContent(extra map[string]any) (json.RawMessage, error) {
	if len(extra) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(extra)
	if err != nil {
		return nil, err
	}
	return toolresult.JSON(hide(decode(text))), nil
}

// decode decodes JSON and keeps each number as it is written. It returns nil for text that is not JSON.
func decode(text json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// Pinned returns the named agent of this process with the content of a revision. What is not a part of the
// content, such as the functions of tools, is the process's. Pinned returns an error that names what this
// process lacks.
func (r *Registry) Pinned(id wire.RevisionID, content wire.AgentContent) (*Agent, error) {
	present := r.byName[content.Name]
	if present == nil {
		return nil, spool.Errorf(spool.NotFound, "unknown agent %s", content.Name)
	}
	if content.Revision() != id {
		return nil, spool.Errorf(spool.Internal, "the content of revision %s is another one's", id)
	}
	a := Agent{Agent: present.Agent, Revision: id}
	a.Model, a.Instructions, a.MaxSteps, a.MaxOutputTokens = content.Model.Name, content.Instructions, content.MaxSteps,
		content.MaxOutputTokens
	a.NoFinalAnswer, a.Extra = content.NoFinalAnswer, pinnedExtra(content.Extra, present.Extra)
	a.DistinctApprover = content.DistinctApprover || present.DistinctApprover
	a.OnBudget, a.ClientTools, a.ClientContext = content.OnBudget, content.ClientTools, content.ClientContext
	a.Output, a.FixedOutput = content.Output, content.FixedOutput
	a.pinFallbacks(content.Fallback)
	a.Transfers = pinnedTransfers(content.Transfers)
	a.Tools, a.Spawn = pinnedTools(content.Tools, present.ownTools()), nil
	a.ToolSources = pinnedSources(content.ToolSources, present.ToolSources)
	if s := content.Spawn; s != nil {
		a.Spawn = &spool.Spawn{
			Profiles: make(map[string]spool.Profile, len(s.Profiles)), Open: s.Open, MaxDepth: s.MaxDepth,
			MaxConcurrent: s.MaxConcurrent, MaxSteps: s.MaxSteps, ResultCap: s.ResultCap,
		}
		for _, p := range s.Profiles {
			a.Spawn.Profiles[p.Name] = pinnedProfile(p, present)
		}
	}
	return &a, r.checkAgent(&a)
}

func pinnedProfile(p wire.ProfileContent, above *Agent) spool.Profile {
	var present spool.Profile
	if above.Spawn != nil {
		present = above.Spawn.Profiles[p.Name]
	}
	return spool.Profile{
		Description: p.Description, Instructions: p.Instructions, Model: p.Model.Name,
		Tools:       pinnedTools(p.Tools, slices.Concat(present.Tools, above.ownTools())),
		ToolSources: pinnedSources(p.ToolSources, slices.Concat(present.ToolSources, above.ToolSources)),
		MaxSteps:    p.MaxSteps, MaxOutputTokens: p.MaxOutputTokens, Extra: pinnedExtra(p.Extra, present.Extra),
		Output: p.Output, Spawns: p.Spawns, Fallbacks: modelNames(p.Fallbacks),
	}
}

// pinnedTools returns the tools of a revision with the functions of the process's tools.
func pinnedTools(contents []wire.ToolContent, present []spool.Tool) []spool.Tool {
	tools := make([]spool.Tool, 0, len(contents))
	for _, c := range contents {
		i := slices.IndexFunc(present, func(t spool.Tool) bool { return t.Name == c.Name })
		tool := lostTool(c)
		if i >= 0 {
			tool = pinnedTool(c, present[i])
		}
		tool.ToolSpec = spool.ToolSpec{Name: c.Name, Description: c.Description, Parameters: c.Parameters}
		tool.Search = c.Search
		tools = append(tools, tool)
	}
	return tools
}

// pinnedSources returns the process's sources of a revision in the process's order, one of each name. A source that the
// process lacks is left out.
func pinnedSources(names []string, present []spool.ToolSource) []spool.ToolSource {
	var sources []spool.ToolSource
	for _, s := range present {
		if slices.Contains(names, s.Name()) {
			sources = append(sources, s)
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == s.Name() })
		}
	}
	return sources
}

// pinnedTool returns the process's tool. It asks a person if the tool of the revision or that of the process
// does.
func pinnedTool(c wire.ToolContent, present spool.Tool) spool.Tool {
	if kind := approvalKind(present); c.Approval == wire.ApprovalAlways || c.Approval != "" && kind == "" {
		present.Approval = spool.AlwaysApprove
	}
	present.DistinctApprover = present.DistinctApprover || c.DistinctApprover
	present.Idempotent, present.Polling = present.Idempotent && c.Idempotent, c.Polling
	return present
}

// lostTool returns a tool whose calls fail, because the process has no tool of the name.
func lostTool(c wire.ToolContent) spool.Tool {
	return spool.Tool{
		Access: c.Access,
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return nil, spool.Errorf(spool.Gone, "the tool %s no longer exists", c.Name)
		},
	}
}
