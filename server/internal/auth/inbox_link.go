package auth

import (
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// inboxLinkUse separates the signatures of links from those of stream tokens and URLs, which have the same keys.
const inboxLinkUse = "spool inbox link 1\n"

// LinkGrant is the content of a link to one question.
type LinkGrant struct {
	ID     wire.LinkID      `json:"l"`
	Tenant spool.Tenant     `json:"t"`
	Thread spool.ThreadID   `json:"i"`
	Call   spool.ToolCallID `json:"c"`
	// Digest is the digest of the question. It differs for each question of each run.
	Digest string `json:"d"`
	// Approver is the subject that answers with the link, and MadeBy the one that made it. MadeBy is empty on a
	// server without authentication.
	Approver string `json:"a"`
	MadeBy   string `json:"b,omitempty"`
	// Credentials are those of the maker.
	Credentials string `json:"k,omitempty"`
	// Until is when the link expires, in Unix seconds.
	Until int64 `json:"e"`
	// CreatedAt is when the thread was created, in microseconds since 1970. A thread that is created again under the
	// same id has another time.
	CreatedAt int64 `json:"m"`
	// Webhook is the endpoint that has made the link, and vouches for it. Empty: a principal has made it.
	Webhook string `json:"w,omitempty"`
	// WebhookBorn is when the endpoint was made, in microseconds since 1970. Zero: the configuration has it. An endpoint
	// that is made again under the same name has another time.
	WebhookBorn int64 `json:"n,omitempty"`
}

// Key returns the key of the thread.
func (g LinkGrant) Key() spool.ThreadKey { return spool.ThreadKey{Tenant: g.Tenant, ID: g.Thread} }

// Expires returns when the link expires.
func (g LinkGrant) Expires() time.Time { return time.Unix(g.Until, 0).UTC() }

// SignLink returns the token of a link of the principal. The first key signs, and any of them may have signed.
func (a *Auth) SignLink(p access.Principal, g LinkGrant) string {
	g.Credentials = p.Credentials
	return a.seal(inboxLinkUse, g)
}

// OpenLink returns what the token of a link says. It returns [ErrLink] for a token that no key has signed, and
// [ErrLinkExpired] for a link that has expired, or whose maker's credentials are not good any more. It does not know
// whether the endpoint of a webhook is still good.
func (a *Auth) OpenLink(r *http.Request, token string) (g LinkGrant, err error) {
	payload, signed := a.sealed(inboxLinkUse, token)
	if !signed {
		return LinkGrant{}, a.Failed(r, FailedLink, ErrLink)
	}
	if err := readGrant(payload, &g); err != nil {
		return LinkGrant{}, ErrLink
	}
	vouched := g.Webhook != ""
	if !vouched {
		_, vouched = a.vouch(r.Context(), g.Credentials)
	}
	if !vouched || !time.Now().Before(g.Expires()) {
		return LinkGrant{}, ErrLinkExpired
	}
	return g, nil
}

// The errors of a link, which say nothing of what it is about.
var (
	ErrLink        = spool.Errorf(spool.Forbidden, "this link is not valid")
	ErrLinkExpired = spool.Errorf(spool.Gone, "this link has expired")
)
