package client

import (
	"context"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Snapshot returns everything that a client needs to show a thread. [Client.Follow] continues from its
// [wire.Snapshot.Cursor]. It returns a [spool.NotFound] error for a thread that does not exist.
func (c *Client) Snapshot(ctx context.Context, thread spool.ThreadID, o wire.SnapshotOptions) (*wire.Snapshot, error) {
	return do[*wire.Snapshot](ctx, c, get("/api/agent/history", "threadId", string(thread),
		"limit", number(o.Limit), "before", string(o.Before), "lastMessageId", string(o.LastMessageID)))
}

// SnapshotAt returns the snapshot of the thread behind the commit that made a version, without a stream. It returns an
// [spool.Invalid] error for a version that the thread does not have.
func (c *Client) SnapshotAt(ctx context.Context, thread spool.ThreadID, version int64) (*wire.Snapshot, error) {
	return do[*wire.Snapshot](ctx, c, get("/api/agent/history", "threadId", string(thread), "version",
		strconv.FormatInt(version, 10)))
}

// SnapshotAtSeq returns the snapshot of the first version whose record has reached a seq.
func (c *Client) SnapshotAtSeq(ctx context.Context, thread spool.ThreadID, seq int64) (*wire.Snapshot, error) {
	return do[*wire.Snapshot](ctx, c, get("/api/agent/history", "threadId", string(thread), "seq",
		strconv.FormatInt(seq, 10)))
}

// Record returns the record of a thread as a file, which package record reads and the caller closes. A file that was
// cut ends with an error, or lacks its last line. It returns a [spool.NotFound] error for a thread that does not exist.
func (c *Client) Record(ctx context.Context, thread spool.ThreadID) (io.ReadCloser, error) {
	q := get("/api/agent/record", "threadId", string(thread))
	q.header = http.Header{"Accept": {"*/*"}}
	res, err := c.exchange(ctx, c.http, q)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer closeBody(res)
		return nil, failure(res, readRefusal(res))
	}
	return res.Body, nil
}

// Fork makes a new thread that begins with the messages that a thread had at a version. A refusal is not an error.
func (c *Client) Fork(ctx context.Context, thread spool.ThreadID, in wire.ForkRequest) (wire.ForkResult, error) {
	return do[wire.ForkResult](ctx, c, post("/api/agent/fork", struct {
		ThreadID spool.ThreadID `json:"threadId"`
		wire.ForkRequest
	}{thread, in}))
}

// Messages lists the messages of a thread, the newest one first. One request reads up to pageSize of them,
// which is at most 1000; zero stands for 100. An error ends the list.
func (c *Client) Messages(ctx context.Context, thread spool.ThreadID, pageSize int) iter.Seq2[spool.Message, error] {
	return backwards(pageSize, func(o wire.BranchOptions) ([]spool.Message, error) {
		s, err := c.Snapshot(ctx, thread, wire.SnapshotOptions{Before: o.Before, Limit: o.Limit})
		if err != nil {
			return nil, err
		}
		return s.Messages, nil
	})
}

// backwards yields messages that are read in pages, the last message first.
func backwards(size int, read func(wire.BranchOptions) ([]spool.Message, error)) iter.Seq2[spool.Message, error] {
	limit := pageSize(size)
	return pages(func(before string) ([]spool.Message, string, error) {
		list, err := read(wire.BranchOptions{Before: spool.MessageID(before), Limit: limit})
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
func (c *Client) Branches(ctx context.Context, thread spool.ThreadID) ([]wire.Branch, error) {
	list, err := do[struct {
		Branches []wire.Branch `json:"branches"`
	}](ctx, c, get("/api/agent/branches", "threadId", string(thread)))
	return list.Branches, err
}

// Branch returns a branch with its messages.
func (c *Client) Branch(
	ctx context.Context, thread spool.ThreadID, branch wire.BranchID, o wire.BranchOptions,
) (wire.BranchMessages, error) {
	return do[wire.BranchMessages](ctx, c, get("/api/agent/branches/messages", "threadId", string(thread),
		"branchId", number(branch), "limit", number(o.Limit), "before", string(o.Before)))
}

// RestoreBranch shows the messages of a branch again. What was in their place becomes a branch.
func (c *Client) RestoreBranch(
	ctx context.Context, thread spool.ThreadID, branch wire.BranchID,
) (wire.RestoreResult, error) {
	return do[wire.RestoreResult](ctx, c, post("/api/agent/branches/restore", struct {
		ThreadID spool.ThreadID `json:"threadId"`
		BranchID wire.BranchID  `json:"branchId"`
	}{thread, branch}))
}
