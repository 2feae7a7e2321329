package spool

import (
	"encoding/json"
	"time"
)

// Answer is a person's answer to a park.
type Answer struct {
	Approved bool `doc:"Whether the call was allowed." json:"approved"`
	// Args are the arguments with which the call runs instead of the requested ones. Nil: the requested ones.
	Args json.RawMessage `doc:"The arguments of the approval. Left out: it did not change them." json:"args,omitempty"`
	// Reason is the reason, for the model and for the record. Empty: none was given.
	Reason string `doc:"The reason of the answer." json:"reason,omitempty"`
	// Digest is the [store.Park.DigestOf] of the question, with the arguments of the answer. A call with another
	// digest does not run. Empty if the park has none.
	Digest string `doc:"The digest of what was answered." json:"digest,omitempty"`
	// Payload is the JSON of the answer, nil for none.
	Payload json.RawMessage `doc:"The payload of the answer." json:"payload,omitempty"`
	// By is the subject that answered. Empty: the host does not know it.
	By string    `doc:"The subject who answered."     json:"by,omitempty"`
	At time.Time `doc:"When the answer was accepted." json:"at"`
}
