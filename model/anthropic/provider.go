package anthropic

import (
	"bytes"
	"encoding/json"
)

// saved is the data that the provider gets back with a part.
type saved struct {
	// Model is the model that the answer was asked of. Other models do not get the data.
	Model string `json:"model"`
	// Signature is the signature of a block of thinking.
	Signature string `json:"signature,omitempty"`
	// Redacted is the data of a redacted block of thinking.
	Redacted string `json:"redacted,omitempty"`
	// ID is the id that the provider gave to a call.
	ID string `json:"id,omitempty"`
	// Citations are the citations of a text.
	Citations []json.RawMessage `json:"citations,omitempty"`
	// Caller says which part of the answer has made a call, if it was not the model directly.
	Caller json.RawMessage `json:"caller,omitempty"`
	// Block is a whole block that the adapter does not know.
	Block json.RawMessage `json:"block,omitempty"`
}

// load returns the data that the given model has saved. Data of another adapter, or of another model, is
// none.
func load(provider json.RawMessage, model string) saved {
	var s struct {
		Anthropic saved `json:"anthropic"`
	}
	// The check saves the decoding of other adapters' data, which may be long.
	if len(provider) == 0 || !bytes.Contains(provider, []byte(`"anthropic"`)) || json.Unmarshal(provider, &s) != nil ||
		s.Anthropic.Model != model {
		return saved{}
	}
	return s.Anthropic
}

// raw returns the data as it is saved, or nil if there is none besides the model.
func (s saved) raw() json.RawMessage {
	if s.Signature == "" && s.Redacted == "" && s.ID == "" && s.Citations == nil && s.Caller == nil && s.Block == nil {
		return nil
	}
	raw, err := marshal(map[string]saved{"anthropic": s})
	if err != nil {
		return nil
	}
	return raw
}
