package record

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// NonNil returns the slice, or an empty slice for nil, so that it encodes as a JSON array.
func NonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// MainAgent is the agent id of dispatched runs. Only such a run has user turns that people wrote.
var MainAgent spool.AgentID

// TurnsAt returns the user turns that come right after the entry with the given seq.
func TurnsAt(v store.View, seq int64) ([]spool.Message, error) {
	return v.Messages(store.MessageQuery{Turns: true, SinceSeq: seq, BeforeSeq: seq + 1})
}

// Encoded returns the view as one that yields its messages in their wire form.
func Encoded(v store.View) store.EncodedMessages {
	if encoded, ok := v.(store.EncodedMessages); ok {
		return shownView{encoded}
	}
	return encodingView{v}
}

// shownView leaves provider data out of stored messages.
type shownView struct{ store.EncodedMessages }

// EachMessage calls fn with the content in its wire form.
func (v shownView) EachMessage(q store.MessageQuery, fn func(m spool.Message, content []byte) error) error {
	return v.EncodedMessages.EachMessage(q, func(m spool.Message, content []byte) error {
		content, err := shown(content)
		if err != nil {
			return err
		}
		return fn(m, content)
	})
}

// shown returns the wire form of stored content. It decodes only content that may have provider data.
func shown(stored []byte) ([]byte, error) {
	if !spool.MayHaveProviderData(stored) {
		return stored, nil
	}
	var content spool.Content
	if err := content.UnmarshalJSON(stored); err != nil {
		return nil, spool.Wrap(spool.Internal, "a message cannot be decoded", err)
	}
	visible := content.Shown()
	if len(content) == 0 || len(visible) == len(content) && &visible[0] == &content[0] {
		return stored, nil // only a tool's JSON has the word
	}
	text, err := json.Marshal(visible)
	return text, spool.Wrap(spool.Internal, "a message cannot be encoded", err)
}

// encodingView encodes the messages of a store that does not keep them encoded.
type encodingView struct{ store.View }

// MessageIDs implements [store.EncodedMessages].
func (v encodingView) MessageIDs(q store.MessageQuery) ([]spool.MessageID, error) {
	all, err := v.Messages(q)
	ids := make([]spool.MessageID, len(all))
	for i, m := range all {
		ids[i] = m.ID
	}
	return ids, err
}

// EachMessage implements [store.EncodedMessages].
func (v encodingView) EachMessage(q store.MessageQuery, fn func(m spool.Message, content []byte) error) error {
	all, err := v.Messages(q)
	if err != nil {
		return err
	}
	for _, m := range all {
		content, err := json.Marshal(m.Content)
		if err != nil {
			return spool.Wrap(spool.Internal, "a message cannot be encoded", err)
		}
		if err := fn(m, content); err != nil {
			return err
		}
	}
	return nil
}
