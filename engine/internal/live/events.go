package live

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/wire"
)

// maxEvents bounds the live events that wait in a hub.
const maxEvents = 256

// receive keeps a notice for the hub's goroutine. It drops notices beyond [maxEvents].
func (h *hub) receive(notice []byte) {
	h.events.mu.Lock()
	kept := len(h.events.waiting) < maxEvents
	if kept {
		h.events.waiting = append(h.events.waiting, notice)
	}
	h.events.mu.Unlock()
	if kept {
		h.look()
	}
}

// drainEvents returns the waiting notices. The hub reads the thread between taking the notices and
// pushing them, so that an event that was published after a change comes after the change.
func (h *hub) drainEvents() [][]byte {
	h.events.mu.Lock()
	defer h.events.mu.Unlock()
	notices := h.events.waiting
	h.events.waiting = nil
	return notices
}

// pushEvents adds live events to the ring, unless the ring has no position or has ended.
func (h *hub) pushEvents(notices [][]byte) {
	if !h.positioned || h.ended {
		return
	}
	for batch := range slices.Chunk(notices, maxBatch) {
		frames := make([]walk.PositionedFrame, 0, len(batch))
		for _, notice := range batch {
			if entry, ok := readEvent(h.key, notice); ok {
				frames = append(frames, walk.PositionedFrame{Frame: wire.Frame{Kind: wire.FrameThread, Event: entry}, Notice: true})
			}
		}
		h.push(frames)
	}
}

// readEvent returns the event of a notice. It returns false for an event that no application can have
// published.
func readEvent(key spool.ThreadKey, notice []byte) (*wire.Entry, bool) {
	var entry wire.Entry
	if err := json.Unmarshal(notice, &entry); err != nil {
		return nil, false
	}
	event, err := spool.NewEvent(string(entry.Type), entry.Payload, false)
	if err != nil || entry.RunID != "" && spool.CheckID("runId", string(entry.RunID)) != nil {
		return nil, false
	}
	live := &wire.Entry{
		ThreadID: key.ID, Type: entry.Type, Payload: event.Payload, CreatedAt: entry.CreatedAt, RunID: entry.RunID,
	}
	record.Publisher{Subject: entry.PublishedBy, Tool: entry.PublishedByTool}.Sign(live)
	return live, true
}
