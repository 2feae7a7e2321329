package thread

import (
	"fmt"
	"testing"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// restores shows a branch again.
func restores(id wire.BranchID) func(s *scene) string {
	return func(s *scene) string {
		return s.try(func(db store.Tx) (string, error) {
			dropped, err := RestoreBranch(db, id)
			return fmt.Sprintf("the shown messages are branch %d", dropped), err
		})
	}
}

// edited is a thread whose first turn was edited: branch 3 has what was there before.
func edited(s *scene) {
	said(s)
	edits("e1", "", 0)(s)
	s.claim(ClaimRequest{})
	finishes(complete)(s)
}

func TestRestoreBranch(t *testing.T) {
	t.Parallel()
	check(t, []row{
		{"no thread", nil, restores(3), `
			refused: not_found: Thread not found`},
		{"an unknown branch", said, restores(3), `
			refused: not_found: Branch not found`},
		{"while a run has the thread", and(edited, queuedAgain), restores(3), `
			refused: active_run: Thread has an active run`},
		{"in place of what is shown", edited, restores(3), `
			the shown messages are branch 6
			+ message msg1 Role=user Content=[{Type=text Text=go r}] RunID=r
			+ message msg2 Role=assistant Content=[{Type=text Text=done}] RunID=r
			- message msg3
			+ branch 6 Messages=[{Role=user Content=[{Type=text Text=go e1}] RunID=e1}]
			- branch 3
			+ entry 6 Type=MESSAGES_DROPPED Payload={fromMessageId:msg3}
			+ entry 7 Type=MESSAGES_RESTORED Payload={branchId:3,fromMessageId:msg1,count:2}`},
		{"at the end of what is shown", and(edited, func(s *scene) {
			s.Rows.Branches[0].BaseMessageID = s.Rows.Messages[len(s.Rows.Messages)-1].ID
		}), restores(3), `
			the shown messages are branch 0
			+ message msg1 Role=user Content=[{Type=text Text=go r}] RunID=r
			+ message msg2 Role=assistant Content=[{Type=text Text=done}] RunID=r
			- branch 3
			+ entry 6 Type=MESSAGES_RESTORED Payload={branchId:3,fromMessageId:msg1,count:2}`},
		{"that begins in another one", and(edited, func(s *scene) {
			edits("e2", "", 0)(s) // branch 6 has the first edit
			s.claim(ClaimRequest{})
			finishes(complete)(s)
			s.Rows.Branches[1].BaseMessageID = s.Rows.Branches[0].Messages[1].ID
		}), restores(6), `
			refused: not_restorable: Branch 3 has to be restored first`},
	})
}
