package client

import (
	"bytes"
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// place is how far a follower has read, and which notices it has seen there. Notices have no cursor: after a
// reconnect the server sends the present state, and the turns since the last record entry, again.
type place struct {
	// id is the id of the last event that had one, in the server's own words. Empty: none yet.
	id string
	// seq is the last record entry of it.
	seq int64
	// turns are the user turns that came after that entry.
	turns map[spool.MessageID]bool
	// state is the last STATE_CHANGE. Nil: none since the last snapshot.
	state []byte
	// fresh says that no STATE_CHANGE has come on this connection.
	fresh bool
}

// set moves the place. A nil cursor stands for an id in an unknown form.
func (p *place) set(id string, at *wire.Cursor) {
	if id == "" {
		return
	}
	p.id = id
	if at != nil && at.Seq != p.seq {
		p.seq = at.Seq
		clear(p.turns)
	}
}

// reconnected is called for each new connection.
func (p *place) reconnected() { p.fresh = true }

// saw is called for each frame that moves the place.
func (p *place) saw(f wire.Frame) {
	if f.Kind != wire.FrameSnapshot || f.Snapshot.AfterMessageID != nil {
		return
	}
	p.state = nil
	for _, m := range f.Snapshot.Messages {
		if m.Role == spool.RoleUser && m.AgentID == "" {
			p.turn(m.ID)
		}
	}
}

// has reports whether a notice has been seen at this place, and keeps in mind that it is now.
func (p *place) has(e wire.Entry) bool {
	switch e.Type {
	case wire.NoticeStateChange:
		first := p.fresh
		p.fresh = false
		if first && bytes.Equal(p.state, e.Payload) {
			return true
		}
		p.state = e.Payload
		return false
	case wire.NoticeMessageAppended:
		var m struct {
			ID spool.MessageID `json:"id"`
		}
		return json.Unmarshal(e.Payload, &m) == nil && m.ID != "" && p.turn(m.ID)
	default:
		return false
	}
}

// turn adds a turn, and reports whether it was there.
func (p *place) turn(id spool.MessageID) bool {
	was := p.turns[id]
	if p.turns == nil {
		p.turns = make(map[spool.MessageID]bool)
	}
	p.turns[id] = true
	return was
}
