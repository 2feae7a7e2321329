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

// Codec encodes and decodes JSON. It must handle tags and the interfaces of types as
// encoding/json does, and be safe for concurrent use. The package checks a body before it
// calls Unmarshal, so a lenient codec does not weaken the checks.
type Codec interface {
	// NewEncoder returns an encoder that writes each value to w in one call of Write.
	NewEncoder(w io.Writer) Encoder
	// Unmarshal decodes data and must not keep it. It is called only for values that the
	// package does not decode itself: interface values, and types with their own
	// UnmarshalJSON.
	Unmarshal(data []byte, into any) error
}

// Encoder writes any number of JSON values. Only one goroutine uses it at a time. An encoder
// that has returned an error is not used again.
type Encoder interface {
	// Encode writes v as one JSON value.
	Encode(v any) error
}

type standardCodec struct{}

// NewEncoder returns an encoder that does not escape < and &, because answers are JSON and not
// part of an HTML page.
func (standardCodec) NewEncoder(w io.Writer) Encoder {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e
}

func (standardCodec) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

// sender is a reusable encoder: it writes one answer after the other. An answer is sent only
// after its whole body is encoded, so a value that cannot be encoded is still answered as an
// error.
type sender struct {
	encoder     Encoder
	to          http.ResponseWriter
	status      int
	contentType []string
	begun       bool
	more        bool
	codec       Codec
	text        []byte // of the last answer, whose memory is reused
	// encode is the method part, stored once to save allocations. parts encodes for it.
	encode wire.Encode
	parts  wire.Encode
}

// part encodes one part of a body that is composed of parts.
func (s *sender) part(v any) ([]byte, error) {
	if s.parts == nil {
		s.parts = partEncoder(s.codec)
	}
	return s.parts(v)
}

// shortBody is the largest body for which net/http sets Content-Length itself.
const shortBody = 2048

var errPieces = errors.New("the codec wrote a document in pieces")

// Write sends the header and the whole body. It ignores write errors: the client may be gone.
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
	_, _ = s.to.Write(b) //nolint:gosec // JSON, with the type of JSON
	return len(b), nil
}

// send answers with body as JSON. plan is the plan of the handler's result type. If send
// returns an error, nothing was sent.
func (a *API) send(w http.ResponseWriter, status int, contentType []string, plan wire.Plan, body any) error {
	s, ok := a.senders.Get().(*sender)
	if !ok {
		s = &sender{codec: a.config.codec}
		s.encode = s.part
		s.encoder = a.config.codec.NewEncoder(s)
	}
	s.to, s.status, s.contentType, s.begun, s.more = w, status, contentType, false, false
	err := s.send(plan, body)
	if s.more {
		// Content-Length was the length of the first piece; the client must not take it for
		// the whole.
		panic(errPieces)
	}
	s.to = nil
	if err == nil { // a failed encoder may not work again
		a.senders.Put(s)
	}
	return err //nolint:wrapcheck // the caller says what it was encoding
}

// send writes a body in one step if the codec is the standard one and the body's type is plain.
func (s *sender) send(plan wire.Plan, body any) error {
	if s.codec != (standardCodec{}) {
		return encode(s.encoder, s, plan, body, s.encode)
	}
	text, ok := plan.Append(s.text[:0], body)
	if !ok {
		return encode(s.encoder, s, plan, body, s.encode)
	}
	text = append(text, '\n')
	_, _ = s.Write(text) // never an error
	if cap(text) <= maxRecycled {
		s.text = text
	}
	return nil
}

// encode writes v in the form that the API's document describes; see [wire]. The encoder e
// must write to the same place as to.
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

// partEncoder returns a function that encodes one value. The result is valid until the next
// call.
func partEncoder(codec Codec) wire.Encode {
	var buffer bytes.Buffer
	var encoder Encoder
	return func(v any) ([]byte, error) {
		if encoder == nil {
			encoder = codec.NewEncoder(&buffer)
		}
		buffer.Reset()
		if err := encoder.Encode(v); err != nil {
			encoder = nil   // a failed encoder may not work again
			return nil, err //nolint:wrapcheck // the caller says what it was encoding
		}
		return bytes.TrimRight(buffer.Bytes(), "\n"), nil
	}
}

// maxRecycled is the capacity up to which a buffer is reused. Memory for one large body should
// not be kept forever.
const maxRecycled = 256 << 10

type bufferPool struct{ pool sync.Pool }

// newBuffer returns an empty buffer. The caller gives it back with recycle.
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
