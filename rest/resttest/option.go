package resttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"reflect"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/internal/actas"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// Option changes a call.
type Option func(c *call) error

type call struct {
	request *http.Request
	query   url.Values
	codec   rest.Codec
	remote  string
}

// Header sets a header.
func Header(name, value string) Option {
	return func(c *call) error {
		c.request.Header.Set(name, value)
		return nil
	}
}

// Headers adds headers. A name may have several values.
func Headers(h http.Header) Option {
	return func(c *call) error {
		for name, values := range h {
			for _, v := range values {
				c.request.Header.Add(name, v)
			}
		}
		return nil
	}
}

// Cookie adds a cookie.
func Cookie(name, value string) Option {
	return func(c *call) error {
		c.request.AddCookie(&http.Cookie{Name: name, Value: value}) //nolint:gosec // a client sends a name and a value only
		return nil
	}
}

// Bearer sends a bearer token.
func Bearer(token string) Option { return Header("Authorization", "Bearer "+token) }

// Basic sends a user name and a password.
func Basic(user, password string) Option {
	return func(c *call) error {
		c.request.SetBasicAuth(user, password)
		return nil
	}
}

// Query adds a query parameter, for example for a page or a filter. Such parameters are not
// part of the input of a list.
func Query(name, value string) Option {
	return func(c *call) error {
		if c.query == nil {
			c.query = url.Values{}
		}
		c.query.Add(name, value)
		return nil
	}
}

// As makes the request as the principal. The route's authenticators are skipped; throttles and
// permissions are not.
func As(p rest.Principal) Option {
	return func(c *call) error {
		ctx := actas.Context(c.request.Context(), p)
		c.request = c.request.WithContext(rest.WithPrincipal(ctx, p))
		return nil
	}
}

// From sets the address of the client's connection.
//
// Defaults to "192.0.2.1:1234".
func From(address string) Option {
	return func(c *call) error {
		c.remote = address
		return nil
	}
}

// JSON sends a value as the body.
func JSON(v any) Option {
	return func(c *call) error {
		var text bytes.Buffer
		err := c.encode(&text, v)
		if err != nil {
			return fmt.Errorf("encode the body: %w", err)
		}
		return Content("application/json", text.String())(c)
	}
}

// encode encodes a body in the form that the API reads: for example, dates by the tags of
// their fields.
func (c *call) encode(to *bytes.Buffer, v any) error {
	encoder := c.codec.NewEncoder(to)
	if t := reflect.TypeOf(v); t == nil || !wire.HasTexts(t) {
		return encoder.Encode(v) //nolint:wrapcheck // the caller says what it was encoding
	}
	_, text, err := wire.Prepare(v, func(part any) ([]byte, error) {
		to.Reset()
		err := encoder.Encode(part)
		return bytes.TrimRight(to.Bytes(), "\n"), err //nolint:wrapcheck // as above
	})
	to.Reset()
	to.Write(text)
	return err //nolint:wrapcheck // as above
}

// Content sends a text as the body. If contentType is empty, no Content-Type is sent.
func Content(contentType, text string) Option {
	return func(c *call) error {
		c.request.Body = io.NopCloser(bytes.NewBufferString(text))
		c.request.Header.Del("Content-Type")
		if contentType != "" {
			c.request.Header.Set("Content-Type", contentType)
		}
		return nil
	}
}

// Codec sets the codec for the body of the answer, and for the options [JSON] that follow it.
//
// Defaults to encoding/json.
func Codec(codec rest.Codec) Option {
	return func(c *call) error {
		c.codec = codec
		return nil
	}
}

type standard struct{}

func (standard) NewEncoder(w io.Writer) rest.Encoder   { return json.NewEncoder(w) }
func (standard) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

// File returns the value for a file field of an input.
func File(name, contentType string, content []byte) *multipart.FileHeader {
	var text bytes.Buffer
	parts := multipart.NewWriter(&text)
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition("file", name))
	h.Set("Content-Type", contentType)
	part, err := parts.CreatePart(h)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = parts.Close()
	}
	if err != nil {
		panic(fmt.Sprintf("resttest: file %s: %v", name, err)) // cannot happen in memory
	}
	form, err := multipart.NewReader(&text, parts.Boundary()).ReadForm(int64(len(content)) + 1)
	if err != nil {
		panic(fmt.Sprintf("resttest: file %s: %v", name, err))
	}
	return form.File["file"][0]
}
