package spooltest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Connection describes the beginning of a client's connection.
type Connection struct {
	// Frames is how many frames the client already had.
	Frames int
	// Cursor is the client's cursor, or nil.
	Cursor *wire.Cursor
	// LastMessageID is the last message that the client claimed to have, or empty.
	LastMessageID spool.MessageID
}

// Connected notes that the following frames belong to a new connection.
func (c *Client) Connected(at *wire.Cursor, last spool.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Connections = append(c.Connections, Connection{Frames: len(c.Frames), Cursor: at, LastMessageID: last})
}

// turns has the user turns of a thread, and what a client was told about them and about the thread's
// state.
type turns struct {
	// all has the messages of the thread in the order in which they were added, and said the user turns
	// among them. Both include dropped messages.
	all, said []spool.Message
	// known is how many of said, from the start, the client has according to its last message.
	known int
	// told has the turns that the client got, on any connection.
	told map[spool.MessageID]bool
	// here has the turns that the client got on this connection.
	here map[spool.MessageID]bool
	// last is the index of the last turn that came on this connection, or -1.
	last int
	// fresh is true while only turns and notices have come on this connection.
	fresh bool

	// states has the committed states of the thread, in order.
	states []Commit
	// reached is the index of the first state that the client may be in.
	reached int
	// state is the last state that the client was told. Payload is the notice of it, or nil after a
	// snapshot and on a new connection.
	state   wire.State
	payload json.RawMessage
	// awaits is true until the connection has sent the state.
	awaits bool
	// cursored is true if the connection came with a cursor.
	cursored bool
}

// turnsFor returns the user turns and states of a client's thread. It returns nothing for a client
// whose connections are unknown, and for a thread that was deleted.
func (c *checker) turnsFor(client *Client) (t turns) {
	key := client.Thread
	if len(client.Connections) == 0 || len(c.of(key)) == 0 {
		return t
	}
	if slices.ContainsFunc(c.Commits, func(c Commit) bool { return c.Thread == key && c.Deleted }) {
		return t
	}
	for _, commit := range c.of(key) {
		if commit.State != "" {
			t.states = append(t.states, commit.takenOver(t.states)...)
			t.states = append(t.states, commit)
		}
		t.all = append(t.all, commit.Messages...)
	}
	t.said = slices.DeleteFunc(slices.Clone(t.all), func(m spool.Message) bool { return !ofUser(m) })
	t.told, t.here = make(map[spool.MessageID]bool), make(map[spool.MessageID]bool)
	return t
}

// takenOver returns the end state of the previous run, if a commit ends one run and gives the thread to
// the next.
func (c Commit) takenOver(before []Commit) []Commit {
	if len(before) == 0 {
		return nil
	}
	last := before[len(before)-1]
	for _, r := range slices.Backward(c.Runs) {
		if r.ID == last.RunID && r.ID != c.RunID && r.State.Terminal() && last.State.Active() {
			return []Commit{{State: r.State, RunID: r.ID}}
		}
	}
	return nil
}

// connect begins a connection.
func (v *view) connect(c Connection) {
	if c.Frames == 0 && c.Cursor != nil {
		v.seq = max(c.Cursor.Seq, 0)
	}
	v.known = 0
	for _, m := range v.all[:messageAt(v.all, c.LastMessageID)+1] {
		if ofUser(m) {
			v.known++
		}
	}
	v.last, v.fresh, v.payload, v.awaits, v.cursored = -1, true, nil, true, c.Cursor != nil
	v.here = make(map[spool.MessageID]bool)
}

// gets notes that the client got a turn.
func (t *turns) gets(id spool.MessageID) { t.told[id], t.here[id] = true, true }

// showsBranch checks that a client got the messages of a restored branch before the next frame.
func (v *view) showsBranch(next string) {
	if v.restored > 0 {
		v.wrongf("branch-shown", v.where, "%s comes after seq %d, and the messages that are restored there do not", next,
			v.restored)
		v.restored = 0
	}
}

