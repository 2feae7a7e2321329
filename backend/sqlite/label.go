package sqlite

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// encodeLabels returns the JSON of labels, nil for none.
func encodeLabels(labels map[string]string) json.RawMessage {
	if len(labels) == 0 {
		return nil
	}
	text, _ := json.Marshal(labels) //nolint:errchkjson // texts have always a JSON form
	return text
}

func scanLabels(r *row) map[string]string {
	text := r.json()
	if text == nil {
		return nil
	}
	var labels map[string]string
	if err := json.Unmarshal(text, &labels); err != nil {
		r.err = spool.Wrap(spool.Internal, "the thread's labels cannot be read", err)
	}
	return labels
}
