package inbox

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

const (
	// PathLink is the path of a link, with its token.
	PathLink  = pathLinks + "{token}"
	pathLinks = "/api/agent/inbox/links/"

	maxLink, minLink = 24 * time.Hour, time.Minute
	// maxApprover bounds the name of the approver, in bytes.
	maxApprover = 256
)

// InboxLinkRequest is the body of a request for a link.
type InboxLinkRequest struct { //nolint:revive // the document has the name
	ThreadID   spool.ThreadID   `example:"t1"     json:"threadId"   required:"true"` // The thread that waits.
	ToolCallID spool.ToolCallID `example:"call_1" json:"toolCallId" required:"true"` // The call that waits.
	// Digest is the digest of the question, if you have it: a link to another question is refused.
	Digest string `json:"digest,omitempty"`
	// Approver is who answers with the link, in up to 256 bytes. The record and the audit log name this subject.
	// Send the link to nobody else.
	Approver string `example:"ann@example.com" json:"approver" required:"true"`
	// ExpiresIn is how long the link works, such as 2h: from 1m to 24h, and never longer than the question waits.
	// Left out: 24h.
	ExpiresIn string `example:"2h" json:"expiresIn,omitempty"`

	lasts time.Duration
}

// Validate implements [rest.Validator].
func (in *InboxLinkRequest) Validate(context.Context) (err error) {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	if err := spool.CheckID("toolCallId", string(in.ToolCallID)); err != nil {
		return err
	}
	switch {
	case in.Approver == "":
		return spool.Errorf(spool.Invalid, "approver is required")
	case len(in.Approver) > maxApprover || strings.TrimSpace(in.Approver) != in.Approver ||
		strings.ContainsFunc(in.Approver, hidden):
		return spool.Errorf(spool.Invalid, "approver must have up to %d bytes, no space around it and no control characters",
			maxApprover)
	}
	in.lasts = maxLink
	if in.ExpiresIn != "" {
		in.lasts, err = time.ParseDuration(in.ExpiresIn)
		if err != nil || in.lasts < minLink || in.lasts > maxLink {
			return spool.Errorf(spool.Invalid, `expiresIn must be a duration from 1m to 24h, such as "2h"`)
		}
	}
	return nil
}

// hidden reports whether a reader does not see a character, or sees others in another order because of it.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
}

// InboxLink is a link to one question.
type InboxLink struct { //nolint:revive // as above
	// URL is the link. It begins with the path if the server does not know its public URL.
	URL string `example:"https://agents.example/api/agent/inbox/links/eyJ0Ijoi...Q.pT2x" json:"url"`
	// ExpiresAt is when the link expires.
	ExpiresAt time.Time `json:"expiresAt"`
	// ID is the link, to revoke it.
	ID wire.LinkID `json:"linkId"`
}

var errSameApprover = spool.Errorf(spool.Conflict, "This request is for somebody else than who started the run")

// Link makes a link with which one person answers one question, without other credentials. The link shows the question
// as a page, and its form answers: opening the link changes nothing. The link is bound to the digest of the question
// and to the approver, in whose name it answers: send it to nobody else. It stops working with the first answer to the
// question, from wherever it comes, when the question changes or does not wait any more, when it expires or is revoked,
// and with the credentials that made it. The record and the audit log say which subject made the link. For a question
// that the person who started the run may not answer, that person can neither make the link nor be its approver.
func (c Controller) Link(ctx context.Context, in InboxLinkRequest) (InboxLink, error) {
	p := call.By(ctx)
	key := p.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	if !MayApprove(c.Approvers, in.Approver) {
		return InboxLink{}, call.About(ctx,
			spool.Errorf(spool.Forbidden, "approver: the configuration allows no links for this subject"), key, "")
	}
	acting := call.Acting(ctx)
	thread, err := c.Engine.Thread(acting, key)
	if err != nil {
		return InboxLink{}, call.About(ctx, err, key, "")
	}
	asked, err := c.Engine.Question(acting, key, in.ToolCallID)
	switch {
	case err != nil:
	case asked.Digest == "":
		err = spool.Errorf(spool.Conflict, "This request is of an older version, and has no digest")
	case in.Digest != "" && in.Digest != asked.Digest:
		err = spool.Errorf(spool.Conflict, "This request is not the one that was shown")
	case asked.DistinctApprover && !distinct(asked.StartedBy, p.Subject, in.Approver):
		err = errSameApprover
	}
	if err != nil {
		return InboxLink{}, call.About(ctx, err, key, "")
	}
	until := access.Earlier(access.Earlier(time.Now().Add(in.lasts), asked.ExpiresAt), p.Until).Truncate(time.Second).UTC()
	link, err := c.Engine.AddLink(acting, p.Tenant, wire.QuestionLink{
		ThreadID: key.ID, ToolCallID: in.ToolCallID, Approver: in.Approver, MadeBy: p.Subject, ExpiresAt: until,
	})
	if err != nil {
		return InboxLink{}, call.About(ctx, err, key, "")
	}
	token := c.Auth.SignLink(p, auth.LinkGrant{
		ID: link.ID, Tenant: p.Tenant, Thread: key.ID, Call: in.ToolCallID, Digest: asked.Digest, Approver: in.Approver,
		MadeBy: p.Subject, Until: until.Unix(), CreatedAt: thread.CreatedAt.UnixMicro(),
	})
	rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	return InboxLink{LinkURL(c.Base, token), until, link.ID}, nil
}

// LinkURL returns the URL of a link with a token.
func LinkURL(base, token string) string { return base + pathLinks + url.PathEscape(token) }

// distinct reports whether all subjects are known and none of them is the starter.
func distinct(starter string, others ...string) bool {
	for _, s := range others {
		if starter == "" || s == "" || s == starter {
			return false
		}
	}
	return true
}

// LinkFails are the statuses of a request for a link besides the link.
var LinkFails = rest.Fails(http.StatusForbidden, http.StatusNotFound, http.StatusConflict)
