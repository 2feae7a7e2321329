package memory

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// branch is a branch with its messages. The fields of wire.Branch that follow from the messages, or
// from the position of the base, are empty.
type branch struct {
	wire.Branch

	messages []spool.Message
}

func (d *threadData) branchAt(id wire.BranchID) int {
	return slices.IndexFunc(d.branches, func(b branch) bool { return b.ID == id })
}

// branched returns the messages of a branch.
func (d *threadData) branched(id wire.BranchID) []spool.Message {
	if at := d.branchAt(id); at >= 0 {
		return d.branches[at].messages
	}
	return nil
}

// branchOf returns the branch that has the message, or zero.
func (d *threadData) branchOf(id spool.MessageID) wire.BranchID {
	for _, b := range d.branches {
		if messageAt(b.messages, id) >= 0 {
			return b.ID
		}
	}
	return 0
}

// lastMessage returns the last message of the view, or "" if the view is empty.
func (d *threadData) lastMessage() spool.MessageID {
	if len(d.messages) == 0 {
		return ""
	}
	return d.messages[len(d.messages)-1].ID
}

// Branches returns the branches, the newest first.
func (v *view) Branches() ([]wire.Branch, error) {
	found := []wire.Branch{}
	for _, b := range slices.Backward(v.data.branches) {
		b.FromMessageID, b.MessageCount = b.messages[0].ID, len(b.messages)
		if at := slices.IndexFunc(b.messages, ofUser); at >= 0 {
			b.Preview = b.messages[at].Content.Preview()
		}
		b.BaseBranchID = v.data.branchOf(b.BaseMessageID)
		found = append(found, b.Branch)
	}
	return found, nil
}

func ofUser(m spool.Message) bool { return m.Role == spool.RoleUser && m.AgentID == "" }

// turns returns user turns of the main agent, also from branches.
func (d *threadData) turns(q store.MessageQuery) []spool.Message {
	found := []spool.Message{}
	for _, m := range d.added[messageAt(d.added, q.After)+1:] {
		if ofUser(m) && m.AfterSeq >= q.SinceSeq && (q.BeforeSeq == 0 || m.AfterSeq < q.BeforeSeq) {
			found = append(found, cloneMessage(m))
		}
	}
	return found[:bounded(len(found), q.Limit)]
}

// dropMessages removes a message and all later messages from the view.
func (tx *transaction) dropMessages(c store.Changes) error {
	if c.Drop == nil {
		return nil
	}
	d, id := tx.data, wire.BranchID(c.Drop.Seq)
	at := messageAt(d.messages, c.Drop.From)
	if at < 0 {
		return errNoMessage
	}
	if d.branchAt(id) >= 0 {
		return store.ErrBranchUsed
	}
	b := branch{Branch: wire.Branch{ID: id, CreatedAt: tx.now}, messages: slices.Clone(d.messages[at:])}
	if i := slices.IndexFunc(d.entries, func(e wire.Entry) bool { return e.Seq == c.Drop.Seq }); i >= 0 {
		b.RunID = d.entries[i].RunID
	}
	// Clip, because older states of the thread still use the memory after the end.
	d.messages = slices.Clip(d.messages[:at])
	b.BaseMessageID = d.lastMessage()
	d.branches = append(slices.Clip(d.branches), b)
	slices.SortFunc(d.branches, func(a, b branch) int { return int(a.ID - b.ID) })
	return nil
}

// restoreBranch appends the messages of a branch to the view again.
func (tx *transaction) restoreBranch(c store.Changes) error {
	if c.Restore == 0 {
		return nil
	}
	d := tx.data
	at := d.branchAt(c.Restore)
	if at < 0 {
		return spool.Errorf(spool.NotFound, "Branch not found")
	}
	b := d.branches[at]
	if b.BaseMessageID != d.lastMessage() {
		return store.ErrBranchBase
	}
	d.messages = append(slices.Clip(d.messages), b.messages...)
	d.branches = slices.Delete(slices.Clone(d.branches), at, at+1)
	return nil
}
