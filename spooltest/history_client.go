package spooltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/compare"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// view is what a client has understood from its frames.
type view struct {
	*checker
	*Client

	where string
	seq   int64
	// streams has the client's position in each stream.
	streams map[wire.StreamID]*streamView
	// open is the stream of which items may come.
	open wire.StreamID
	// live is true once the client must see every item of each new stream.
	live bool
	// shown has the steps of each run that the client shows.
	shown map[spool.RunID][]said
	// partial has the runs of which a snapshot lacked a part.
	partial map[spool.RunID]bool
	// results has the calls whose results the client has seen.
	results map[runCall]bool
	// begun is the stream that began last.
	begun wire.StreamID
	// cut has the result of cutRuns.
	cut map[spool.RunID]bool
	// steers has the STEERED entries of each stream. Nil: nobody has asked for them.
	steers map[wire.StreamID][]placedSteer
	// framesOnly is true for a client that drops unsaved content only when a snapshot comes.
	framesOnly bool

	turns
	// restored is the seq of an entry after which the client still needs a snapshot because a branch
	// was restored. Zero: none.
	restored int64
}

type streamView struct {
	at      wire.Offset
	started bool                   // its RUN_STARTED entry was seen
	ended   bool                   // its last item was seen
	closed  bool                   // its RUN_ENDED entry was seen
	lost    bool                   // a snapshot replaced some of it
	past    bool                   // a snapshot already included its RUN_ENDED entry
	now     map[spool.AgentID]said // by agent; "" is the main agent
}

// said is the output of a step.
type said struct {
	text, reasoning string
	calls           []spool.ToolCallID
	// sources are the URLs and titles of the answer's sources, joined.
	sources string
	results map[spool.ToolCallID]json.RawMessage
	// landed has the calls of results in the order in which they came.
	landed []spool.ToolCallID
}

func (s said) empty() bool { return s.text == "" && s.reasoning == "" && len(s.calls) == 0 }

func (s said) equal(other said) bool {
	return s.text == other.text && s.reasoning == other.reasoning && slices.Equal(s.calls, other.calls) &&
		s.sources == other.sources
}

// client checks the frames that a client got. It checks them twice: for a client that follows all
// rules, and for a client that ignores RUN_ERROR and SUBAGENT_FINISHED.
func (c *checker) client(client *Client) {
	client.mu.Lock()
	defer client.mu.Unlock()
	c.clientAs(client, client.Thread.String()+" to "+client.Name, false)
	known := slices.Clone(c.found)
	c.found = nil
	c.clientAs(client, client.Thread.String()+" to a simple "+client.Name, true)
	for _, x := range c.found { // except for violations that the first check has found
		same := x
		same.Where = client.Thread.String() + " to " + client.Name
		if !slices.Contains(known, same) {
			known = append(known, x)
		}
	}
	c.found = known
}

func (c *checker) clientAs(client *Client, where string, framesOnly bool) {
	v := &view{
		checker: c, Client: client, where: where, live: client.FromStart, framesOnly: framesOnly,
		streams: make(map[wire.StreamID]*streamView), shown: make(map[spool.RunID][]said),
		partial: make(map[spool.RunID]bool), results: make(map[runCall]bool),
	}
	v.turns = c.turnsFor(client)
	v.last = -1
	connections := client.Connections
	for i, f := range client.Frames {
		for len(connections) > 0 && connections[0].Frames == i {
			v.connect(connections[0])
			connections = connections[1:]
		}
		v.greets(f)
		switch f.Kind {
		case wire.FrameThread:
			v.entry(*f.Event, f.Cursor)
		case wire.FrameStream:
			v.item(f.StreamID, *f.Item)
		case wire.FrameSnapshot:
			if f.Snapshot.AfterMessageID != nil {
				v.part(f.Snapshot)
			} else {
				v.snapshot(f.Snapshot)
			}
		}
	}
	if client.FromStart {
		v.compare()
	}
	for _, d := range c.Threads {
		if c.Settled && !client.Left && d.Thread.Key() == client.Thread && v.seq != d.Thread.LastSeq {
			c.wrongf("client-seq", v.where, "the client stands at seq %d, and the record ends at %d", v.seq, d.Thread.LastSeq)
		}
		if c.Settled && !client.Left && d.Thread.Key() == client.Thread {
			v.endsWith(d.Thread)
		}
	}
}

