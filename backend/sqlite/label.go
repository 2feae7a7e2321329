package sqlite

import (
	"encoding/json"
)

// encodeLabels returns the JSON of labels, or nil for none.
func encodeLabels(labels map[string]string) json.RawMessage {
	if len(labels) == 0 {
		return nil
	}
	text, _ := json.Marshal(labels) //nolint:errchkjson // texts have always a JSON form
	return text
}
