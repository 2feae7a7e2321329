package auth

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/wire"
)

// SignWebhookLink returns the token of the link of an endpoint. Its id is the endpoint's and the question's, and the
// endpoint vouches for it.
func SignWebhookLink(key []byte, l option.WebhookLink) string {
	hash := sha256.New()
	for _, part := range []string{
		string(l.Key.Tenant), l.Endpoint, string(l.Key.ID), l.ThreadCreatedAt.UTC().String(), string(l.Call), l.Digest,
		l.EndpointCreatedAt.UTC().String(),
	} {
		hash.Write([]byte(part + "\x00"))
	}
	const idBytes = 16
	g := LinkGrant{
		ID: wire.LinkID("webhook." + hex.EncodeToString(hash.Sum(nil)[:idBytes])), Tenant: l.Key.Tenant,
		Thread: l.Key.ID, Call: l.Call, Digest: l.Digest, Approver: l.Approver, MadeBy: WebhookMaker(l.Endpoint, l.MadeBy),
		Until: l.ExpiresAt.Unix(), CreatedAt: l.ThreadCreatedAt.UnixMicro(), Webhook: l.Endpoint,
		WebhookBorn: WebhookBorn(l.EndpointCreatedAt),
	}
	return seal(key, inboxLinkUse, g)
}

// WebhookBorn returns the [LinkGrant.WebhookBorn] of an endpoint that was made at a time.
func WebhookBorn(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMicro()
}

// WebhookMaker returns the subject that counts as the maker of the links of an endpoint: the endpoint's, or itself for
// one without.
func WebhookMaker(endpoint, madeBy string) string {
	return cmp.Or(madeBy, access.WebhookSubject+endpoint)
}
