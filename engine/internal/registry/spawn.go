package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

const (
	DefaultMaxDepth      = 2
	DefaultMaxConcurrent = 3
	defaultNestedSteps   = 10
	DefaultResultCap     = 8000
	// PromptCap is how many characters of a brief are kept in the nested run's row.
	PromptCap = 2000
)

var profileName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Brief contains the arguments of a spawn call.
type Brief struct {
	Name         string `json:"name"`
	Instructions string `json:"instructions"`
	Model        string `json:"model,omitempty"`
}

// checkSpawn fills in the defaults of the agent's Spawn, turns its profiles into agents, and adds
// the spawn tool.
func (c Config) checkSpawn(a *Agent) error {
	if a.Spawn == nil {
		return nil
	}
	s := *a.Spawn
	a.Spawn = &s
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"MaxDepth", &s.MaxDepth, DefaultMaxDepth},
		{"MaxConcurrent", &s.MaxConcurrent, DefaultMaxConcurrent},
		{"MaxSteps", &s.MaxSteps, min(defaultNestedSteps, a.MaxSteps)},
		{"ResultCap", &s.ResultCap, DefaultResultCap},
	} {
		if *f.value < 0 {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a negative Spawn.%s", a.Name, f.name)
		}
		*f.value = cmp.Or(*f.value, f.def)
	}
	if len(s.Profiles) == 0 && !s.Open {
		return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a Spawn with neither Profiles nor Open", a.Name)
	}
	a.personaTools = slices.Clone(a.Tools)
	tool := spawn{&s}.tool(c.MaxPromptBytes)
	a.profiles = make(map[string]*Agent, len(s.Profiles))
	for name, p := range s.Profiles {
		if !profileName.MatchString(name) {
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has a profile with the bad name %q", a.Name, name)
		}
		nested := &Agent{Agent: spool.Agent{
			Name: name, Model: cmp.Or(p.Model, a.Model), Instructions: p.Instructions, Tools: slices.Clone(p.Tools),
			ToolSources: p.ToolSources, MaxSteps: min(cmp.Or(p.MaxSteps, s.MaxSteps), a.MaxSteps),
			MaxOutputTokens: p.MaxOutputTokens, Extra: p.Extra, DistinctApprover: a.DistinctApprover,
			NoFinalAnswer: a.NoFinalAnswer, RepairArguments: a.RepairArguments, Output: p.Output,
			Fallbacks: profileFallbacks(p, a), FallbackOn: a.FallbackOn, FallbackAfter: a.FallbackAfter,
		}}
		if err := c.checkAgent(nested); err != nil {
			return spool.Errorf(spool.Invalid, "%s, a profile of agent %q", spool.MessageOf(err), a.Name)
		}
		nested.InheritModel = p.Model == ""
		if p.Spawns {
			nested.Spawn, nested.profiles, nested.personaTools = a.Spawn, a.profiles, slices.Clone(nested.Tools)
			nested.Tools = append(nested.Tools, tool)
		}
		a.profiles[name] = nested
	}
	a.Tools = append(slices.Clone(a.Tools), tool)
	return nil
}

// Nested returns the agent of a spawn by its name. If no profile has the name, because the model made
// it up or the configuration lost it, the agent is a persona. If the model may make up names, the
// persona has the tools of the spawning agent.
func (a *Agent) Nested(name string) *Agent {
	if p := a.profiles[name]; p != nil {
		return p
	}
	persona := &Agent{InheritModel: true, Agent: spool.Agent{
		Name: name, Model: a.Model, DistinctApprover: a.DistinctApprover, MaxSteps: defaultNestedSteps,
		MaxOutputTokens: a.MaxOutputTokens, Extra: a.Extra, NoFinalAnswer: a.NoFinalAnswer,
		RepairArguments: a.RepairArguments, Fallbacks: a.Fallbacks, FallbackOn: a.FallbackOn, FallbackAfter: a.FallbackAfter,
		Instructions: "You are " + name +
			", who helps another agent with a part of its work. Do what you are asked and answer with the result alone.",
	}}
	if a.Spawn != nil {
		persona.MaxSteps = a.Spawn.MaxSteps
		if a.Spawn.Open {
			persona.Tools, persona.FromSource = a.personaTools, a.FromSource
		}
	}
	return persona
}

