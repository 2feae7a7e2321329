package spool

import (
	"bytes"
	"encoding/json"
	"slices"
)

// storedPart is a part in the stored form.
type storedPart struct {
	Part

	Provider json.RawMessage `json:"provider,omitempty"`
}

// MarshalStored writes the form in which stores and archives keep content: the wire form, with the provider
// data of the parts and with the parts of the type [PartProvider]. It escapes less than package json does,
// so that the data stays the same byte for byte, apart from white space between JSON tokens.
// [Content.UnmarshalJSON] reads the form.
func (c Content) MarshalStored() ([]byte, error) {
	if !slices.ContainsFunc(c, Part.hasData) {
		return c.MarshalJSON()
	}
	parts := make([]storedPart, len(c))
	for i, p := range c {
		parts[i] = storedPart{p, p.Provider}
	}
	return marshalUnescaped(parts)
}

func unmarshalStored(b []byte) (Content, error) {
	var parts []storedPart
	if err := json.Unmarshal(b, &parts); err != nil {
		return nil, err
	}
	content := make(Content, len(parts))
	for i, p := range parts {
		content[i] = p.Part
		content[i].Provider = p.Provider
	}
	return content, nil
}

// Shown returns the content as clients see it: without provider data, and without the parts that consist of
// nothing else. It does not change c, and returns c if clients see all of it.
func (c Content) Shown() Content {
	if !slices.ContainsFunc(c, Part.hasData) {
		return c
	}
	shown := make(Content, 0, len(c))
	for _, p := range c {
		if p.Type == PartProvider || p.Text == "" && p.Provider != nil && (p.Type == PartText || p.Type == PartReasoning) {
			continue
		}
		p.Provider = nil
		shown = append(shown, p)
	}
	return shown
}

// hasData reports whether the stored form of the part has more than its wire form.
func (p Part) hasData() bool { return p.Provider != nil || p.Type == PartProvider }

// providerWord is the name of the data, and the type of the parts, in the stored form. A text cannot contain
// it, because the quotes in a JSON string are escaped.
var providerWord = []byte(`"provider"`)

// MayHaveProviderData reports whether content in its stored form may differ from its wire form. It does not
// decode the content. False: the two are the same. True: they may be the same nevertheless.
func MayHaveProviderData(stored []byte) bool { return bytes.Contains(stored, providerWord) }

// marshalUnescaped returns the JSON of a value without escapes for HTML.
func marshalUnescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
