package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/spoolhq/spool/wire"
)

const schedulesPath = "/api/agent/schedules"

func schedulePath(name, end string) string { return schedulesPath + "/" + url.PathEscape(name) + end }

// Schedules lists the schedules, by their names.
func (c *Client) Schedules(ctx context.Context) iter.Seq2[wire.Schedule, error] {
	const size = 100
	return pages(func(after string) ([]wire.Schedule, string, error) {
		list, err := do[struct {
			Schedules []wire.Schedule `json:"schedules"`
		}](ctx, c, get(schedulesPath, "limit", number(size), "after", after))
		next := ""
		if len(list.Schedules) == size {
			next = list.Schedules[size-1].Name
		}
		return list.Schedules, next, err
	})
}

// Schedule returns a schedule.
func (c *Client) Schedule(ctx context.Context, name string) (wire.Schedule, error) {
	return do[wire.Schedule](ctx, c, get(schedulePath(name, "")))
}

// CreateSchedule makes a schedule, whose runs start as the caller.
func (c *Client) CreateSchedule(ctx context.Context, in wire.ScheduleRequest) (wire.Schedule, error) {
	return do[wire.Schedule](ctx, c, request{method: http.MethodPost, path: schedulesPath, body: in})
}

// ChangeSchedule changes a schedule, whose runs start as the caller from then on.
func (c *Client) ChangeSchedule(ctx context.Context, name string, in wire.ScheduleChange) (wire.Schedule, error) {
	return do[wire.Schedule](ctx, c, request{method: http.MethodPatch, path: schedulePath(name, ""), body: in})
}

// RemoveSchedule removes a schedule and its history. Its runs and their threads stay.
func (c *Client) RemoveSchedule(ctx context.Context, name string) error {
	return c.remove(ctx, schedulePath(name, ""))
}

// PauseSchedule stops a schedule from coming due until ResumeSchedule. The reason is for people, and may be empty.
func (c *Client) PauseSchedule(ctx context.Context, name, reason string) (wire.Schedule, error) {
	return do[wire.Schedule](ctx, c, request{method: http.MethodPost, path: schedulePath(name, "/pause"), body: struct {
		Reason string `json:"reason,omitempty"`
	}{reason}})
}

// ResumeSchedule lets a paused schedule come due again.
func (c *Client) ResumeSchedule(ctx context.Context, name string) (wire.Schedule, error) {
	return do[wire.Schedule](ctx, c, request{method: http.MethodPost, path: schedulePath(name, "/resume")})
}

// RunSchedule starts a run of a schedule at once, and returns what became of it.
func (c *Client) RunSchedule(ctx context.Context, name string) (wire.ScheduleTick, error) {
	return do[wire.ScheduleTick](ctx, c, request{method: http.MethodPost, path: schedulePath(name, "/run")})
}

// ScheduleTicks returns the last lines of the history of a schedule, the last one first.
func (c *Client) ScheduleTicks(ctx context.Context, name string) ([]wire.ScheduleTick, error) {
	list, err := do[struct {
		Ticks []wire.ScheduleTick `json:"ticks"`
	}](ctx, c, get(schedulePath(name, "/ticks")))
	return list.Ticks, err
}

// PreviewSchedule returns when a rule comes due, and the rule in words.
func (c *Client) PreviewSchedule(ctx context.Context, r wire.ScheduleRule) (wire.SchedulePreview, error) {
	return do[wire.SchedulePreview](ctx, c, request{method: http.MethodPost, path: schedulesPath + "/preview", body: r})
}
