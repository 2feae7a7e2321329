package responses

import (
	"bytes"
	"encoding/json"
	"slices"
)

// saved is the data that the provider gets back with a part. Only the model that made it gets it: another
// model, or another server, refuses reasoning that it did not encrypt.
type saved struct {
	Model string `json:"model"`
	// Host is the server.
	Host string `json:"host"`
	// Item is an item of the answer as it came.
	Item json.RawMessage `json:"item,omitempty"`
	// CallID is the id that the server gave to a call.
	CallID string `json:"callId,omitempty"`
	// Phase of a text is the item's field of this name. The provider wants it back with the text.
	Phase string `json:"phase,omitempty"`
}

// envelope is the form of provider data: an object whose one key names the format.
type envelope struct {
	Responses *saved `json:"responses,omitempty"`
}

// pack returns the provider data of an item.
func (m *Model) pack(item json.RawMessage) json.RawMessage {
	return encode(envelope{Responses: &saved{Model: m.config.Model, Host: m.conn.Host, Item: item}})
}

// packCall returns the provider data of a call: the id that the server gave, and the item if it says more than the
// part. It returns nil for neither.
func (m *Model) packCall(id string, item json.RawMessage) json.RawMessage {
	if id == "" && item == nil {
		return nil
	}
	return encode(envelope{Responses: &saved{Model: m.config.Model, Host: m.conn.Host, CallID: id, Item: item}})
}

// packPhase returns the provider data of a text, or nil if it needs none.
func (m *Model) packPhase(phase string) json.RawMessage {
	if phase == "" {
		return nil
	}
	return encode(envelope{Responses: &saved{Model: m.config.Model, Host: m.conn.Host, Phase: phase}})
}

// unpack returns the data that this model has saved with a part, or the zero value.
func (m *Model) unpack(provider json.RawMessage) saved {
	var e envelope
	if len(provider) == 0 || json.Unmarshal(provider, &e) != nil || e.Responses == nil {
		return saved{}
	}
	if e.Responses.Model != m.config.Model || e.Responses.Host != m.conn.Host {
		return saved{}
	}
	return *e.Responses
}

// encode returns the JSON of a value without escapes for HTML, so that raw JSON in it keeps its bytes. It
// returns nil for a value that has no JSON.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// field is a field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// fieldsOf returns the fields of a JSON object in their order, or nil if the JSON is not an object.
func fieldsOf(object json.RawMessage) []field {
	d := json.NewDecoder(bytes.NewReader(object))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	var fields []field
	for d.More() {
		name, err := d.Token()
		text, ok := name.(string)
		if err != nil || !ok {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		fields = append(fields, field{text, value})
	}
	return fields
}

// replay returns an item of an earlier answer as a request has it: the same bytes without the item's id,
// unless Config.ItemIDs is set, and without fields that are null.
//
// With store: false, the server does not know the ids of its own items, and refuses some requests that name
// one: "Items are not persisted when `store` is set to false". Reasoning is whole in encrypted_content, so it
// needs no id (https://github.com/anomalyco/opencode/pull/34027, https://github.com/vercel/ai/pull/12941).
// An output may have status or content as null, which the input's description does not allow.
func (m *Model) replay(item json.RawMessage, set ...field) json.RawMessage {
	fields := slices.DeleteFunc(fieldsOf(item), func(f field) bool {
		return f.name == "id" && !m.config.ItemIDs || string(f.value) == "null"
	})
	for i, f := range fields {
		if at := slices.IndexFunc(set, func(s field) bool { return s.name == f.name }); at >= 0 {
			fields[i].value = set[at].value
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
