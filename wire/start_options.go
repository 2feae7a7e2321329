package wire

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// StartOptions are what a client may ask of a start, on each of its routes and in each client, and what passes
// unchanged from there to the engine. A field of this type is accepted from every client. So what only the host may
// say is a field of [StartRequest].
//
// A new field needs its check where the engine takes a start, and its use. It is a part of what an idempotency key
// stands for. The run keeps it, and a redriven run and nested runs get the same: see [store.RunState.Options].
type StartOptions struct {
	// Agent is the agent that runs. Defaults to the server's first.
	Agent string `json:"agent,omitempty"`
	// MaxSteps is a maximum of steps below the agent's own. Zero: the agent's own.
	MaxSteps int `json:"maxSteps,omitempty" minimum:"0"`
	// Model is the model. Defaults to the agent's.
	Model string `json:"model,omitempty"`
	// Asks for a JSON value as the answer, instead of the agent's own. An agent may refuse it.
	//
	// See [spool.Agent.Output]. Its schema has up to 16 KiB and no references. An agent with FixedOutput refuses it.
	// Nil: the agent's.
	Output *spool.OutputSchema `json:"output,omitempty" nullable:"false"`
	// Fields of the request to the model's provider. The agent's configuration says which are allowed.
	//
	// ProviderOptions is a JSON object of up to 16 KiB that is merged into the run's requests to its provider, over
	// the Extra of its agent. A key that is not among the agent's ProviderOptions is ignored, or refused by a strict
	// engine. Runs that this one spawns get the same.
	ProviderOptions json.RawMessage `json:"providerOptions,omitempty"`
	// Webhook is a URL that is told of the events of the run. The configuration has to list its host.
	//
	// Up to 2,048 bytes. No answer has it: it may be a secret. See [WebhookEvent].
	Webhook string `example:"https://hooks.example.com/spool" json:"webhook,omitempty"`
}
