package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// shownRedrive is the result of redriving dead jobs.
type shownRedrive struct {
	Redriven, Refused int
	Results           []struct {
		Accepted               bool
		JobID                  int64
		ThreadID, RunID, Error string
	}
	Next string
}

// errRefused says that the server refused a job. The command has printed which.
var errRefused = errors.New("not all was done")

func redriveJobs(ctx context.Context, c *adminClient, f *adminFlags, arg string) error {
	body := map[string]any{"all": true}
	if !f.all {
		n, err := jobNumber(arg)
		if err != nil {
			return err
		}
		body = map[string]any{"jobId": n}
	}
	if f.tenant != "" {
		body["tenant"] = f.tenant
	}
	refused := 0
	lines := []string{"JOB\tTHREAD\tRUN\tREFUSED"}
	for {
		var page shownRedrive
		err := c.post(ctx, "/api/admin/jobs/redrive", body, &page, http.StatusNotFound, http.StatusConflict)
		if err != nil {
			return errors.Join(c.table(lines...), err)
		}
		refused += page.Refused
		for _, r := range page.Results {
			lines = append(lines, row(r.JobID, r.ThreadID, r.RunID)+"\t"+clean(r.Error))
		}
		if page.Next == "" {
			break
		}
		body["before"] = page.Next
	}
	if err := c.table(lines...); err != nil {
		return err
	}
	if refused > 0 {
		return errRefused
	}
	return nil
}

func purgeJobs(ctx context.Context, c *adminClient, f *adminFlags, arg string) error {
	body := map[string]any{"all": true}
	if !f.all {
		n, err := jobNumber(arg)
		if err != nil {
			return err
		}
		if f.olderThan != "" {
			return usagef("--older-than: goes with --all")
		}
		body = map[string]any{"jobId": n}
	}
	if f.tenant != "" {
		body["tenant"] = f.tenant
	}
	if f.olderThan != "" {
		body["olderThan"] = f.olderThan
	}
	var done struct{ Purged int }
	if err := c.post(ctx, "/api/admin/jobs/purge", body, &done); err != nil {
		return err
	}
	return c.table(row("dead jobs gone", done.Purged))
}

func pruneThreads(ctx context.Context, c *adminClient, f *adminFlags, _ string) error {
	if f.olderThan == "" {
		return usagef("--older-than: is required")
	}
	body := map[string]any{"olderThan": f.olderThan, "dryRun": f.dryRun}
	if f.tenant != "" {
		body["tenant"] = f.tenant
	}
	gone := 0
	for {
		var page struct {
			Threads   int
			ThreadIDs []string
			More      bool
		}
		if err := c.post(ctx, "/api/admin/prune", body, &page); err != nil {
			if gone > 0 {
				err = fmt.Errorf("after %d threads: %w", gone, err)
			}
			return err
		}
		gone += page.Threads
		if !f.dryRun && page.More && page.Threads > 0 {
			continue
		}
		return c.pruned(f, gone, page.ThreadIDs, page.More)
	}
}

func (c *adminClient) pruned(f *adminFlags, n int, last []string, more bool) error {
	if !f.dryRun {
		return c.table(row("threads gone", n))
	}
	lines := make([]string, 0, len(last)+1)
	for _, id := range last {
		lines = append(lines, clean(id))
	}
	if more {
		return c.table(append(lines, row("threads that would go", n, "and more"))...)
	}
	return c.table(append(lines, row("threads that would go", n))...)
}
