package gemini

import (
	"encoding/json"
	"strings"
)

// skipSignature is the signature for a call that has none. See the package's comment.
const skipSignature = "skip_thought_signature_validator"

// saved is the Provider data of a part. The API gets back what has the name of the request's model.
type saved struct {
	// Model is Config.Model without "models/".
	Model string `json:"model"`
	// Signature is the part's signature as it was received.
	Signature string `json:"signature,omitempty"`
	// ID is the id of a function call, if the API gave one.
	ID string `json:"id,omitempty"`
	// Part is a part that the adapter does not look into, as it was received.
	Part json.RawMessage `json:"part,omitempty"`
	// Continuation is the token with which an interrupted answer goes on.
	Continuation string `json:"continuation,omitempty"`
}

// raw returns the Provider data.
func (s saved) raw() json.RawMessage {
	raw, err := json.Marshal(map[string]saved{"gemini": s})
	if err != nil {
		return nil
	}
	return raw
}

// load returns the data that the model saved in provider. It returns the zero value for data of another model or of
// another adapter.
func load(provider json.RawMessage, model string) saved {
	if len(provider) == 0 {
		return saved{}
	}
	var data struct {
		Gemini *saved `json:"gemini"`
	}
	if json.Unmarshal(provider, &data) != nil || data.Gemini == nil || data.Gemini.Model != model {
		return saved{}
	}
	return *data.Gemini
}

// signer is the name of the model in saved data.
func (m *Model) signer() string { return strings.TrimPrefix(m.config.Model, "models/") }
