package engine

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/spoolhq/spool"
)

// maxHeard bounds the live events that a hub has still to pass on.
const maxHeard = 256

// heard are live events that came over the bus.
type heard struct {
	mu      sync.Mutex
	notices [][]byte
}

// hear keeps a notice for the hub's goroutine. More than it can pass on are dropped.
func (h *hub) hear(notice []byte) {
	h.heard.mu.Lock()
	kept := len(h.heard.notices) < maxHeard
	if kept {
		h.heard.notices = append(h.heard.notices, notice)
	}
	h.heard.mu.Unlock()
	if kept {
		h.look()
	}
}

// takeHeard returns the notices that have come. The hub reads the thread behind this and
// before it passes them on, so that what is published behind a change comes behind it.
func (h *hub) takeHeard() [][]byte {
	h.heard.mu.Lock()
	defer h.heard.mu.Unlock()
	notices := h.heard.notices
	h.heard.notices = nil
	return notices
}

// tellHeard passes live events on, unless there is nobody to pass them on to.
func (h *hub) tellHeard(notices [][]byte) {
	h.mu.Lock()
	over := !h.placed || h.ended
	h.mu.Unlock()
	if over {
		return
	}
	for batch := range slices.Chunk(notices, maxBatch) {
		frames := make([]walked, 0, len(batch))
		for _, notice := range batch {
			if entry, ok := readNotice(h.key, notice); ok {
				frames = append(frames, walked{Frame: spool.Frame{Kind: spool.FrameThread, Event: entry}, notice: true})
			}
		}
		h.push(frames)
	}
}

// readNotice returns the event of a notice. It reports false for what no application can
// have published.
func readNotice(key spool.ThreadKey, notice []byte) (*spool.Entry, bool) {
	var entry spool.Entry
	if err := json.Unmarshal(notice, &entry); err != nil {
		return nil, false
	}
	event, err := spool.NewEvent(entry.Type, entry.Payload, false)
	if err != nil || entry.RunID != "" && spool.CheckID("runId", string(entry.RunID)) != nil {
		return nil, false
	}
	heard := &spool.Entry{
		ThreadID: key.ID, Type: event.Type, Payload: event.Payload, CreatedAt: entry.CreatedAt, RunID: entry.RunID,
	}
	publisher{subject: entry.PublishedBy, tool: entry.PublishedByTool}.sign(heard)
	return heard, true
}

// isLive reports whether the frame is a live event of an application's.
func (f walked) isLive() bool {
	return f.notice && f.Event.Type != spool.NoticeStateChange && f.Event.Type != spool.NoticeThreadDeleted
}

// liveBefore returns the live events that the ring has before the index, behind so many notices.
func (h *hub) liveBefore(index, notices int64) (live []ringFrame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.ring[:max(min(index, h.next)-h.first, 0)] {
		if frame := h.ring[i]; frame.isLive() && frame.notices >= notices {
			live = append(live, frame)
		}
	}
	return live
}
