package threads

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
)

const (
	// formRoom is how much longer than its file a form may be.
	formRoom = 64 << 10
	// maxUpload bounds an upload if the store of artifacts has no bound of its own.
	maxUpload = 1 << 30
	// openUploads bounds the uploads of a principal that are under way in this process: each one has a temporary file.
	openUploads = 16
)

// UploadInput is a file for a thread.
type UploadInput struct {
	call.OneThread

	// Name is the name of the file. Left out: that of the Content-Disposition header or of the form.
	Name string `example:"cities.csv" query:"name"`
	Body rest.Upload
}

// MaxUpload returns the longest body of an upload.
func (c Controller) MaxUpload() int64 {
	return cmp.Or(c.Engine.MaxArtifactBytes(), maxUpload) + formRoom
}

// Upload saves a file as an artifact of a thread that exists. A later start attaches it by its id. The body has the
// bytes of the file, with its type as the Content-Type, or it is a form (multipart/form-data) with one file. The server
// also looks at the data: nothing passes for an image or a PDF that it is not. The same file again, with the same name,
// is the same artifact. An upload that ends early saves nothing.
func (c Controller) Upload(ctx context.Context, in UploadInput) (spool.Artifact, error) {
	key := in.Key(ctx)
	release, err := c.Uploads.enter(call.By(ctx))
	if err != nil {
		return spool.Artifact{}, call.About(ctx, err, key, "")
	}
	defer release()
	saved, err := c.Engine.SaveArtifact(call.Acting(ctx), key, spool.NewArtifact{
		Name: cmp.Or(in.Name, in.Body.Name), MediaType: in.Body.Type, Data: in.Body,
	})
	switch _, refused := errors.AsType[*rest.Error](err); {
	case errors.Is(err, spool.ErrNoArtifacts):
		return saved, call.About(ctx, &spool.Error{
			Code: spool.NotFound, Message: "the server does not store artifacts", Err: err,
		}, key, "")
	case refused:
		return saved, err // the body
	case spool.CodeOf(err) == spool.Limit:
		return saved, call.About(ctx, &spool.Error{Code: call.CodeTooLarge, Message: spool.MessageOf(err), Err: err}, key, "")
	case err != nil:
		return saved, call.About(ctx, err, key, "")
	}
	rest.ResponseOf(ctx).Header().Set("Location", c.ArtifactAddress(key.ID, saved.ID))
	return saved, nil
}

// ArtifactAddress returns the URL at which a client with its own credentials reads an artifact of a thread.
func (c Controller) ArtifactAddress(thread spool.ThreadID, id spool.ArtifactID) string {
	return c.address(id, "", "threadId", string(thread))
}

// address returns the URL of an artifact. It begins with the path if the server does not know its public URL.
func (c Controller) address(id spool.ArtifactID, below, param, value string) string {
	return c.Base + "/api/agent/artifacts/" + url.PathEscape(string(id)) + below + "?" +
		url.Values{param: {value}}.Encode()
}

// Uploads counts the uploads that are under way. The zero value has none. It is safe for concurrent use.
type Uploads struct {
	mu   sync.Mutex
	open map[string]int
}

// enter counts an upload of a principal until it is released, or refuses it.
func (u *Uploads) enter(p access.Principal) (release func(), err error) {
	id := p.ID()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[id] >= openUploads {
		return nil, &call.LaterError{
			Err: spool.Errorf(spool.Limit, "too many uploads at the same time: %d are allowed", openUploads), After: time.Second,
		}
	}
	if u.open == nil {
		u.open = make(map[string]int)
	}
	u.open[id]++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		if u.open[id]--; u.open[id] == 0 {
			delete(u.open, id)
		}
	}, nil
}

// UploadFails are the statuses of an upload besides its artifact.
var UploadFails = rest.Fails(http.StatusNotFound, http.StatusTooManyRequests, http.StatusInsufficientStorage)
