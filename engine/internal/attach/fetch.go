package attach

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/filepart"
)

// What a model reads instead of an unavailable image or file of an earlier turn.
const (
	imageGone = "[an image that is not available any more]"
	fileGone  = "[a file %sthat is not available any more]"
)

// Fetched maps the URLs of a segment's images and files to the fetched parts. The part of an unavailable one is
// a text.
type Fetched map[string]spool.Part

// Inline returns the request with the data of artifacts, and of images and files instead of their URLs if the
// configuration says so. It adds what it read to known. It replaces an unavailable file of another run by a text,
// because such a file would block the thread for ever. If a request has no room for all artifacts, the newest have it.
func (a *Files) Inline(ctx context.Context, r spool.ModelRequest, p Prompt, known Fetched) (spool.ModelRequest, error) {
	if !slices.ContainsFunc(r.Messages, a.mayHaveFiles) {
		return r, nil
	}
	in := inliner{Files: a, Prompt: p, known: known, room: int64(a.MaxPromptBytes), shown: make(map[spool.ArtifactID]bool)}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range slices.Backward(r.Messages) {
		if !a.mayHaveFiles(m) {
			continue
		}
		content, err := in.content(ctx, m)
		if err != nil {
			return r, err
		}
		r.Messages[i].Content = content
	}
	return r, nil
}

// content returns the content of a message with the data of its files.
func (in *inliner) content(ctx context.Context, m spool.Message) (spool.Content, error) {
	if m.Role == spool.RoleTool {
		return in.results(ctx, m)
	}
	content := slices.Clone(m.Content)
	for n, p := range slices.Backward(content) {
		var err error
		switch id, isArtifact := spool.ArtifactOf(source(p)); {
		case isArtifact && in.Artifacts != nil:
			content[n], err = in.attached(ctx, m.RunID, p, id)
		case isArtifact:
			content[n] = note(spool.Artifact{ID: id}, "which is not available any more")
		case isRemote(p) && in.client != nil:
			content[n], err = in.remote(ctx, p, m.RunID == in.Run || m.RunID == in.Answers, in.known)
		}
		if err != nil {
			return nil, err
		}
	}
	return content, nil
}

func (a *Files) mayHaveFiles(m spool.Message) bool {
	if m.Role == spool.RoleTool {
		return a.Artifacts != nil && slices.ContainsFunc(m.Content, mayHaveArtifacts)
	}
	return slices.ContainsFunc(m.Content, isRemote)
}

func mayHaveArtifacts(p spool.Part) bool {
	return p.Type == spool.PartToolResult && toolresult.MayHaveArtifacts(p.Result)
}

func isRemote(p spool.Part) bool {
	from := source(p)
	return from != "" && !filepart.IsData(from)
}

// source returns the URL of an image or a file, and an empty string for another part.
func source(p spool.Part) string {
	switch p.Type { //nolint:exhaustive // the other parts have none
	case spool.PartImage:
		return p.Image
	case spool.PartFile:
		return p.File
	default:
		return ""
	}
}

// withData returns the image or the file with its data instead of its URL.
func withData(p spool.Part, data []byte, media string) spool.Part {
	from := "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(data)
	if p.MIMEType = media; p.Type == spool.PartImage {
		p.Image = from
	} else {
		p.File = from
	}
	return p
}

// gone returns the text instead of an unavailable part.
func gone(p spool.Part) spool.Part {
	text := imageGone
	if p.Type == spool.PartFile {
		name := ""
		if p.FileName != "" {
			name = strconv.Quote(p.FileName) + " "
		}
		text = fmt.Sprintf(fileGone, name)
	}
	return spool.Part{Type: spool.PartText, Text: text}
}

// remote returns the image or the file with its data, and fetches it once in a segment. If it is unavailable and
// needed is false, the part is a text.
func (a *Files) remote(ctx context.Context, p spool.Part, needed bool, known Fetched) (spool.Part, error) {
	from := source(p)
	if part, ok := known[from]; ok && (part.Type != spool.PartText || !needed) {
		return part, nil
	}
	data, media, err := a.fetch(ctx, from, p.MIMEType)
	if err != nil && (needed || ctx.Err() != nil) {
		return p, err
	}
	part := gone(p)
	if err == nil {
		part = withData(p, data, media)
	}
	known[from] = part
	return part, nil
}

// fetch returns a file's data and media type. Its errors name only the host, because the rest of
// a URL may be secret. They are [spool.Invalid] for a permanent failure, and [spool.Unavailable]
// for a temporary one.
func (a *Files) fetch(ctx context.Context, from, declared string) ([]byte, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, "", spool.Errorf(spool.Invalid, "an attachment has a URL that cannot be read")
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
func (a *Files) unreachable(host string, err error) error {
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
