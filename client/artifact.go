package client

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
)

const artifactsPath = "/api/agent/artifacts"

// UploadArtifact saves a file as an artifact of a thread, which a later start attaches by its id. It reads Data once,
// while it sends them, so an upload that fails is not repeated, also after a 401 for an expired token. To send the
// same data with the same name again is safe: they are the same artifact. The request ignores Key, and leaves out an
// empty Name or MediaType.
//
// It returns a [spool.NotFound] error for a thread that does not exist, and a [spool.StorageFull] error if the tenant
// has no room. For a file that is too large, [StatusOf] is 413.
func (c *Client) UploadArtifact(
	ctx context.Context, thread spool.ThreadID, a spool.NewArtifact,
) (spool.Artifact, error) {
	q := request{
		method: http.MethodPost, path: artifactsPath, query: url.Values{"threadId": {string(thread)}}, body: a.Data,
		header: http.Header{"Content-Type": {cmp.Or(a.MediaType, "application/octet-stream")}},
	}
	if a.Data == nil {
		q.body = http.NoBody
	}
	if a.Name != "" {
		q.query.Set("name", a.Name)
	}
	return do[spool.Artifact](ctx, c, q)
}

// OpenArtifact returns an artifact of a thread with its data, which the caller closes. Data that are cut end with an
// error. It returns a [spool.NotFound] error for an artifact that the thread does not have.
func (c *Client) OpenArtifact(
	ctx context.Context, thread spool.ThreadID, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	q := get(artifactPath(id), "threadId", string(thread))
	q.header = http.Header{"Accept": {"*/*"}}
	res, err := c.exchange(ctx, c.http, q)
	if err != nil {
		return spool.Artifact{}, nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer closeBody(res)
		return spool.Artifact{}, nil, failure(res, readRefusal(res))
	}
	a := spool.Artifact{ID: id, Size: res.ContentLength}
	a.MediaType, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil &&
		params["filename"] != string(id) {
		a.Name = params["filename"]
	}
	return a, res.Body, nil
}

// ArtifactURL is a URL that has the data of one artifact for whoever has it, without credentials.
type ArtifactURL struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// ArtifactURL returns a signed URL of an artifact, which works for lasts, at most 1 h. Zero: 5 min. It returns a
// [spool.NotFound] error for an artifact that the thread does not have.
func (c *Client) ArtifactURL(
	ctx context.Context, thread spool.ThreadID, id spool.ArtifactID, lasts time.Duration,
) (ArtifactURL, error) {
	q := post(artifactPath(id)+"/url", struct{}{})
	q.query = url.Values{"threadId": {string(thread)}}
	if lasts != 0 {
		q.query.Set("expiresIn", lasts.String())
	}
	signed, err := do[ArtifactURL](ctx, c, q)
	if err != nil {
		return signed, err
	}
	to, err := url.Parse(signed.URL)
	base, _ := url.Parse(c.base)
	if err != nil || base == nil {
		return ArtifactURL{}, &spool.Error{
			Code: spool.Internal, Message: "the answer is not that of a Spool server", Err: err,
		}
	}
	signed.URL = base.ResolveReference(to).String()
	return signed, nil
}

func artifactPath(id spool.ArtifactID) string {
	return artifactsPath + "/" + url.PathEscape(string(id))
}
