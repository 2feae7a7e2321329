package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/spoolhq/spool/rest/internal/wire"
)

// Codec encodes and decodes JSON. It must treat tags and the interfaces of types as encoding/json
// does, and be safe for concurrent use. rest checks a body before it calls Unmarshal, so a codec
// that is sloppy about its input lets nothing through.
type Codec interface {
	// NewEncoder returns an encoder that writes each document to w by one call of Write.
	NewEncoder(w io.Writer) Encoder
	// Unmarshal decodes data, and keeps nothing of it. It is asked for what the library does
	// not read itself: values of interfaces, and of types with an UnmarshalJSON of their own.
	Unmarshal(data []byte, into any) error
}

// Encoder writes JSON documents, many of them after each other, by one goroutine at a time.
// One that has failed is not used again.
type Encoder interface {
	// Encode writes v as one document.
	Encode(v any) error
}

type standardCodec struct{}

// NewEncoder returns an encoder that writes < and & as they are: answers are JSON, and are
// not part of a page.
func (standardCodec) NewEncoder(w io.Writer) Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func (standardCodec) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

// sender is an encoder that writes to one answer after the other. Nothing of an answer is
// sent before its body is encoded as a whole, so what cannot be encoded is an error like
// any other.
type sender struct {
	encoder     Encoder
	to          http.ResponseWriter
	status      int
	contentType []string
	begun       bool
	more        bool
	codec       Codec
	// encode is part, and parts what it encodes with, which few bodies need.
	encode wire.Encode
	parts  wire.Encode
}

// part encodes a part of a body that is put together of parts.
func (s *sender) part(v any) ([]byte, error) {
	if s.parts == nil {
		s.parts = partEncoder(s.codec)
	}
	return s.parts(v)
}

// shortBody is up to where net/http tells the length of a body by itself.
const shortBody = 2048

var errPieces = errors.New("the codec wrote a document in pieces")

// Write sends the header and the whole body. That the client is gone is no error.
func (s *sender) Write(b []byte) (int, error) {
	if s.begun {
		s.more = true
		return len(b), nil
	}
	s.begun = true
	h := s.to.Header()
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = s.contentType
	}
	if len(b) > shortBody {
		h["Content-Length"] = []string{strconv.Itoa(len(b))}
	}
	s.to.WriteHeader(s.status)
	_, _ = s.to.Write(b)
	return len(b), nil
}

// send answers with body as JSON. The plan is that of the usual type of the body. If send returns an
// error, nothing was sent.
func (a *API) send(w http.ResponseWriter, status int, contentType []string, plan wire.Plan, body any) error {
	s, ok := a.senders.Get().(*sender)
	if !ok {
		s = &sender{codec: a.config.codec}
		s.encode = s.part
		s.encoder = a.config.codec.NewEncoder(s)
	}
	s.to, s.status, s.contentType, s.begun, s.more = w, status, contentType, false, false
	err := encode(s.encoder, s, plan, body, s.encode)
	if s.more {
		// The length of the first piece was announced; the client must not take it for all.
		panic(errPieces)
	}
	s.to = nil
	if err == nil { // an encoder may remember that it failed
		a.senders.Put(s)
	}
	return err //nolint:wrapcheck // the caller says what it was encoding
}

// encode writes a document as the document of the API describes it: see [wire]. The encoder
// is one that writes to the same place.
func encode(e Encoder, to io.Writer, plan wire.Plan, v any, part wire.Encode) error {
	value, text, err := plan.Prepare(v, part)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it was encoding
	}
	if text != nil {
		_, err := to.Write(append(text, '\n'))
		return err //nolint:wrapcheck // the caller says what it was encoding
	}
	return e.Encode(value) //nolint:wrapcheck // the caller says what it was encoding
}

// partEncoder encodes values one after the other into memory that holds until the next one.
func partEncoder(codec Codec) wire.Encode {
	var buffer bytes.Buffer
	var encoder Encoder
	return func(v any) ([]byte, error) {
		if encoder == nil {
			encoder = codec.NewEncoder(&buffer)
		}
		buffer.Reset()
		if err := encoder.Encode(v); err != nil {
			encoder = nil   // it may remember that it failed
			return nil, err //nolint:wrapcheck // the caller says what it was encoding
		}
		return bytes.TrimRight(buffer.Bytes(), "\n"), nil
	}
}

// maxRecycled is how large a buffer may be to be used again: one large body should not be
// held for ever.
const maxRecycled = 256 << 10

// bufferPool keeps buffers for the next request.
type bufferPool struct{ pool sync.Pool }

// newBuffer returns an empty buffer, which the caller hands to recycle.
func (p *bufferPool) newBuffer() *bytes.Buffer {
	b, ok := p.pool.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Reset()
	return b
}

func (p *bufferPool) recycle(b *bytes.Buffer) {
	if b.Cap() <= maxRecycled {
		p.pool.Put(b)
	}
}
