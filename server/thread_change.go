package server

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// threadChangeInput asks for a change of a thread.
type threadChangeInput struct{ Body *threadChange }

// threadChange is the body of a change of a thread.
type threadChange struct {
	ThreadID spool.ThreadID     `doc:"The thread."                                                           example:"t1"            json:"threadId"`
	Title    *string            `doc:"The new title, of 1 to 200 characters. Left out: it stays."            json:"title,omitempty"`
	Labels   map[string]*string `doc:"Labels to set by their keys, or to remove with null. The others stay." json:"labels,omitempty"`
	Owner    *string            `doc:"The subject whose thread it becomes. Only with the scope admin."       json:"owner,omitempty"`
}

// Validate reads the body.
func (in *threadChangeInput) Validate(ctx context.Context) (err error) {
	if in.Body, err = decodeBody[threadChange](ctx); err != nil {
		return err
	}
	if err := spool.CheckID("threadId", string(in.Body.ThreadID)); err != nil {
		return err
	}
	if in.Body.Title == nil && in.Body.Labels == nil && in.Body.Owner == nil {
		return spool.Errorf(spool.Invalid, "title, labels or owner is required")
	}
	if in.Body.Owner != nil && len(*in.Body.Owner) > maxSubject {
		return spool.Errorf(spool.Invalid, "owner is longer than %d bytes", maxSubject)
	}
	return nil
}

// maxSubject is the length of the longest subject that a thread can be given to.
const maxSubject = 512

// change answers PATCH /api/threads with the thread as it is now.
func (c *threads) change(ctx context.Context, in threadChangeInput) (spool.Thread, error) {
	p := c.asking(ctx)
	key := p.key(in.Body.ThreadID)
	concerns(ctx, key, "")
	if in.Body.Owner != nil && !p.may(ScopeAdmin) {
		return spool.Thread{}, spool.Errorf(spool.Forbidden, "the scope %q is required to change the owner", ScopeAdmin)
	}
	thread, err := c.engine.UpdateThread(c.acting(ctx), key, engine.ThreadChange{
		Title: in.Body.Title, Labels: in.Body.Labels, Owner: in.Body.Owner,
	})
	return thread, about(ctx, err, key, "")
}

// parseLabels reads labels in the form key:value.
func parseLabels(list []string) (map[string]string, error) {
	var labels map[string]string
	for _, text := range list {
		key, value, ok := strings.Cut(text, ":")
		if !ok || spool.CheckLabelKey(key) != nil {
			return nil, spool.Errorf(spool.Invalid, "label must have the form key:value")
		}
		if labels == nil {
			labels = make(map[string]string)
		}
		if other, twice := labels[key]; twice && other != value {
			return nil, spool.Errorf(spool.Invalid, "label names %s with two values, which no thread has", key)
		}
		labels[key] = value
	}
	return labels, nil
}
