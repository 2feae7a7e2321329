package toolresult

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// Noted returns a result with a text for the model behind it. A list of parts, such as texts and images, gets one part
// more, also as the content of an object.
func Noted(result json.RawMessage, text string) json.RawMessage {
	var list []json.RawMessage
	var object map[string]json.RawMessage
	var plain string
	part := JSON(map[string]string{"type": string(spool.PartText), "text": text})
	switch {
	case json.Unmarshal(result, &plain) == nil && len(result) > 0 && result[0] == '"':
		return JSON(plain + "\n\n" + text)
	case json.Unmarshal(result, &list) == nil && areParts(list):
		return JSON(append(list, part))
	case json.Unmarshal(result, &object) == nil && json.Unmarshal(object["content"], &list) == nil && areParts(list):
		object["content"] = JSON(append(list, part))
		return JSON(object)
	default:
		return JSON(string(result) + "\n\n" + text)
	}
}

// areParts reports whether a list consists of objects with a type.
func areParts(list []json.RawMessage) bool {
	for _, item := range list {
		var p struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(item, &p) != nil || p.Type == "" {
			return false
		}
	}
	return len(list) > 0
}
