package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/catalogue"
)

// checkSources validates the tool sources of an agent or a profile.
func (a *Agent) checkSources() error {
	seen := make(map[string]bool, len(a.ToolSources))
	for _, s := range a.ToolSources {
		switch {
		case s == nil:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a nil tool source", a.Name)
		case !toolName.MatchString(s.Name()):
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a tool source with the bad name %q", a.Name,
				s.Name())
		case seen[s.Name()]:
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has two tool sources of the name %q", a.Name, s.Name())
		}
		seen[s.Name()] = true
	}
	return nil
}

// sourceContents returns the names of tool sources, sorted, nil for none.
func sourceContents(sources []spool.ToolSource) []string {
	names := make([]string, 0, len(sources))
	for _, s := range sources {
		names = append(names, s.Name())
	}
	return sorted(names)
}

// Sources returns the tool sources of the agent and its profiles, one of each name, by name.
func (a *Agent) Sources() []spool.ToolSource {
	byName := make(map[string]spool.ToolSource)
	for _, s := range a.ToolSources {
		byName[s.Name()] = s
	}
	if a.Spawn != nil {
		for _, name := range slices.Sorted(maps.Keys(a.Spawn.Profiles)) {
			for _, s := range a.Spawn.Profiles[name].ToolSources {
				if byName[s.Name()] == nil {
					byName[s.Name()] = s
				}
			}
		}
	}
	all := make([]spool.ToolSource, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		all = append(all, byName[name])
	}
	return all
}

// WithLists returns the agent and its profiles with the tools that its sources make from their lists, by the
// names of the sources. The agent must not be narrowed for a run yet.
func (a *Agent) WithLists(lists map[string]json.RawMessage) (*Agent, error) {
	own := *a
	if a.Spawn != nil { // the spawn tool stays the last one, and personas get the sources' tools too
		spawn := a.Tools[len(a.Tools)-1]
		own.Tools = a.personaTools
		if err := own.addSourced(lists); err != nil {
			return nil, err
		}
		own.personaTools = own.Tools
		own.Tools = append(slices.Clip(own.Tools), spawn)
	} else if err := own.addSourced(lists); err != nil {
		return nil, err
	}
	if len(a.profiles) == 0 {
		return &own, nil
	}
	own.profiles = make(map[string]*Agent, len(a.profiles))
	for name, p := range a.profiles {
		profile := *p
		if p.Spawn != nil {
			spawn := p.Tools[len(p.Tools)-1]
			profile.Tools = p.personaTools
			if err := profile.addSourced(lists); err != nil {
				return nil, err
			}
			profile.personaTools, profile.profiles = profile.Tools, own.profiles
			profile.Tools = append(slices.Clip(profile.Tools), spawn)
		} else if err := profile.addSourced(lists); err != nil {
			return nil, err
		}
		own.profiles[name] = &profile
	}
	return &own, nil
}

// addSourced adds the tools of the sources. A tool is left out if its name or its schema is bad, or another tool has
// its name. The tools of a catalogue are left out if the agent itself has a tool of the name of one of the two that
// find them.
func (a *Agent) addSourced(lists map[string]json.RawMessage) error {
	a.Tools, a.FromSource, a.LeftOut = slices.Clone(a.Tools), make(map[string]bool), nil
	names := make(map[string]bool, len(a.Tools))
	for i := range a.Tools {
		names[a.Tools[i].Name] = true
	}
	noCatalogue := names[spool.SearchTool] || names[spool.DescribeTool]
	bySource, hasCatalogue := make([][]spool.Tool, len(a.ToolSources)), searches(a.Tools)
	for i, s := range a.ToolSources {
		var err error
		if bySource[i], err = toolsOf(s, lists[s.Name()]); err != nil {
			return &spool.Error{
				Code: spool.CodeOf(err), Message: "read the tools of " + s.Name() + ": " + spool.MessageOf(err), Err: err,
			}
		}
		hasCatalogue = hasCatalogue || searches(bySource[i])
	}
	for i, tools := range bySource {
		for _, t := range tools {
			switch {
			case names[t.Name], !toolName.MatchString(t.Name), t.Name == spool.SpawnTool, a.isTransfer(t.Name), t.Call == nil,
				t.Parameters != nil && !json.Valid(t.Parameters),
				t.Search && noCatalogue, catalogue.Is(t.Name) && hasCatalogue:
				a.LeftOut = append(a.LeftOut, a.ToolSources[i].Name()+": "+t.Name)
				continue
			}
			a.Tools = append(a.Tools, t)
			a.FromSource[t.Name], names[t.Name] = true, true
		}
	}
	return nil
}

// toolsOf returns the tools of a list. The source is application code.
func toolsOf(source spool.ToolSource, list json.RawMessage) (tools []spool.Tool, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &spool.Error{
				Code: spool.Internal, Message: "the tool source panicked", Err: fmt.Errorf("panic: %v\n%s", r, debug.Stack()),
			}
		}
	}()
	return source.Tools(list)
}
