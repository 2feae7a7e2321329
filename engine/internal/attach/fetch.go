package attach

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// imageGone is what a model reads instead of an unavailable image of an earlier turn.
const imageGone = "[an image that is not available any more]"

// Fetched maps the URLs of a segment's images to the fetched parts. The part of an unavailable image is
// a text.
type Fetched map[string]spool.Part

// Inline returns the request with images' data instead of their URLs, if the configuration says so. It
// adds fetched images to known. It replaces an unavailable image of another run by a text, because such
// an image would block the thread for ever.
func (a *Images) Inline(ctx context.Context, r spool.ModelRequest, run spool.RunID, known Fetched) (spool.ModelRequest, error) {
	if a.client == nil || !slices.ContainsFunc(r.Messages, hasRemoteImage) {
		return r, nil
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		if !hasRemoteImage(m) {
			continue
		}
		m.Content = slices.Clone(m.Content)
		for n, p := range m.Content {
			if !isRemoteImage(p) {
				continue
			}
			part, err := a.image(ctx, p, m.RunID == run, known)
			if err != nil {
				return r, err
			}
			m.Content[n] = part
		}
		r.Messages[i] = m
	}
	return r, nil
}

func hasRemoteImage(m spool.Message) bool { return slices.ContainsFunc(m.Content, isRemoteImage) }

func isRemoteImage(p spool.Part) bool {
	return p.Type == spool.PartImage && !strings.HasPrefix(strings.ToLower(p.Image), "data:")
}

// image returns the image as a part with its data, and fetches it once in a segment. If an image is
// unavailable and needed is false, the part is a text.
func (a *Images) image(ctx context.Context, p spool.Part, needed bool, known Fetched) (spool.Part, error) {
	from := p.Image
	if part, ok := known[from]; ok && (part.Type == spool.PartImage || !needed) {
		return part, nil
	}
	data, media, err := a.fetch(ctx, from, p.MIMEType)
	if err != nil && (needed || ctx.Err() != nil) {
		return p, err
	}
	part := spool.Part{Type: spool.PartText, Text: imageGone}
	if err == nil {
		p.Image, p.MIMEType = "data:"+media+";base64,"+base64.StdEncoding.EncodeToString(data), media
		part = p
	}
	known[from] = part
	return part, nil
}

// fetch returns an image's data and media type. Its errors name only the host, because the rest of
// a URL may be secret. They are [spool.Invalid] for a permanent failure, and [spool.Unavailable]
// for a temporary one.
func (a *Images) fetch(ctx context.Context, from, declared string) ([]byte, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, "", spool.Errorf(spool.Invalid, "an image has a URL that cannot be read")
	}
	host := request.URL.Hostname()
	if err := a.hosts.Check(host); err != nil {
		return nil, "", fetchError(spool.Invalid, host, "is at an address that is not allowed", err)
	}
	request.Header.Set("Accept", strings.Join(a.MediaTypes, ", "))
	response, err := a.client.Do(request)
	if err != nil {
		return nil, "", a.unreachable(host, err)
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return nil, "", fetchError(spool.Unavailable, host, "answers with "+response.Status, nil)
	case status != http.StatusOK:
		return nil, "", fetchError(spool.Invalid, host, "answers with "+response.Status, nil)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, int64(a.MaxBytes)+1))
	if err != nil {
		return nil, "", a.unreachable(host, err)
	}
	media, err := a.inspect(data, declared)
	if err != nil {
		return nil, "", fetchError(spool.Invalid, host, "is not accepted: its "+spool.MessageOf(err), nil)
	}
	return data, media, nil
}

// unreachable returns the error of a fetch that got no complete response.
func (a *Images) unreachable(host string, err error) error {
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return fetchError(spool.Unavailable, host, "does not come within "+a.FetchTimeout.String(), nil)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err // without the URL
	}
	switch spool.CodeOf(err) {
	case spool.Forbidden:
		return fetchError(spool.Invalid, host, "is at an address that is not allowed", err)
	case spool.Invalid:
		return fetchError(spool.Invalid, host, spool.MessageOf(err), nil)
	default:
		return fetchError(spool.Unavailable, host, "cannot be fetched", err)
	}
}

func fetchError(code spool.Code, host, what string, err error) error {
	return &spool.Error{Code: code, Message: "the image of " + host + " " + what, Err: err}
}
