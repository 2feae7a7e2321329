package wire

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// StartOptions are what a client may ask of a start, on each of its routes and in each client, and what passes
// unchanged from there to the engine. A field of this type is accepted from every client. So what only the host may
// say is a field of [StartRequest].
//
// A new field needs its check where the engine takes a start, and its use. It is a part of what an idempotency key stands
// for. The run keeps it, and a redriven run and nested runs get the same: see [store.RunState.Options].
type StartOptions struct {
	// Agent names the agent. Defaults to the engine's first.
	Agent string `doc:"The agent that runs. Defaults to the server's first." json:"agent,omitempty"`
	// MaxSteps caps the run below the agent's own ceiling. Zero: no cap.
	MaxSteps int `doc:"A maximum of steps below the agent's own. Zero: the agent's own." json:"maxSteps,omitempty" minimum:"0"`
	// Model names the model. Defaults to the agent's.
	Model string `doc:"The model. Defaults to the agent's." json:"model,omitempty"`
	// Output asks for a JSON value as the final answer, instead of the agent's Output: see [spool.Agent.Output]. Its
	// schema has up to 16 KiB and no references. An agent with FixedOutput refuses it. Nil: the agent's.
	Output *spool.OutputSchema `doc:"Asks for a JSON value as the answer, instead of the agent's own. An agent may refuse it." json:"output,omitempty" nullable:"false"`
	// ProviderOptions is a JSON object of up to 16 KiB that is merged into the run's requests to its provider, over
	// the Extra of its agent. A key that is not among the agent's ProviderOptions is ignored, or refused by a strict
	// engine. Runs that this one spawns get the same. Empty: none.
	ProviderOptions json.RawMessage `doc:"Fields of the request to the model's provider. The agent's configuration says which are allowed." json:"providerOptions,omitempty"`
}