func (s *streamView) says(who spool.AgentID, now said) {
	if s.now == nil {
		s.now = make(map[spool.AgentID]said)
	}
	s.now[who] = now
}

func (v *view) stream(id wire.StreamID) *streamView {
	if v.streams[id] == nil {
		v.streams[id] = &streamView{}
	}
	return v.streams[id]
}

func (v *view) entry(e wire.Entry, at *wire.Cursor) {
	if e.Seq == 0 {
		v.notice(e)
		return
	}
	v.fresh = false
	v.showsBranch(string(e.Type))
	if e.Seq == v.seq+1 {
		v.passes(v.seq, string(e.Type))
	}
	switch {
	case e.Seq <= v.seq:
		v.wrongf("client-seq", v.where, "seq %d comes after %d", e.Seq, v.seq)
	case e.Seq != v.seq+1:
		v.wrongf("client-seq", v.where, "seq %d comes after %d, and what is in between does not", e.Seq, v.seq)
	}
	v.seq = e.Seq
	var p wire.RunEnded
	if e.Type == wire.EntryRunStarted || e.Type == wire.EntryRunEnded {
		_ = json.Unmarshal(e.Payload, &p)
	}
	switch e.Type {
	case wire.EntryRunStarted:
		if open := v.streams[v.open]; v.live && open != nil && !open.closed {
			v.wrongf("client-order", v.where, "%s starts while %s is open", p.StreamID, v.open)
		}
		s := v.stream(p.StreamID)
		if s.started {
			v.wrongf("client-order", v.where, "%s starts twice", p.StreamID)
		}
		s.started = true
		v.open, v.begun = p.StreamID, p.StreamID
	case wire.EntryRunEnded:
		s := v.stream(p.StreamID)
		if v.live && !s.ended && !s.lost {
			v.wrongf("client-order", v.where, "the record ends %s before its last item has come", p.StreamID)
		}
		v.nothingUnsaved(p.StreamID, s)
		s.closed = true
		if at != nil && at.Stream == p.StreamID && s.at.Compare(at.Offset) < 0 {
			s.at = at.Offset // the last items were lost
		}
	case wire.EntryMessagesRestored:
		if v.cursored {
			v.restored = e.Seq
		}
	default:
	}
}

func (v *view) item(id wire.StreamID, item wire.Item) {
	s := v.stream(id)
	v.fresh = false
	v.showsBranch(string(item.Type))
	switch {
	case v.live && !s.started && !s.lost:
		v.wrongf("client-order", v.where, "item %s of %s comes before the record starts it", item.Offset, id)
	case s.closed:
		v.wrongf("client-order", v.where, "item %s of %s comes after its end in the record", item.Offset, id)
	case s.ended:
		v.wrongf("client-items", v.where, "item %s of %s comes after its last one", item.Offset, id)
	case item.Offset.Compare(s.at) <= 0:
		v.wrongf("client-items", v.where, "item %s of %s comes after %s", item.Offset, id, s.at)
	case v.live && !follows(s.at, item.Offset):
		v.wrongf("client-items", v.where, "item %s of %s comes after %s, and what is in between does not", item.Offset, id,
			s.at)
	}
	v.live = true
	s.at = item.Offset
	s.ended = item.Type.End()
	s.closed = s.ended && s.past
	v.steeredItem(id, item)
	run, _, _ := id.Split()
	v.fold(run, s, item)
}

// follows reports whether b is the offset right after a, or the first offset of a later worker that
// only ends the stream.
func follows(a, b wire.Offset) bool {
	return a.Fence == b.Fence && b.N == a.N+1 || b.N == 1 && a.Fence < b.Fence
}

