package live

import (
	"context"

	"github.com/spoolhq/spool"
)

// checkOwner returns [errOver] if the client must not see the thread any more. The follower calls it
// after it has read the next frames and before the client gets them.
func (f *follower) checkOwner(ctx context.Context) error {
	if f.subject == nil || f.hub.ownedBy(*f.subject) {
		return nil
	}
	_, err := readThread(ctx, f.hubs.Store, f.hub.key)
	return f.overWithoutThread(err)
}

// allowed returns the frames if the client may still see the thread. Otherwise it releases them and
// returns [errOver].
func (f *follower) allowed(ctx context.Context, frames []ringFrame) ([]ringFrame, error) {
	if err := f.checkOwner(ctx); err != nil {
		releaseFormed(frames)
		f.release()
		return nil, err
	}
	return frames, nil
}

// overWithoutThread returns [errOver] instead of a not-found error if the client may see only its own
// threads. Such an error means that the thread was deleted or has another owner now.
func (f *follower) overWithoutThread(err error) error {
	if f.subject != nil && spool.CodeOf(err) == spool.NotFound {
		return errOver
	}
	return err
}