// greets checks that a connection sends the state first, or right after a snapshot.
func (v *view) greets(f wire.Frame) {
	switch {
	case !v.awaits:
	case f.Kind == wire.FrameSnapshot && v.fresh:
	case f.Kind == wire.FrameThread && f.Event.Type == wire.NoticeStateChange:
		v.awaits = false
	default:
		v.awaits = false
		v.wrongf("state-first", v.where, "a connection does not begin with the state")
	}
}

// notice checks a frame without a position in the record.
func (v *view) notice(e wire.Entry) {
	switch e.Type {
	case wire.NoticeMessageAppended:
		v.turn(e)
	case wire.NoticeStateChange:
		v.stateChange(e)
	default:
	}
}

// turn checks that a user turn comes at its position: after the entry that was the last one when the
// turn was saved, and after the previous turns.
func (v *view) turn(e wire.Entry) {
	v.showsBranch("a turn")
	if v.told == nil {
		return
	}
	var m spool.Message
	if err := json.Unmarshal(e.Payload, &m); err != nil {
		v.wrongf("turn-order", v.where, "a turn cannot be read: %v", err)
	}
	at := messageAt(v.said, m.ID)
	switch {
	case at < 0:
		v.wrongf("turn-order", v.where, "turn %s was never said", m.ID)
		return
	case v.said[at].AfterSeq != v.seq:
		v.wrongf("turn-order", v.where, "turn %s stands after seq %d, and comes after seq %d", m.ID, v.said[at].AfterSeq,
			v.seq)
	case at == v.last:
		v.wrongf("turn-order", v.where, "turn %s comes twice", m.ID)
	case at < v.last:
		v.wrongf("turn-order", v.where, "turn %s comes after %s", m.ID, v.said[v.last].ID)
	}
	v.last = at
	v.gets(m.ID)
}

// passes checks that the client got all turns right after the entry with the given seq before the next
// frame.
func (v *view) passes(seq int64, next string) {
	for i, m := range v.said {
		if m.AfterSeq == seq && i >= v.known && !v.told[m.ID] {
			v.wrongf("turn-missing", v.where, "turn %s stands after seq %d, and is not told before %s", m.ID, seq, next)
			v.told[m.ID] = true // report it only once
		}
	}
}

// stateChange checks that a state is not older than the state that the client knows.
func (v *view) stateChange(e wire.Entry) {
	var p wire.StateChange
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		v.wrongf("state-order", v.where, "a state cannot be read: %v", err)
	}
	if v.payload != nil && bytes.Equal(v.payload, e.Payload) {
		v.wrongf("state-order", v.where, "the state %s is told twice", p.State)
	}
	v.payload = e.Payload
	v.becomes(p.State, func(c Commit) bool { return c.State == p.State && c.RunID == p.RunID })
}

// becomes moves the client to a state that the thread had.
func (v *view) becomes(state wire.State, is func(Commit) bool) {
	v.state = state
	if v.states == nil {
		return
	}
	at := slices.IndexFunc(v.states[v.reached:], is)
	if at < 0 {
		v.wrongf("state-order", v.where, "the state %s comes when the thread has already left it", state)
		return
	}
	v.reached += at
}

// showsTurns applies the turns and the state of a snapshot.
func (v *view) showsTurns(snap *wire.Snapshot) {
	if v.fresh && v.last >= 0 {
		v.wrongf("turn-order", v.where, "turn %s comes before a snapshot that has it", v.said[v.last].ID)
	}
	v.fresh, v.payload = false, nil
	if v.told != nil {
		for _, m := range slices.Concat(snap.Messages, v.said[:v.known]) {
			v.gets(m.ID)
		}
	}
	if snap.Thread.State != "" {
		v.becomes(snap.Thread.State, func(c Commit) bool { return c.State == snap.Thread.State })
	}
}

// endsWith checks what the client knows at the end.
func (v *view) endsWith(thread wire.Thread) {
	v.showsBranch("the end")
	v.passes(thread.LastSeq, "the end")
	if v.state != "" && v.state != thread.State {
		v.wrongf("state-order", v.where, "the last state that is told is %s, and the thread is %s", v.state, thread.State)
	}
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// ofUser reports whether the message is a user turn of the thread itself.
func ofUser(m spool.Message) bool { return m.Role == spool.RoleUser && m.AgentID == "" }
