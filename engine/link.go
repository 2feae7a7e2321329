package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// linkKind is the kind of the rows of links to questions. A row expires with its link.
const linkKind = "question_link"

var errNoLink = spool.Errorf(spool.NotFound, "Link not found")

// AddLink stores a link of a tenant until it expires, and returns it with an id and the time.
func (e *Engine) AddLink(ctx context.Context, tenant spool.Tenant, link wire.QuestionLink) (wire.QuestionLink, error) {
	link.ID = wire.LinkID(linksOf(link.MadeBy) + spool.NewID("link"))
	err := e.store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		link.CreatedAt = tx.Now().UTC()
		text, err := json.Marshal(link)
		if err != nil {
			return err
		}
		return tx.Write(store.Changes{
			Rows: []store.Row{{Tenant: tenant, Kind: linkKind, Key: string(link.ID), Value: text, ExpiresAt: link.ExpiresAt}},
		})
	})
	return link, err
}

// linksOf returns the beginning of the ids of a maker's links.
func linksOf(maker string) string {
	hash := sha256.Sum256([]byte(maker))
	return hex.EncodeToString(hash[:8]) + "."
}

// Link returns a link that neither has expired nor was revoked, or a [spool.NotFound] error.
func (e *Engine) Link(ctx context.Context, tenant spool.Tenant, id wire.LinkID) (wire.QuestionLink, error) {
	rows, err := e.store.Rows(ctx, store.RowQuery{Tenant: tenant, Kind: linkKind, Key: string(id), Limit: 1})
	if err == nil && (id == "" || len(rows) == 0) {
		err = errNoLink
	}
	if err != nil {
		return wire.QuestionLink{}, err
	}
	return linkOf(rows[0])
}

// LinkQuery selects links of a tenant.
type LinkQuery struct {
	// MadeBy leaves out the links of other makers. Nil: all.
	MadeBy *string
	// After continues a list behind a link. Empty: from the first.
	After wire.LinkID
	// Limit bounds how many links are returned. Zero: all.
	Limit int
}

// Links lists links that neither have expired nor were revoked. The links of a maker come one after the other, the
// oldest first.
func (e *Engine) Links(ctx context.Context, tenant spool.Tenant, q LinkQuery) ([]wire.QuestionLink, error) {
	prefix := ""
	if q.MadeBy != nil {
		prefix = linksOf(*q.MadeBy)
	}
	rows, err := e.store.Rows(ctx, store.RowQuery{
		Tenant: tenant, Kind: linkKind, After: max(prefix, string(q.After)), Limit: q.Limit,
	})
	if err != nil {
		return nil, err
	}
	links := []wire.QuestionLink{}
	for _, row := range rows {
		link, err := linkOf(row)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(row.Key, prefix) {
			links = append(links, link)
		}
	}
	return links, nil
}

// RemoveLink revokes a link. A link that is gone already is no error.
func (e *Engine) RemoveLink(ctx context.Context, tenant spool.Tenant, id wire.LinkID) error {
	return e.store.Update(ctx, spool.ThreadKey{Tenant: tenant}, 0, func(tx store.Tx) error {
		return tx.Write(store.Changes{
			Rows: []store.Row{{Tenant: tenant, Kind: linkKind, Key: string(id), Version: store.AnyVersion}},
		})
	})
}

func linkOf(row store.Row) (link wire.QuestionLink, err error) {
	if err = json.Unmarshal(row.Value, &link); err != nil {
		err = spool.Wrap(spool.Internal, "the link cannot be read", err)
	}
	return link, err
}
