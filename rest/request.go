package rest

import (
	"bytes"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/textform"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// Request returns the request that makes the route receive in: path, query, headers, cookies
// and the body, which may be JSON, a form or files. The address is relative to the host, as
// for [Endpoint.URL]; a client in another process adds scheme and host.
//
// A nil optional body is left out. In a body, an absent [Opt] is sent as null, unless its json
// tag has omitzero.
func (e *Endpoint[In, Out]) Request(ctx context.Context, in In) (*http.Request, error) {
	if e.route == nil {
		return nil, errUnregistered
	}
	rt, v := e.route, structValue(in)
	address, err := rt.address(v)
	if err != nil {
		return nil, err
	}
	content, contentType, err := rt.content(v)
	if err != nil {
		return nil, fmt.Errorf("request of %s: %w", rt.name, err)
	}
	r, err := http.NewRequestWithContext(ctx, rt.methods[0], address, content)
	if err != nil {
		return nil, fmt.Errorf("request of %s: %w", rt.name, err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if err := rt.decorate(r, v); err != nil {
		return nil, fmt.Errorf("request of %s: %w", rt.name, err)
	}
	return r, nil
}

func (rt *route) decorate(r *http.Request, in reflect.Value) error {
	if rt.input.params == nil {
		return nil
	}
	for _, p := range rt.input.params.Params() {
		if p.In != "header" && p.In != "cookie" {
			continue
		}
		texts, err := paramTexts(p, in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", p.In, p.Name, err)
		}
		for _, t := range texts {
			switch {
			case p.In == "cookie":
				r.AddCookie(&http.Cookie{Name: p.Name, Value: t}) //nolint:gosec // a client sends a name and a value only
			case strings.EqualFold(p.Name, "Host"):
				r.Host = t
			default:
				r.Header.Add(p.Name, t)
			}
		}
	}
	return nil
}

func (rt *route) content(in reflect.Value) (content io.Reader, contentType string, err error) {
	switch b := rt.input.body; {
	case b != nil && b.upload:
		return uploadOf(in, b)
	case b != nil:
		return rt.jsonContent(b, in)
	case rt.input.params != nil && rt.input.params.NeedsForm():
		return rt.formContent(in)
	default:
		return nil, "", nil
	}
}

func (rt *route) jsonContent(b *bodyInput, in reflect.Value) (io.Reader, string, error) {
	v := reflect.New(in.Type()).Elem() // an addressable copy
	v.Set(in)
	switch {
	case len(b.spread) > 0:
		v = reflect.New(b.typ).Elem()
		for i, index := range b.spread {
			v.Field(i).Set(in.FieldByIndex(index))
		}
	case len(b.index) > 0:
		v = reflect.NewAt(b.typ, v.FieldByIndex(b.index).Addr().UnsafePointer()).Elem()
	}
	if !b.required && v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, "", nil
	}
	text, err := rt.jsonText(b.typ, v.Addr().Interface())
	if err != nil {
		return nil, "", fmt.Errorf("encode the body: %w", err)
	}
	return text, b.contentType(), nil
}

// jsonText encodes a value that contains a t.
func (rt *route) jsonText(t reflect.Type, value any) (text *bytes.Buffer, err error) {
	text = new(bytes.Buffer)
	codec := rt.api.config.codec
	encoder := codec.NewEncoder(text)
	if wire.HasTexts(t) {
		err = encode(encoder, text, wire.Plan{}, value, partEncoder(codec))
	} else {
		err = encoder.Encode(value) // a nil list stays null: null means absent for an optional list
	}
	return text, err
}

func (rt *route) formContent(in reflect.Value) (io.Reader, string, error) {
	values, files := url.Values{}, false
	var text bytes.Buffer
	parts := multipart.NewWriter(&text)
	for _, p := range rt.input.params.Params() {
		switch p.In {
		case "form":
			texts, err := rt.formTexts(p, in)
			if err != nil {
				return nil, "", fmt.Errorf("form %s: %w", p.Name, err)
			}
			for _, t := range texts {
				values.Add(p.Name, t)
				writeField(parts, p, t)
			}
		case "file":
			files = true
			if err := writeFiles(parts, p.Name, in.FieldByIndex(p.Index).Interface()); err != nil {
				return nil, "", fmt.Errorf("file %s: %w", p.Name, err)
			}
		}
	}
	if !files {
		return bytes.NewBufferString(values.Encode()), "application/x-www-form-urlencoded", nil
	}
	_ = parts.Close()
	return &text, parts.FormDataContentType(), nil
}

// formTexts returns the texts to send for a field of a form.
func (rt *route) formTexts(p bind.Param, in reflect.Value) ([]string, error) {
	if !p.JSON {
		return paramTexts(p, in)
	}
	v := in.FieldByIndex(p.Index)
	if v.IsZero() && !p.Required {
		return nil, nil
	}
	text, err := rt.jsonText(p.Type, v.Interface())
	return []string{strings.TrimSuffix(text.String(), "\n")}, err
}

// writeField writes a field of a form into a buffer, which takes everything.
func writeField(to *multipart.Writer, p bind.Param, text string) {
	if !p.JSON {
		_ = to.WriteField(p.Name, text)
		return
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="`+strings.NewReplacer("\\", "\\\\", `"`, "\\\"").Replace(p.Name)+`"`)
	h.Set("Content-Type", "application/json")
	if part, err := to.CreatePart(h); err == nil {
		_, _ = io.WriteString(part, text)
	}
}

func writeFiles(to *multipart.Writer, name string, value any) error {
	all, ok := value.([]*multipart.FileHeader)
	if one, single := value.(*multipart.FileHeader); single && one != nil {
		all, ok = []*multipart.FileHeader{one}, true
	}
	if !ok {
		return nil // a nil single file
	}
	for _, f := range all {
		if err := writeFile(to, name, f); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(to *multipart.Writer, name string, f *multipart.FileHeader) error {
	from, err := f.Open()
	if err != nil {
		return err //nolint:wrapcheck // the caller names the file
	}
	defer from.Close()
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", multipart.FileContentDisposition(name, f.Filename))
	h.Set("Content-Type", f.Header.Get("Content-Type"))
	part, err := to.CreatePart(h)
	if err != nil {
		return err //nolint:wrapcheck // the caller names the file
	}
	_, err = io.Copy(part, from)
	return err //nolint:wrapcheck // the caller names the file
}

// paramTexts returns the texts to send for a parameter. It returns none if sending nothing
// means the same.
func paramTexts(p bind.Param, in reflect.Value) ([]string, error) {
	v := in.FieldByIndex(p.Index)
	if v.IsZero() && p.Default == nil && !p.Required {
		return nil, nil
	}
	texts, err := textsOf(v, p.Field.Tag.Get("format"))
	if err == nil && p.Type.Kind() == reflect.Slice && !p.Explode && len(texts) == 1 && texts[0] == "" {
		return nil, errors.New("a list of one empty text cannot be told from an empty list")
	}
	return texts, err
}

// textsOf returns a value as parameter texts: none if the value is absent, one for a scalar,
// and one for each item of a list.
func textsOf(v reflect.Value, format string) ([]string, error) {
	switch {
	case !v.IsValid():
		return nil, nil
	case v.Kind() == reflect.Pointer && v.IsNil():
		return nil, nil
	case v.Kind() == reflect.Pointer:
		return textsOf(v.Elem(), format)
	}
	if optional, ok := reflect.TypeAssert[interface{ IsSet() bool }](v); ok { // an Opt
		if !optional.IsSet() {
			return nil, nil
		}
		return textsOf(v.MethodByName("Get").Call(nil)[0], format)
	}
	if text, ok, err := ownText(v, format); ok {
		return []string{text}, err
	}
	if v.Kind() != reflect.Slice {
		text, err := plainText(v)
		return []string{text}, err
	}
	all := make([]string, 0, v.Len())
	for i := range v.Len() {
		t, err := textsOf(v.Index(i), format)
		if err != nil {
			return nil, err
		}
		all = append(all, t...)
	}
	return all, nil
}

// ownText returns the text of a value whose type has a text form of its own, and reports
// whether it has one.
func ownText(v reflect.Value, format string) (text string, ok bool, err error) {
	if form := textform.Of(v.Type(), format); form != textform.None {
		text, err := textform.Text(form, v.Interface())
		return text, true, err //nolint:wrapcheck // the caller names the parameter
	}
	switch value := v.Interface().(type) {
	case time.Time:
		return value.Format(time.RFC3339Nano), true, nil
	case time.Duration:
		return value.String(), true, nil
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](p); ok {
		b, err := m.MarshalText()
		return string(b), true, err //nolint:wrapcheck // the caller names the parameter
	}
	return "", false, nil
}

func plainText(v reflect.Value) (string, error) {
	switch v.Kind() { //nolint:exhaustive // the others are no parameters
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), nil
	default:
		return "", fmt.Errorf("a %v has no text", v.Type())
	}
}
