package wire

import (
	"encoding/json"
)

// ClientInput is what the client of a start sends for the run: tools that the client itself executes, and
// context. Every caller that may start runs can send it, for example a page in a browser, so it is no more
// trusted than a prompt. The zero value is empty.
type ClientInput struct {
	Tools   []ClientTool    `json:"tools,omitempty"`
	Context []ClientContext `json:"context,omitempty"`
}

// ClientTool is a tool that the client runs. A call of it parks with the reason
// [ParkClientTool], and the payload of the answer is its result.
type ClientTool struct {
	// Name matches [A-Za-z0-9_-]{1,64}. No tool of the agent has it.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments, an object's. Nil: any object.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// ClientContext is a fact about the client, such as the page that is open.
type ClientContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// Empty reports whether the input has neither tools nor context.
func (c ClientInput) Empty() bool { return len(c.Tools) == 0 && len(c.Context) == 0 }