// fold adds an item to the output of its agent's step.
func (v *view) fold(run spool.RunID, s *streamView, item wire.Item) {
	var wrapped wire.SubagentEvent
	if item.Type == wire.ItemSubagentEvent {
		_ = item.Decode(&wrapped)
		if json.Unmarshal(wrapped.Event, &item) != nil || !item.Type.Content() || item.Type == wire.ItemSubagentEvent {
			v.wrongf("client-text", v.where, "run %s wraps %s", run, wrapped.Event)
		}
	}
	who := wrapped.SubagentID
	now := s.now[who]
	switch item.Type {
	case wire.ItemTextContent, wire.ItemReasoningContent:
		var d wire.Delta
		_ = item.Decode(&d)
		if item.Type == wire.ItemTextContent {
			now.text += d.Delta
		} else {
			now.reasoning += d.Delta
		}
		s.says(who, now)
	case wire.ItemToolStart:
		var r wire.ToolStarted
		_ = item.Decode(&r)
		now.calls = append(slices.Clip(now.calls), r.ToolCallID)
		s.says(who, now)
	case wire.ItemSource:
		var source spool.Source
		_ = item.Decode(&source)
		now.sources += nameOf(source)
		s.says(who, now)
	case wire.ItemToolResult:
		var r wire.ToolResulted
		_ = item.Decode(&r)
		v.results[runCall{runOf(run, who), r.ToolCallID}] = true
		if now.results == nil {
			now.results = make(map[spool.ToolCallID]json.RawMessage)
		}
		now.results[r.ToolCallID] = r.Result
		now.landed = append(slices.Clip(now.landed), r.ToolCallID)
		s.says(who, now)
	case wire.ItemStepFinished:
		var f wire.StepFinished
		_ = item.Decode(&f)
		if f.AgentID != nil {
			who, run = *f.AgentID, spool.RunID(*f.AgentID)
		}
		v.shown[run] = append(v.shown[run], s.now[who])
		delete(s.now, who)
	case wire.ItemSubagentFinished:
		var f wire.SubagentFinished
		_ = item.Decode(&f)
		if !v.framesOnly {
			delete(s.now, f.SubagentID) // unsaved content is dropped
		}
	case wire.ItemRunError:
		if !v.framesOnly {
			s.now = nil // unsaved content is dropped
		}
	case wire.ItemRunFinished:
		v.bill(run, item)
	default:
	}
}

// snapshot replaces everything that the client has.
func (v *view) snapshot(snap *wire.Snapshot) {
	v.restored = 0
	v.showsTurns(snap)
	if snap.LastEventSeq >= 0 {
		if snap.LastEventSeq < v.seq && v.live {
			v.wrongf("client-seq", v.where, "a snapshot of seq %d comes after %d", snap.LastEventSeq, v.seq)
		}
		v.seq = snap.LastEventSeq
	}
	v.live = true
	for _, s := range v.streams { // their content is gone and may be shown again
		s.lost, s.ended, s.at, s.now = true, false, wire.Offset{}, nil
	}
	told := make(map[spool.RunID]bool)
	for _, m := range snap.Messages {
		if !told[m.RunID] {
			told[m.RunID] = true
			v.shown[m.RunID] = nil
		}
	}
	v.take(snap.Messages)
	for _, r := range snap.Runs { // the history of a dropped run is unknown
		v.partial[r.ID] = v.partial[r.ID] || !told[r.ID] || v.cutRuns()[r.ID]
	}
	v.open = ""
	if snap.Stream == nil {
		return
	}
	id := snap.Stream.StreamID
	s := v.stream(id)
	s.lost, s.started, s.closed = true, true, false
	v.open, v.begun = id, id
	s.at, s.ended = wire.Offset{}, snap.Stream.End != nil
	for _, item := range snap.Stream.Items {
		v.fold(snap.Stream.RunID, s, item)
	}
	if snap.Stream.Offset != nil {
		s.at = *snap.Stream.Offset
	}
	s.past = slices.ContainsFunc(v.runEnds(id), func(seq int64) bool { return seq <= v.seq })
	s.closed = s.ended && s.past
	if s.past || s.ended {
		v.nothingUnsaved(id, s)
	}
}

// runEnds returns the seqs at which the record ends a stream.
func (v *view) runEnds(id wire.StreamID) (seqs []int64) {
	for _, d := range v.Threads {
		for _, e := range d.Entries {
			var p wire.RunEnded
			if e.Type == wire.EntryRunEnded && json.Unmarshal(e.Payload, &p) == nil && p.StreamID == id {
				seqs = append(seqs, e.Seq)
			}
		}
	}
	return seqs
}

