package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool/wire"
)

const webhooksPath = "/api/agent/webhooks"

func webhookPath(name, end string) string { return webhooksPath + "/" + url.PathEscape(name) + end }

// Webhooks lists the endpoints that are told of events, by their names.
func (c *Client) Webhooks(ctx context.Context) ([]wire.WebhookEndpoint, error) {
	list, err := do[struct {
		Webhooks []wire.WebhookEndpoint `json:"webhooks"`
	}](ctx, c, get(webhooksPath))
	return list.Webhooks, err
}

// Webhook returns an endpoint.
func (c *Client) Webhook(ctx context.Context, name string) (wire.WebhookEndpoint, error) {
	return do[wire.WebhookEndpoint](ctx, c, get(webhookPath(name, "")))
}

// CreateWebhook makes an endpoint. The result has its secret, which is shown this once.
func (c *Client) CreateWebhook(ctx context.Context, in wire.WebhookCreate) (wire.WebhookMade, error) {
	return do[wire.WebhookMade](ctx, c, request{method: http.MethodPost, path: webhooksPath, body: in})
}

// ChangeWebhook changes an endpoint.
func (c *Client) ChangeWebhook(ctx context.Context, name string, in wire.WebhookChange) (wire.WebhookEndpoint, error) {
	return do[wire.WebhookEndpoint](ctx, c, request{method: http.MethodPatch, path: webhookPath(name, ""), body: in})
}

// RemoveWebhook removes an endpoint.
func (c *Client) RemoveWebhook(ctx context.Context, name string) error {
	return c.remove(ctx, webhookPath(name, ""))
}

// RotateWebhookSecret makes another secret for an endpoint, which signs beside the older one and is shown this once.
func (c *Client) RotateWebhookSecret(ctx context.Context, name string) (wire.WebhookMade, error) {
	return do[wire.WebhookMade](ctx, c, request{method: http.MethodPost, path: webhookPath(name, "/secret")})
}

// DropWebhookSecret ends the use of the older one of two secrets.
func (c *Client) DropWebhookSecret(ctx context.Context, name string) (wire.WebhookEndpoint, error) {
	return do[wire.WebhookEndpoint](ctx, c, request{method: http.MethodDelete, path: webhookPath(name, "/secret")})
}

// WebhookAttempts returns the last attempts to deliver events to an endpoint, the newest first.
func (c *Client) WebhookAttempts(ctx context.Context, name string) ([]wire.WebhookAttempt, error) {
	const most = 100
	list, err := do[struct {
		Attempts []wire.WebhookAttempt `json:"attempts"`
	}](ctx, c, get(webhookPath(name, "/attempts"), "limit", number(most)))
	return list.Attempts, err
}

// DeadWebhooks lists the events that could not be delivered to an endpoint, the last one first.
func (c *Client) DeadWebhooks(ctx context.Context, name string) iter.Seq2[wire.WebhookDead, error] {
	const size = 100
	var last wire.WebhookDead
	return pages(func(string) ([]wire.WebhookDead, string, error) {
		before, id := "", ""
		if last.JobID != 0 {
			before, id = last.DiedAt.Format(time.RFC3339Nano), number(int(last.JobID))
		}
		list, err := do[struct {
			Events []wire.WebhookDead `json:"events"`
		}](ctx, c, get(webhookPath(name, "/dead"), "limit", number(size), "before", before, "beforeId", id))
		if len(list.Events) < size {
			return list.Events, "", err
		}
		last = list.Events[size-1]
		return list.Events, last.EventID, err
	})
}

// ReplayWebhooks delivers dead events of an endpoint again, with the same ids and bodies.
func (c *Client) ReplayWebhooks(ctx context.Context, name string, in wire.WebhookReplay) (wire.WebhookReplayed, error) {
	return do[wire.WebhookReplayed](ctx, c, request{method: http.MethodPost, path: webhookPath(name, "/replay"), body: in})
}

// TestWebhook sends a sample event to an endpoint, and returns the attempt.
func (c *Client) TestWebhook(ctx context.Context, name string) (wire.WebhookAttempt, error) {
	return do[wire.WebhookAttempt](ctx, c, request{method: http.MethodPost, path: webhookPath(name, "/test")})
}

// remove sends a DELETE whose answer has no body.
func (c *Client) remove(ctx context.Context, path string) error {
	res, err := c.exchange(ctx, c.http, request{method: http.MethodDelete, path: path})
	if err != nil {
		return err
	}
	defer closeBody(res)
	if res.StatusCode != http.StatusNoContent {
		return failure(res, readRefusal(res))
	}
	return nil
}
