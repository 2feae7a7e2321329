package server

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// historyInput asks for a snapshot.
type historyInput struct {
	oneThread
	lastMessage

	Limit  int             `doc:"Only the newest so many messages. Left out: all." maximum:"1000"  minimum:"1"                  query:"limit"`
	Before spool.MessageID `doc:"Only messages before this one, for paging back."  maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`
}

// history answers GET /api/agent/history with a snapshot.
func (c *follow) history(ctx context.Context, in historyInput) (*spool.Snapshot, error) {
	key := in.of(ctx, c.Server)
	snapshot, err := c.engine.Snapshot(ctx, key, &engine.SnapshotOptions{
		Before:        in.Before,
		LastMessageID: in.id(),
		Limit:         in.Limit,
	})
	return snapshot, about(ctx, err, key, "")
}
