package auth

import (
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
)

// inboxLinkUse separates the signatures of links from those of stream tokens and URLs, which have the same keys.
const inboxLinkUse = "spool inbox link 1\n"

// LinkGrant is the content of a link to one question.
type LinkGrant struct {
	Tenant spool.Tenant     `json:"t"`
	Thread spool.ThreadID   `json:"i"`
	Call   spool.ToolCallID `json:"c"`
	// Digest is the digest of the question. It differs for each question of each run.
	Digest string `json:"d"`
	// Approver is the subject that answers with the link, and MadeBy the one that made it. MadeBy is empty on a
	// server without authentication.
	Approver string `json:"a"`
	MadeBy   string `json:"b,omitempty"`
	// Until is when the link expires, in Unix seconds.
	Until int64 `json:"e"`
	// Made is when the thread was made, in microseconds since 1970. A thread that is made again under the same id has
	// another one.
	Made int64 `json:"m"`
}

// Key returns the key of the thread.
func (g LinkGrant) Key() spool.ThreadKey { return spool.ThreadKey{Tenant: g.Tenant, ID: g.Thread} }

// Expires returns when the link expires.
func (g LinkGrant) Expires() time.Time { return time.Unix(g.Until, 0).UTC() }

// SignLink returns the token of a link, and when it expires: at g.Until, but not after the end of the credentials of the
// principal that makes it. The first key signs, and any of them may have signed.
func (a *Auth) SignLink(p access.Principal, g LinkGrant) (string, time.Time) {
	g.Until = access.Earlier(g.Expires(), p.Until.Truncate(time.Second)).Unix()
	return a.seal(inboxLinkUse, g), g.Expires()
}

// OpenLink returns what the token of a link says, if it has not expired. It returns [ErrLink] for a token that no key
// has signed, and [ErrLinkExpired].
func (a *Auth) OpenLink(r *http.Request, token string) (g LinkGrant, err error) {
	payload, signed := a.sealed(inboxLinkUse, token)
	if !signed {
		return LinkGrant{}, a.Failed(r, FailedLink, ErrLink)
	}
	if err := readGrant(payload, &g); err != nil {
		return LinkGrant{}, ErrLink
	}
	if !time.Now().Before(g.Expires()) {
		return LinkGrant{}, ErrLinkExpired
	}
	return g, nil
}

// The errors of a link, which say nothing of what it is about.
var (
	ErrLink        = spool.Errorf(spool.Forbidden, "this link is not valid")
	ErrLinkExpired = spool.Errorf(spool.Gone, "this link has expired")
)
