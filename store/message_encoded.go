package store

import (
	"github.com/spoolhq/spool"
)

// EncodedMessages is implemented by a [View] whose store keeps messages encoded. A snapshot
// then copies their content from the store to its clients without decoding it, unless it may have
// provider data: see [spool.MayHaveProviderData]. Defaults to
// [View.Messages], whose messages the engine encodes. No query has [MessageQuery.Turns].
type EncodedMessages interface {
	// MessageIDs returns the ids of the messages that q selects, in their order. It does not read the
	// messages' content.
	MessageIDs(q MessageQuery) ([]spool.MessageID, error)
	// EachMessage calls fn for each message that q selects, in their order. The message has
	// no Content. Content is the message's content in its stored form, which fn must neither
	// change nor keep: see [spool.Content.MarshalStored]. EachMessage stops at the first error of fn and returns it. The
	// Limit of q must be zero.
	EachMessage(q MessageQuery, fn func(m spool.Message, content []byte) error) error
}
