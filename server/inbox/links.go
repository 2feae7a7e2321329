package inbox

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// LinksInput asks for a page of links.
type LinksInput struct {
	Limit int `default:"50" maximum:"1000" minimum:"1" query:"limit"` // The size of a page.
	// After is the field linkId of the last link before.
	After wire.LinkID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"after"`
}

// InboxLinks are links that neither have expired nor were revoked.
type InboxLinks struct { //nolint:revive // the document has the name
	// Links are the links, the oldest of each maker first. Fewer than the limit: there are no more.
	Links []wire.QuestionLink `json:"links"`
}

// Links answers with the links that the caller has made, and for the scope admin those of the whole tenant, without
// links that have expired or were revoked. The URL of a link is not stored.
func (c Controller) Links(ctx context.Context, in LinksInput) (InboxLinks, error) {
	p := call.By(ctx)
	q := engine.LinkQuery{After: in.After, Limit: in.Limit}
	if !p.May(access.ScopeAdmin) {
		q.MadeBy = &p.Subject
	}
	links, err := c.Engine.Links(call.Acting(ctx), p.Tenant, q)
	return InboxLinks{links}, call.About(ctx, err, p.Key(""), "")
}

// RevokeInput names a link.
type RevokeInput struct {
	LinkID wire.LinkID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"linkId" required:"true"` // The link.
}

// Revoke ends a link before its time. Its maker may do that, and an admin.
func (c Controller) Revoke(ctx context.Context, in RevokeInput) (wire.QuestionLink, error) {
	p := call.By(ctx)
	acting := call.Acting(ctx)
	link, err := c.Engine.Link(acting, p.Tenant, in.LinkID)
	if err == nil && link.MadeBy != p.Subject && !p.May(access.ScopeAdmin) {
		err = spool.Errorf(spool.NotFound, "Link not found")
	}
	if err == nil {
		err = c.Engine.RemoveLink(acting, p.Tenant, in.LinkID)
	}
	return link, call.About(ctx, err, p.Key(link.ThreadID), "")
}

// MayApprove reports whether the list of approvers has a subject. An element "*@example.com" stands for all subjects
// with that end. No list has everybody.
func MayApprove(list []string, subject string) bool {
	for _, one := range list {
		end, all := strings.CutPrefix(one, "*")
		if one == subject || all && len(subject) > len(end) && strings.HasSuffix(subject, end) {
			return true
		}
	}
	return len(list) == 0
}
