package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/catalogue"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/argschema"
	"github.com/spoolhq/spool/wire"
)

// Bounds of the client input of a start.
const (
	defaultClientTools   = 32
	defaultClientContext = 64 << 10

	maxClientTools       = 64 << 10 // bytes of all tools together
	maxClientDescription = 4 << 10
	maxClientContexts    = 64
)

// AllowedClient validates the client input of a start. It drops input that the agent does not
// accept, because a page sends the same input to every agent.
func (a *Agent) AllowedClient(c wire.ClientInput) (wire.ClientInput, error) {
	if a.ClientTools < 0 {
		c.Tools = nil
	}
	if a.ClientContext < 0 {
		c.Context = nil
	}
	if c.Empty() {
		return wire.ClientInput{}, nil
	}
	if err := a.checkClientTools(c.Tools); err != nil {
		return c, err
	}
	return c, a.checkClientContext(c.Context)
}

func (a *Agent) checkClientTools(tools []wire.ClientTool) error {
	if len(tools) > a.ClientTools {
		return spool.Errorf(spool.Invalid, "tools: there are %d, and the agent %q takes up to %d of a client", len(tools),
			a.Name, a.ClientTools)
	}
	seen, size := make(map[string]bool, len(tools)), 0
	for i, t := range tools {
		field := fmt.Sprintf("tools[%d]", i)
		_, own := a.Tool(t.Name)
		switch size += len(t.Name) + len(t.Description) + len(t.Parameters); {
		case !toolName.MatchString(t.Name):
			return spool.Errorf(spool.Invalid, "%s.name must be 1 to 64 letters, digits, underscores and hyphens", field)
		case own, t.Name == spool.SpawnTool, a.isTransfer(t.Name), catalogue.Is(t.Name) && searches(a.Tools):
			return spool.Errorf(spool.Invalid, "%s.name: the agent %q has a tool %q of its own; give the client's another name",
				field, a.Name, t.Name)
		case seen[t.Name]:
			return spool.Errorf(spool.Invalid, "%s.name: %q is there twice", field, t.Name)
		case len(t.Description) > maxClientDescription:
			return spool.Errorf(spool.Invalid, "%s.description is longer than %d bytes", field, maxClientDescription)
		case size > maxClientTools:
			return spool.Errorf(spool.Invalid, "tools are longer than %d bytes together", maxClientTools)
		}
		if err := checkText(field+".description", t.Description); err != nil {
			return err
		}
		if len(t.Parameters) > 0 {
			if err := spool.CheckJSON(field+".parameters", t.Parameters); err != nil {
				return err
			}
			if _, err := argschema.Foreign(t.Parameters); err != nil {
				return spool.Errorf(spool.Invalid, "%s.parameters: %s", field, argschema.Bound(err.Error()))
			}
		}
		seen[t.Name] = true
	}
	return nil
}

func (a *Agent) checkClientContext(context []wire.ClientContext) error {
	if len(context) > maxClientContexts {
		return spool.Errorf(spool.Invalid, "context: there are %d entries, more than %d", len(context), maxClientContexts)
	}
	size := 0
	for i, c := range context {
		if size += len(c.Description) + len(c.Value); size > a.ClientContext {
			return spool.Errorf(spool.Invalid, "context is longer than %d bytes, which is what the agent %q takes of a client",
				a.ClientContext, a.Name)
		}
		for name, text := range map[string]string{"description": c.Description, "value": c.Value} {
			if err := checkText(fmt.Sprintf("context[%d].%s", i, name), text); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkText(field, text string) error {
	if !utf8.ValidString(text) {
		return spool.Errorf(spool.Invalid, "%s is not valid UTF-8", field)
	}
	return nil
}

// addClientTools adds the client's tools. If the agent has a tool of the same name, the agent's tool
// wins. Such a conflict is possible because a nested run may have other tools than the validated start,
// and because the configuration may have changed.
func (a *Agent) addClientTools(tools []wire.ClientTool) {
	a.AtClient = make(map[string]bool, len(tools))
	for _, t := range tools {
		if _, own := a.Tool(t.Name); own || a.isTransfer(t.Name) {
			continue
		}
		a.AtClient[t.Name] = true
		a.Tools = append(a.Tools, clientTool(t))
	}
}

// clientTool returns a tool that waits for the client to execute its calls.
func clientTool(t wire.ClientTool) spool.Tool {
	parameters := objectSchema(t.Parameters)
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: t.Name, Description: t.Description, Parameters: parameters},
		Check: func(args json.RawMessage) error {
			s, err := argschema.Foreign(parameters)
			if err != nil {
				return err
			}
			return s.Check(args)
		},
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return nil, spool.Errorf(spool.Internal, "only the client can run its tools")
		},
	}
}

// objectSchema adds the type "object" to a schema that has no type. Providers require the type, and
// pages omit it.
func objectSchema(parameters json.RawMessage) json.RawMessage {
	var schema map[string]json.RawMessage
	if len(parameters) > 0 && json.Unmarshal(parameters, &schema) != nil {
		return parameters
	}
	if _, typed := schema["type"]; typed {
		return parameters
	}
	if schema == nil {
		schema = make(map[string]json.RawMessage, 1)
	}
	schema["type"] = json.RawMessage(`"object"`)
	return toolresult.JSON(schema)
}

// ToolsOnly returns the client input of a nested run: the client's tools, without the context. Only the
// agent that answers the user gets the context.
func ToolsOnly(c *wire.ClientInput) *wire.ClientInput {
	if c == nil || len(c.Tools) == 0 {
		return nil
	}
	return &wire.ClientInput{Tools: c.Tools}
}
