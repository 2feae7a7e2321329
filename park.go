package spool

import (
	"encoding/json"
	"time"
)

// Answer is a person's answer to a park.
type Answer struct {
	Approved bool `json:"approved"` // Whether the call was allowed.
	// Args are the arguments of the approval. Left out: it did not change them.
	//
	// The call runs with them instead of the requested ones. Nil: the requested ones.
	Args json.RawMessage `json:"args,omitempty"`
	// Reason is the reason of the answer.
	//
	// For the model and for the record.
	Reason string `json:"reason,omitempty"`
	// Digest is the digest of what was answered.
	//
	// It is the [store.Park.DigestOf] of the question, with the arguments of the answer. A call with another digest
	// does not run. Empty if the park has none.
	Digest string `json:"digest,omitempty"`
	// Payload is the payload of the answer.
	//
	// JSON, nil for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// By is the subject who answered.
	//
	// Empty: the host does not know it.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"` // When the answer was accepted.
}
