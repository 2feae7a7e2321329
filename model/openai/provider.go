package openai

import (
	"encoding/json"
	"reflect"

	"github.com/spoolhq/spool/internal/surrogate"
)

// format is the key of the data that the package saves with parts.
const format = "openai-chat"

// saved is the data that a provider gets back with a part. The fields have their wire names.
//
//nolint:tagliatelle // the provider's words
type saved struct {
	// Model is the configured name of the model that the data belong to.
	Model            string            `json:"model,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
	// ID is the id that the provider gave to a call.
	ID string `json:"id,omitempty"`
}

// load returns the data of a part if they belong to the model. Data without a name were saved before
// names were, and belong to any model.
func (m *Model) load(provider json.RawMessage) saved {
	if len(provider) == 0 {
		return saved{}
	}
	var data struct {
		saved

		Named *saved `json:"openai-chat"` //nolint:tagliatelle // the format's name
	}
	if json.Unmarshal(provider, &data) != nil {
		return saved{}
	}
	switch {
	case data.Named == nil && data.Model == "":
		return data.saved
	case data.Named != nil && data.Named.Model == m.config.Model:
		return *data.Named
	default:
		return saved{}
	}
}

// foreign reports whether the data of a part are another model's. A part without data has no mark of its model, and
// counts as the model's own.
func (m *Model) foreign(provider json.RawMessage) bool {
	if len(provider) == 0 {
		return false
	}
	var data map[string]json.RawMessage
	if json.Unmarshal(provider, &data) != nil {
		return true
	}
	var own saved
	if named, ok := data[format]; ok {
		return json.Unmarshal(named, &own) != nil || own.Model != m.config.Model
	}
	_, details := data["reasoning_details"]
	return !details
}

// save returns the data as they are stored with a part, or nil if there are none.
func (m *Model) save(s saved) json.RawMessage {
	if len(s.ReasoningDetails) == 0 && len(s.ExtraContent) == 0 && s.ID == "" {
		return nil
	}
	s.Model = m.config.Model
	raw, err := json.Marshal(map[string]saved{format: s})
	if err != nil {
		return nil
	}
	return raw
}

// detail is one entry of reasoning_details. Its text comes in fragments. They are joined, because the
// provider signs the whole text.
type detail map[string]any

// detailTexts are the fields that have the text of a detail.
var detailTexts = []string{"text", "summary"}

func (d detail) text() string {
	for _, field := range detailTexts {
		if text, ok := d[field].(string); ok {
			return text
		}
	}
	return ""
}

// details collects reasoning_details.
type details struct {
	list  []detail
	bytes int // of the fragments
}

// add adds a fragment and returns its text.
func (ds *details) add(raw json.RawMessage) string {
	var d detail
	if json.Unmarshal(raw, &d) != nil || d == nil {
		return ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for _, name := range detailTexts {
			if _, ok := d[name].(string); ok {
				d[name] = surrogate.Decode(fields[name])
			}
		}
	}
	text := d.text()
	ds.bytes += len(raw)
	if last := len(ds.list) - 1; last >= 0 && ds.list[last].continues(d) {
		ds.list[last].merge(d)
	} else {
		ds.list = append(ds.list, d)
	}
	return text
}

// continues reports whether next is another fragment of d.
func (d detail) continues(next detail) bool {
	t, ok := d["type"].(string)
	if !ok || t != "reasoning.text" && t != "reasoning.summary" {
		return false
	}
	return reflect.DeepEqual(d["type"], next["type"]) && reflect.DeepEqual(d["index"], next["index"])
}

func (d detail) merge(next detail) {
	for field, value := range next {
		text, isText := value.(string)
		if before, ok := d[field].(string); ok && isText && (field == "text" || field == "summary") {
			d[field] = before + text
			continue
		}
		if value != nil {
			d[field] = value
		}
	}
}

// drain returns the collected details, and removes them.
func (ds *details) drain() saved {
	var s saved
	for _, d := range ds.list {
		for _, name := range detailTexts {
			if text, ok := d[name].(string); ok {
				d[name] = surrogate.Valid(text)
			}
		}
		if raw, err := json.Marshal(d); err == nil {
			s.ReasoningDetails = append(s.ReasoningDetails, raw)
		}
	}
	ds.list, ds.bytes = nil, 0
	return s
}
