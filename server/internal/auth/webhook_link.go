package auth

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// SignWebhookLink returns the token of the link of an endpoint. Its id is the endpoint's and the question's, and the
// endpoint vouches for it.
func SignWebhookLink(key []byte, l option.WebhookLink) string {
	maker := access.WebhookSubject + l.Endpoint
	hash := sha256.New()
	for _, part := range []string{
		string(l.Key.Tenant), l.Endpoint, string(l.Key.ID), l.ThreadCreatedAt.UTC().String(), string(l.Call), l.Digest,
	} {
		hash.Write([]byte(part + "\x00"))
	}
	const idBytes = 16
	g := LinkGrant{
		ID: wire.LinkID("webhook." + hex.EncodeToString(hash.Sum(nil)[:idBytes])), Tenant: l.Key.Tenant,
		Thread: l.Key.ID, Call: l.Call, Digest: l.Digest, Approver: l.Approver, MadeBy: l.MadeBy, Credentials: maker,
		Until: l.ExpiresAt.Unix(), CreatedAt: l.ThreadCreatedAt.UnixMicro(), Webhook: l.Endpoint,
	}
	if g.MadeBy == "" {
		g.MadeBy = maker
	}
	return seal(key, inboxLinkUse, g)
}
