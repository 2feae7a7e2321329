package rest

import (
	"bytes"
	"encoding/json"
	"io"
)

// Codec encodes and decodes JSON. It must do as encoding/json does with tags and the
// interfaces of types, and be safe for concurrent use. Bodies are checked before Unmarshal
// is called, so that a codec which is sloppy about its input lets nothing through.
type Codec interface {
	// NewEncoder returns an encoder of documents to w, each followed by a line break or by
	// nothing.
	NewEncoder(w io.Writer) Encoder
	Unmarshal(data []byte, into any) error
}

// Encoder writes one JSON document at a time.
type Encoder interface{ Encode(v any) error }

type standardCodec struct{}

func (standardCodec) NewEncoder(w io.Writer) Encoder        { return json.NewEncoder(w) }
func (standardCodec) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

// buffer is a piece of memory with the encoder that writes to it.
type buffer struct {
	bytes.Buffer

	encoder Encoder
}

// maxRecycled is how large a buffer may be to be used again: one large answer should not
// be held for ever.
const maxRecycled = 256 << 10

// encode encodes v into a buffer, which the caller hands to recycle.
func (a *API) encode(v any) (*buffer, error) {
	b := a.newBuffer()
	if err := b.encoder.Encode(v); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it was encoding
	}
	return b, nil
}

func (a *API) recycle(b *buffer) {
	if b.encoder != nil && b.Cap() <= maxRecycled {
		a.buffers.Put(b)
	}
}

// newBuffer returns an empty buffer.
func (a *API) newBuffer() *buffer {
	b, ok := a.buffers.Get().(*buffer)
	if !ok {
		b = &buffer{}
		b.encoder = a.config.codec.NewEncoder(&b.Buffer)
	}
	b.Reset()
	return b
}
