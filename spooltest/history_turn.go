package spooltest

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
)

// Connection is where and how a connection of a client began.
type Connection struct {
	// Frames is how many frames the client had by then.
	Frames int
	// Cursor is the place that the client came with. Nil: none.
	Cursor *spool.Cursor
	// LastMessageID is the last message that the client said to have. Empty: none.
	LastMessageID spool.MessageID
}

// Connected says that the frames to come are those of a new connection.
func (c *Client) Connected(at *spool.Cursor, last spool.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Connections = append(c.Connections, Connection{Frames: len(c.Frames), Cursor: at, LastMessageID: last})
}

// turns are the user turns of a thread, and what a client was told of them and of the
// thread's state.
type turns struct {
	// all are the messages of the thread in the order in which they were added, and said the
	// user turns among them. Both have those that were dropped.
	all, said []spool.Message
	// known is how many from the start the client has by its last message.
	known int
	// told are the turns that the client has got, on any connection.
	told map[spool.MessageID]bool
	// last is the number of the last one told on this connection, -1 for none.
	last int
	// fresh is true while nothing but turns and notices has come on this connection.
	fresh bool

	// states are the states of the thread that were committed, in their order.
	states []Commit
	// reached is the number of the first of them that the client has not been told to be past.
	reached int
	// state is the last state that the client was told of, and payload the notice of it, nil
	// behind a snapshot and on a new connection.
	state   spool.State
	payload json.RawMessage
	// awaits is true until the connection has sent the state.
	awaits bool
	// cursored is true while the connection came with a cursor.
	cursored bool
}

// turnsFor returns what the store has had of a client's thread. It returns nothing for a
// client whose connections are not known, and for a thread that was deleted.
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
	t.told = make(map[spool.MessageID]bool)
	return t
}

// takenOver returns the end of the run before, where a commit ends one run and gives the
// thread to the next.
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
}

// showsBranch checks that a client has got the messages of a branch that has come back,
// before what comes next.
func (v *view) showsBranch(next string) {
	if v.restored > 0 {
		v.wrongf("branch-shown", v.where, "%s comes behind seq %d, and the messages that are restored there do not", next, v.restored)
		v.restored = 0
	}
}

// greets checks that a connection tells the state first, behind a snapshot where one comes
// first.
func (v *view) greets(f spool.Frame) {
	switch {
	case !v.awaits:
	case f.Kind == spool.FrameSnapshot && v.fresh:
	case f.Kind == spool.FrameThread && f.Event.Type == spool.NoticeStateChange:
		v.awaits = false
	default:
		v.awaits = false
		v.wrongf("state-first", v.where, "a connection does not begin with the state")
	}
}

// notice checks a frame of the thread without a place.
func (v *view) notice(e spool.Entry) {
	switch e.Type {
	case spool.NoticeMessageAppended:
		v.turn(e)
	case spool.NoticeStateChange:
		v.stateChange(e)
	default:
	}
}

// turn checks that a user turn comes in its place: behind the entry that was the last one
// when it was saved, and behind the turns before it.
func (v *view) turn(e spool.Entry) {
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
		v.wrongf("turn-order", v.where, "turn %s stands behind seq %d, and comes behind seq %d", m.ID, v.said[at].AfterSeq, v.seq)
	case at == v.last:
		v.wrongf("turn-order", v.where, "turn %s comes twice", m.ID)
	case at < v.last:
		v.wrongf("turn-order", v.where, "turn %s comes behind %s", m.ID, v.said[v.last].ID)
	}
	v.last = at
	v.told[m.ID] = true
}

// passes checks that the client was told of all turns behind a seq before what comes next.
func (v *view) passes(seq int64, next string) {
	for i, m := range v.said {
		if m.AfterSeq == seq && i >= v.known && !v.told[m.ID] {
			v.wrongf("turn-missing", v.where, "turn %s stands behind seq %d, and is not told before %s", m.ID, seq, next)
			v.told[m.ID] = true // once is enough
		}
	}
}

// stateChange checks that a state is not older than what the client knows.
func (v *view) stateChange(e spool.Entry) {
	var p spool.StateChange
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		v.wrongf("state-order", v.where, "a state cannot be read: %v", err)
	}
	if v.payload != nil && bytes.Equal(v.payload, e.Payload) {
		v.wrongf("state-order", v.where, "the state %s is told twice", p.State)
	}
	v.payload = e.Payload
	v.becomes(p.State, func(c Commit) bool { return c.State == p.State && c.RunID == p.RunID })
}

// becomes takes the client to a state that the thread has been in.
func (v *view) becomes(state spool.State, is func(Commit) bool) {
	v.state = state
	if v.states == nil {
		return
	}
	at := slices.IndexFunc(v.states[v.reached:], is)
	if at < 0 {
		v.wrongf("state-order", v.where, "the state %s comes when the thread has left it behind", state)
		return
	}
	v.reached += at
}

// showsTurns takes in what a snapshot has of the turns and of the state.
func (v *view) showsTurns(snap *spool.Snapshot) {
	if v.fresh && v.last >= 0 {
		v.wrongf("turn-order", v.where, "turn %s comes before a snapshot that has it", v.said[v.last].ID)
	}
	v.fresh, v.payload = false, nil
	if v.told != nil {
		for _, m := range snap.Messages {
			v.told[m.ID] = true
		}
		for _, m := range v.said[:v.known] {
			v.told[m.ID] = true
		}
	}
	if snap.Thread.State != "" {
		v.becomes(snap.Thread.State, func(c Commit) bool { return c.State == snap.Thread.State })
	}
}

// endsWith checks the last frames that the client got.
func (v *view) endsWith(thread spool.Thread) {
	v.showsBranch("the end")
	v.passes(thread.LastSeq, "the end")
	if v.state != "" && v.state != thread.State {
		v.wrongf("state-order", v.where, "the last state that is told is %s, and the thread is %s", v.state, thread.State)
	}
}

func messageAt(all []spool.Message, id spool.MessageID) int {
	return slices.IndexFunc(all, func(m spool.Message) bool { return m.ID == id })
}

// ofUser reports whether the message is a turn of the user's in the thread itself.
func ofUser(m spool.Message) bool { return m.Role == spool.RoleUser && m.AgentID == "" }
