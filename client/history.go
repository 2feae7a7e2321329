package client

import (
	"context"
	"iter"
	"slices"

	"github.com/spoolhq/spool"
)

// Snapshot returns everything that a client needs to show a thread. [Client.Follow] continues from its
// [spool.Snapshot.Cursor]. It returns a [spool.NotFound] error for a thread that does not exist.
func (c *Client) Snapshot(ctx context.Context, thread spool.ThreadID, o spool.SnapshotOptions) (*spool.Snapshot, error) {
	return do[*spool.Snapshot](ctx, c, get("/api/agent/history", "threadId", string(thread),
		"limit", number(o.Limit), "before", string(o.Before), "lastMessageId", string(o.LastMessageID)))
}

// Messages lists the messages of a thread, the newest one first. One request reads up to pageSize of them,
// which is at most 1000; zero stands for 100. An error ends the list.
func (c *Client) Messages(ctx context.Context, thread spool.ThreadID, pageSize int) iter.Seq2[spool.Message, error] {
	return backwards(pageSize, func(o spool.BranchOptions) ([]spool.Message, error) {
		s, err := c.Snapshot(ctx, thread, spool.SnapshotOptions{Before: o.Before, Limit: o.Limit})
		if err != nil {
			return nil, err
		}
		return s.Messages, nil
	})
}

// backwards yields messages that are read in pages, the last message first.
func backwards(size int, read func(spool.BranchOptions) ([]spool.Message, error)) iter.Seq2[spool.Message, error] {
	limit := pageSize(size)
	return pages(func(before string) ([]spool.Message, string, error) {
		list, err := read(spool.BranchOptions{Before: spool.MessageID(before), Limit: limit})
		if err != nil || len(list) == 0 {
			return nil, "", err
		}
		next := ""
		if len(list) == limit {
			next = string(list[0].ID)
		}
		slices.Reverse(list)
		return list, next, nil
	})
}

// Branches lists the branches of a thread, the newest one first.
func (c *Client) Branches(ctx context.Context, thread spool.ThreadID) ([]spool.Branch, error) {
	list, err := do[struct {
		Branches []spool.Branch `json:"branches"`
	}](ctx, c, get("/api/agent/branches", "threadId", string(thread)))
	return list.Branches, err
}

// Branch returns a branch with its messages.
func (c *Client) Branch(ctx context.Context, thread spool.ThreadID, branch spool.BranchID, o spool.BranchOptions) (spool.BranchMessages, error) {
	return do[spool.BranchMessages](ctx, c, get("/api/agent/branches/messages", "threadId", string(thread),
		"branchId", number(branch), "limit", number(o.Limit), "before", string(o.Before)))
}

// RestoreBranch shows the messages of a branch again. What was in their place becomes a branch.
func (c *Client) RestoreBranch(ctx context.Context, thread spool.ThreadID, branch spool.BranchID) (spool.RestoreResult, error) {
	return do[spool.RestoreResult](ctx, c, post("/api/agent/branches/restore", struct {
		ThreadID spool.ThreadID `json:"threadId"`
		BranchID spool.BranchID `json:"branchId"`
	}{thread, branch}))
}
