package webhook

import "github.com/spoolhq/spool/wire"

// Filter selects events.
type Filter = wire.WebhookFilter