// Spawns reports whether a call of the named tool starts a nested run.
func (a *Agent) Spawns(name string) bool { return a.Spawn != nil && name == spool.SpawnTool }

// spawn is the spawn tool.
type spawn struct{ *spool.Spawn }

// tool returns the spawn tool. The engine executes its calls itself, so the Call function is never
// used.
func (s spawn) tool(maxBrief int) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: spool.SpawnTool, Description: s.description(), Parameters: s.parameters()},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return nil, errors.New("only the engine can spawn")
		},
		Check: func(args json.RawMessage) error { return s.check(args, maxBrief) },
	}
}

func (s spawn) names() []string { return slices.Sorted(maps.Keys(s.Profiles)) }

func (s spawn) description() string {
	var b strings.Builder
	b.WriteString("Hands a part of the work to another agent, which knows nothing but the instructions, and returns its answer. Several calls in one step run at the same time.")
	for _, name := range s.names() {
		fmt.Fprintf(&b, "\n%s: %s", name, s.Profiles[name].Description)
	}
	if s.Open {
		b.WriteString("\nAny other name makes up an agent of that name.")
	}
	return b.String()
}

func (s spawn) parameters() json.RawMessage {
	type property struct {
		Type        string   `json:"type"`
		Description string   `json:"description"`
		Enum        []string `json:"enum,omitempty"`
	}
	name := property{Type: "string", Description: "Which agent."}
	if !s.Open {
		name.Enum = s.names()
	}
	return toolresult.JSON(struct {
		Type       string `json:"type"`
		Properties any    `json:"properties"`
		Required   any    `json:"required"`
		Additional bool   `json:"additionalProperties"`
	}{"object", struct {
		Name         property `json:"name"`
		Instructions property `json:"instructions"`
		Model        property `json:"model"`
	}{
		name,
		property{Type: "string", Description: "What to do, with all that has to be known for it."},
		property{Type: "string", Description: "The name of the model to use. Left out: the agent's own."},
	}, []string{"name", "instructions"}, false})
}

// check validates the arguments of a spawn call.
func (s spawn) check(args json.RawMessage, maxBrief int) error {
	b, err := BriefOf(args)
	switch {
	case err != nil:
		return errors.New("the arguments are name, instructions and model, all of them strings")
	case b.Name == "":
		return errors.New("name is required: " + s.choices())
	case b.Instructions == "":
		return errors.New("instructions are required")
	case len(b.Instructions) > maxBrief:
		return fmt.Errorf("instructions are longer than %d bytes", maxBrief)
	case !profileName.MatchString(b.Name):
		return errors.New("name may only have letters, digits, hyphens and underscores, up to 64: " + s.choices())
	}
	if _, known := s.Profiles[b.Name]; !known && !s.Open {
		return fmt.Errorf("there is no agent %q: %s", b.Name, s.choices())
	}
	return nil
}

func (s spawn) choices() string {
	switch names := strings.Join(s.names(), ", "); {
	case names == "":
		return "any name will do"
	case s.Open:
		return "the known ones are " + names
	default:
		return "the choices are " + names
	}
}

// BriefOf decodes the arguments of a spawn call.
func BriefOf(args json.RawMessage) (b Brief, err error) {
	err = json.Unmarshal(args, &b)
	return b, err
}

// Shorten returns the first n characters of a text, with a mark if it was longer.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return fmt.Sprintf("%s… [%d more characters were cut]", string(runes[:n]), len(runes)-n)
}
