package openai

import (
	"encoding/json"
	"reflect"
)

// saved is the data that a provider gets back with a part. The fields have their wire names, so that
// load ignores data that another provider's model has saved.
//
//nolint:tagliatelle // the provider's words
type saved struct {
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
}

func load(provider json.RawMessage) saved {
	var s saved
	if len(provider) == 0 || json.Unmarshal(provider, &s) != nil {
		return saved{}
	}
	return s
}

func (s saved) raw() json.RawMessage {
	if len(s.ReasoningDetails) == 0 && len(s.ExtraContent) == 0 {
		return nil
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return raw
}

func savedDetails(provider json.RawMessage) []json.RawMessage { return load(provider).ReasoningDetails }

func savedExtra(provider json.RawMessage) json.RawMessage { return load(provider).ExtraContent }

// detail is one entry of reasoning_details. Its text comes in fragments. They are joined, because the
// provider signs the whole text.
type detail map[string]any

func (d detail) text() string {
	for _, field := range []string{"text", "summary"} {
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

// take returns the collected details for the provider, and removes them.
func (ds *details) take() json.RawMessage {
	var s saved
	for _, d := range ds.list {
		if raw, err := json.Marshal(d); err == nil {
			s.ReasoningDetails = append(s.ReasoningDetails, raw)
		}
	}
	ds.list, ds.bytes = nil, 0
	return s.raw()
}
