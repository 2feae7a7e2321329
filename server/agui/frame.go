package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// Frame returns the events of a frame, in the order in which a thread's frames come. It
// returns the error of [Options.Load], or one for a frame that cannot be read. What the frame
// has of a snapshot is released as what [Options.Load] has returned.
func (t *Translator) Frame(f engine.FormedFrame) ([]Event, error) {
	t.began = true
	switch {
	case t.done:
		return nil, nil
	case f.Formed != nil:
		return t.become(f.Formed, nil)
	case f.Kind == spool.FrameSnapshot:
		return t.retracted(f.Snapshot)
	case f.Kind == spool.FrameStream:
		return t.item(f.StreamID, *f.Item)
	default:
		return t.entry(*f.Event)
	}
}