func saidBy(m spool.Message) said {
	s := said{text: m.Text()}
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartReasoning:
			s.reasoning += p.Text
		case spool.PartToolCall:
			s.calls = append(s.calls, p.ToolCallID)
		case spool.PartSource:
			s.sources += nameOf(spool.Source{URL: p.URL, Title: p.Title, Spans: p.Spans})
		default:
		}
	}
	return s
}

// nameOf returns a source as one text.
func nameOf(s spool.Source) string { return fmt.Sprintf("%s %s %v\n", s.URL, s.Title, s.Spans) }

// runOf returns the run of an agent in the stream of the given run.
func runOf(run spool.RunID, who spool.AgentID) spool.RunID {
	if who != "" {
		return spool.RunID(who)
	}
	return run
}

// compare checks that the client shows of each run exactly what was saved.
func (v *view) compare() {
	saved := make(map[spool.RunID][]said)
	results := make(map[runCall]json.RawMessage) // branches may have calls of one id
	places := make(map[runCall]savedPlace)
	for _, m := range v.saved() {
		if m.Role == spool.RoleAssistant {
			saved[m.RunID] = append(saved[m.RunID], saidBy(m))
		}
		for i, p := range m.ToolResults() {
			results[runCall{m.RunID, p.ToolCallID}] = p.Result
			places[runCall{m.RunID, p.ToolCallID}] = savedPlace{m.ID, i}
		}
	}
	for _, d := range v.Threads {
		if d.Thread.Key() != v.Thread {
			continue
		}
		v.closed(d)
		byID := make(map[spool.RunID]store.RunRow, len(d.Runs))
		for _, r := range d.Runs {
			byID[r.ID] = r
		}
		for _, r := range d.Runs {
			last := v.streams[byID[r.Root()].Stream()]
			if v.partial[r.ID] || !r.State.Terminal() || last == nil || !last.closed {
				continue
			}
			shown, want := spokenTurns(v.shown[r.ID]), spokenTurns(saved[r.ID])
			if !slices.EqualFunc(shown, want, said.equal) {
				v.wrongf("client-text", v.where, "run %s shows %s, and %s was saved", r.ID, quoted(shown), quoted(want))
			}
		}
	}
	for run, turns := range v.shown {
		for _, turn := range turns {
			for i := 1; i < len(turn.landed); i++ {
				before, after := places[runCall{run, turn.landed[i-1]}], places[runCall{run, turn.landed[i]}]
				if before.message == after.message && before.at > after.at {
					v.wrongf("client-text", v.where,
						"run %s shows the result of call %s before that of %s, and they are saved the other way around", run,
						turn.landed[i-1], turn.landed[i])
				}
			}
			for id, result := range turn.results {
				if want, ok := results[runCall{run, id}]; !ok || !bytes.Equal(compare.Canonical(result), compare.Canonical(want)) {
					v.wrongf("client-text", v.where, "call %s of run %s shows the result %s, and %s was saved", id, run, result, want)
				}
			}
		}
	}
}

// savedPlace is the place of a result among those of its message.
type savedPlace struct {
	message spool.MessageID
	at      int
}

// saved returns all messages that the thread has ever had, as far as they are known.
func (v *view) saved() (messages []spool.Message) {
	if len(v.Commits) == 0 {
		for _, d := range v.Threads {
			if d.Thread.Key() != v.Thread {
				continue
			}
			for _, b := range slices.Backward(d.Branches) { // the oldest one first
				messages = append(messages, b.Messages...)
			}
			messages = append(messages, d.Messages...)
		}
		return messages
	}
	for _, commit := range v.of(v.Thread) {
		messages = append(messages, commit.Messages...)
	}
	return messages
}

// spokenTurns removes steps without output.
func spokenTurns(all []said) []said {
	return slices.DeleteFunc(slices.Clone(all), said.empty)
}

func quoted(turns []said) string {
	var b bytes.Buffer
	for i, s := range turns {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(compare.Dump(s.reasoning + "|" + s.text))
		if len(s.calls) > 0 {
			_, _ = fmt.Fprint(&b, s.calls)
		}
	}
	return "[" + b.String() + "]"
}
