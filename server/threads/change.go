package threads

import (
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// ThreadChange is the body of a change of a thread.
type ThreadChange struct {
	ThreadID spool.ThreadID `example:"t1" json:"threadId"` // The thread.
	// Title is the new title, of 1 to 200 characters. Left out: it stays.
	Title *string `json:"title,omitempty"`
	// Labels to set, by key; null removes a label. Other labels stay.
	Labels map[string]*string `json:"labels,omitempty"`
	Owner  *string            `json:"owner,omitempty"` // The new owner. Only with the scope admin.
}

// Validate implements [rest.Validator].
func (in *ThreadChange) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	if in.Title == nil && in.Labels == nil && in.Owner == nil {
		return spool.Errorf(spool.Invalid, "title, labels or owner is required")
	}
	if in.Owner != nil && len(*in.Owner) > maxSubject {
		return spool.Errorf(spool.Invalid, "owner is longer than %d bytes", maxSubject)
	}
	return nil
}

// maxSubject is the length of the longest subject that a thread can be given to.
const maxSubject = 512

// Change changes the title and the labels of a thread and, with the scope admin, its owner. Fields that the body leaves
// out do not change; a label of null is removed. The answer is the thread.
func (c Controller) Change(ctx context.Context, in ThreadChange) (wire.Thread, error) {
	p := call.By(ctx)
	key := p.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	if in.Owner != nil && !p.May(access.ScopeAdmin) {
		return wire.Thread{}, spool.Errorf(spool.Forbidden, "the scope %q is required to change the owner", access.ScopeAdmin)
	}
	thread, err := c.Engine.UpdateThread(call.Acting(ctx), key, wire.ThreadChange{
		Title: in.Title, Labels: in.Labels, Owner: in.Owner,
	})
	return thread, call.About(ctx, err, key, "")
}

// parseLabels reads labels in the form key:value.
func parseLabels(list []string) (map[string]string, error) {
	var labels map[string]string
	for _, text := range list {
		key, value, ok := strings.Cut(text, ":")
		if !ok || wire.CheckLabelKey(key) != nil {
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
