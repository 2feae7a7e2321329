package server

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/inbox"
	"github.com/spoolhq/spool/server/internal/auth"
)

// NewVault returns the [option.Webhooks.Vault] of a process with the [Config.StreamTokenKeys]: AES-256-GCM with keys
// that are derived from these. The first key seals, and any of them may have sealed. It returns an [spool.Invalid]
// error without a key: one of the process's own would open nothing after a restart.
func NewVault(keys [][]byte) (option.Vault, error) { return auth.NewVault(keys) }

// NewWebhookLink returns the [option.Webhooks.Link] of a process, whose links a server with the same configuration
// opens: PublicURL, BasePath and StreamTokenKeys, which all have to be there. It returns an [spool.Invalid] error that
// names the field. A process that executes runs needs no server for it. A link works while its endpoint exists, is not
// disabled and names the same approver, and Config.LinkApprovers has the approver.
func NewWebhookLink(c Config) (func(ctx context.Context, link option.WebhookLink) (string, error), error) {
	c.BasePath, c.PublicURL = strings.TrimRight(c.BasePath, "/"), strings.TrimRight(c.PublicURL, "/")
	if c.PublicURL == "" {
		return nil, spool.Errorf(spool.Invalid, "Config.PublicURL is required for links in webhooks")
	}
	if err := CheckPublicURL(c.PublicURL, c.BasePath); err != nil {
		return nil, err
	}
	if err := auth.CheckKeys(c.StreamTokenKeys); err != nil {
		return nil, err
	}
	key, base := c.StreamTokenKeys[0], c.PublicURL+c.BasePath
	return func(_ context.Context, link option.WebhookLink) (string, error) {
		return inbox.LinkURL(base, auth.SignWebhookLink(key, link)), nil
	}, nil
}

// MayApprove returns the [option.Webhooks.MayApprove] for a [Config.LinkApprovers].
func MayApprove(approvers []string) func(subject string) bool {
	return func(subject string) bool { return inbox.MayApprove(approvers, subject) }
}
