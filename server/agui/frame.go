package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// Frame returns the events of a frame. Call it with the frames of a thread in their order. It returns the
// error of [Options.Load], or an error for a frame that cannot be decoded. The caller releases the frame's
// snapshot as it releases the snapshots of [Options.Load].
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
