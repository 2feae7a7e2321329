package threads

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
)

const (
	usualArtifactURL = 5 * time.Minute
	maxArtifactURL   = time.Hour
)

// ArtifactURLInput asks for a signed URL.
type ArtifactURLInput struct {
	ArtifactInput

	// ExpiresIn is how long the URL works, such as 10m: from 1s to 1h. Left out: 5m.
	ExpiresIn string `example:"10m" query:"expiresIn"`
}

// Validate implements [rest.Validator].
func (in *ArtifactURLInput) Validate(context.Context) error {
	_, err := in.lasts()
	return err
}

func (in *ArtifactURLInput) lasts() (time.Duration, error) {
	if in.ExpiresIn == "" {
		return usualArtifactURL, nil
	}
	d, err := time.ParseDuration(in.ExpiresIn)
	if err != nil || d < time.Second || d > maxArtifactURL {
		return 0, spool.Errorf(spool.Invalid, `expiresIn must be a duration from 1s to 1h, such as "10m"`)
	}
	return d, nil
}

// ArtifactURL is a URL that works without credentials.
type ArtifactURL struct {
	// URL is the URL. It begins with the path if the server does not know its public URL.
	URL string `example:"/api/agent/artifacts/art_0c6c38ccc5b7f5ac8a8cd0a53ab3d6b5/data?token=eyJ0Ijoi...Q.pT2x" json:"url"`
	// ExpiresAt is when the URL expires.
	ExpiresAt time.Time `json:"expiresAt"`
}

// ArtifactURL answers with a URL that has the data of one artifact for whoever has it, without credentials: for an img,
// a link or another program. It works until it expires, or until the artifact is deleted, and also if the caller's own
// credentials are withdrawn before.
func (c Controller) ArtifactURL(ctx context.Context, in ArtifactURLInput) (ArtifactURL, error) {
	key := in.Key(ctx)
	thread, err := c.Engine.Thread(call.Acting(ctx), key)
	if err != nil {
		return ArtifactURL{}, call.About(ctx, err, key, "")
	}
	_, data, err := c.open(call.Acting(ctx), key, in.ArtifactID)
	if err != nil {
		return ArtifactURL{}, call.About(ctx, err, key, "")
	}
	_ = data.Close()
	lasts, err := in.lasts()
	if err != nil {
		return ArtifactURL{}, err
	}
	rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	token, until := c.Auth.SignArtifact(call.By(ctx), thread, in.ArtifactID, lasts)
	return ArtifactURL{c.address(in.ArtifactID, "/data", auth.ArtifactToken, token), until}, nil
}

// SignedInput is a request of a signed URL.
type SignedInput struct {
	ArtifactID spool.ArtifactID `example:"art_0c6c38ccc5b7f5ac8a8cd0a53ab3d6b5" path:"artifactId"` // The artifact.
	// Token is what the URL has: it is signed, and names the thread.
	Token string `query:"token"`
}

// Signed answers with the data of an artifact, for whoever has a URL of createArtifactUrl. A URL that is wrong, altered
// or expired, or whose artifact is gone, gets a 403 that does not say which.
func (c Controller) Signed(ctx context.Context, in SignedInput) (*rest.File, error) {
	r := rest.RequestOf(ctx)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || len(query[auth.ArtifactToken]) != 1 {
		in.Token = ""
	}
	grant, err := c.Auth.OpenArtifact(r, in.Token, in.ArtifactID)
	if err != nil {
		return nil, err
	}
	key := grant.Key()
	call.Concerns(ctx, key, "")
	thread, err := c.Engine.Thread(ctx, key)
	var artifact spool.Artifact
	var data io.ReadCloser
	if err == nil && thread.CreatedAt.UnixMicro() == grant.CreatedAt {
		artifact, data, err = c.open(ctx, key, in.ArtifactID)
	}
	switch {
	case spool.CodeOf(err) == spool.NotFound, err == nil && data == nil:
		return nil, call.About(ctx, auth.ErrArtifactURL, key, "")
	case err != nil:
		return nil, call.About(ctx, err, key, "")
	}
	// Whoever has the URL may show the image, also on a page of another site.
	rest.ResponseOf(ctx).Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	left := max(0, int(time.Until(grant.Expires()).Seconds()))
	return fileOf(ctx, artifact, data, fmt.Sprintf("private, max-age=%d", left)), nil
}

// SignedFails are the statuses of a signed URL besides the data.
var SignedFails = rest.Fails(http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable)
