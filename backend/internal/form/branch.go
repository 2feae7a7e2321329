package form

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// ScanBranch reads a branch: its id, base, run, time and first message, then the content of its first user turn, the
// number of its messages and the branch of its base.
func ScanBranch(r Row) wire.Branch {
	b := wire.Branch{
		ID: wire.BranchID(r.Int64()), BaseMessageID: spool.MessageID(r.Text()), RunID: spool.RunID(r.Text()),
		CreatedAt: r.Time(), FromMessageID: spool.MessageID(r.Text()),
	}
	var turn spool.Content
	if err := json.Unmarshal(r.JSON(), &turn); err != nil {
		r.Fail(spool.Wrap(spool.Internal, "a message cannot be read", err))
	}
	b.Preview, b.MessageCount, b.BaseBranchID = turn.Preview(), r.Int(), wire.BranchID(r.Int64())
	return b
}
