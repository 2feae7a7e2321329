package auth

import (
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

const (
	// artifactURLUse separates the signatures of URLs from those of stream tokens, which have the same keys.
	artifactURLUse = "spool artifact url 1\n"
	// ArtifactToken is the parameter of a signed URL.
	ArtifactToken = "token"
)

// ArtifactGrant is the content of a signed URL.
type ArtifactGrant struct {
	Tenant   spool.Tenant     `json:"t"`
	Thread   spool.ThreadID   `json:"i"`
	Artifact spool.ArtifactID `json:"a"`
	// Until is when the URL expires, in Unix seconds.
	Until int64 `json:"e"`
	// CreatedAt is when the thread was created, in microseconds since 1970. A thread that is created again under the
	// same id has another time.
	CreatedAt int64 `json:"m"`
}

// Key returns the key of the thread.
func (g ArtifactGrant) Key() spool.ThreadKey { return spool.ThreadKey{Tenant: g.Tenant, ID: g.Thread} }

// Expires returns when the URL expires.
func (g ArtifactGrant) Expires() time.Time { return time.Unix(g.Until, 0).UTC() }

// SignArtifact returns the token of a URL that opens one artifact of the thread, and when it expires: after lasts, but
// not after the end of the principal's own credentials. The first key signs, and any of them may have signed.
func (a *Auth) SignArtifact(
	p access.Principal, thread wire.Thread, id spool.ArtifactID, lasts time.Duration,
) (string, time.Time) {
	g := ArtifactGrant{
		Tenant: p.Tenant, Thread: thread.ID, Artifact: id, CreatedAt: thread.CreatedAt.UnixMicro(),
		Until: access.Earlier(time.Now().Add(lasts).Truncate(time.Second), p.Until.Truncate(time.Second)).Unix(),
	}
	return a.seal(artifactURLUse, g), g.Expires()
}

// OpenArtifact returns what the token of a signed URL says, if it opens this artifact now. All refusals are
// [ErrArtifactURL], but for a client that has guessed too often.
func (a *Auth) OpenArtifact(r *http.Request, token string, id spool.ArtifactID) (ArtifactGrant, error) {
	payload, signed := a.sealed(artifactURLUse, token)
	if !signed {
		return ArtifactGrant{}, a.Failed(r, FailedArtifact, ErrArtifactURL)
	}
	g, err := readArtifactGrant(payload)
	if err != nil || g.Artifact != id || !time.Now().Before(g.Expires()) {
		return ArtifactGrant{}, ErrArtifactURL // nobody has guessed anything
	}
	return g, nil
}

// ErrArtifactURL is the error of a signed URL, whatever is wrong with it: an honest client does not need to know more.
var ErrArtifactURL = spool.Errorf(spool.Forbidden, "the URL is not valid, or not any more")

func readArtifactGrant(payload string) (g ArtifactGrant, err error) {
	return g, readGrant(payload, &g)
}
