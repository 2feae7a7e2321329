package store

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// MarshalJSON writes the stored form: no client sees a draft.
func (d Draft) MarshalJSON() ([]byte, error) {
	content, err := d.Message.Content.MarshalStored()
	if err != nil {
		return nil, err
	}
	type plain spool.Message
	return marshalUnescaped(struct {
		Message any              `json:"message"`
		Usage   spool.TokenCount `json:"usage"`
	}{
		struct {
			plain

			Content json.RawMessage `json:"content"`
			AgentID spool.AgentID   `json:"agentId,omitempty"`
		}{plain(d.Message), content, d.Message.AgentID},
		d.Usage,
	})
}
