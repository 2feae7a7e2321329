package projection

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
	"github.com/spoolhq/spool/wire/fold"
)

// Streamed is the content of a snapshot's stream that the messages lack. Clients share it. The form of a wire
// returns it from its Finish: see [Fold].
type Streamed struct {
	// Unfinished are the changes of unfinished messages. A form that has made something of them may remove
	// them.
	Unfinished []Change
	// Form is what the form of the wire has made of the messages and of Unfinished.
	Form any

	stream wire.StreamID // empty: there is no such content
	// step, parks and end are a projection's state after the stream.
	step  step
	parks fold.Parks
	end   *fold.StreamEnded
	// others are changes that no message has, each with the position of its item.
	others []placed
	err    error
}

type placed struct {
	Change

	at wire.Offset
}

// Fold applies the items of the present segment that the messages of a snapshot lack.
func Fold(s *wire.Snapshot) *Streamed {
	f := &Streamed{}
	if s.Stream == nil {
		return f
	}
	r, ok := RunOf(s, s.Stream.RunID)
	if !ok || r.State != wire.Running || r.Stream() != s.Stream.StreamID {
		return f
	}
	f.stream = s.Stream.StreamID
	p := &Projection{step: step{run: r.ID, last: r.Steps}, parks: fold.OpenIn(s).Of(r.ID)}
	for _, item := range s.Stream.Items {
		if item.Type == wire.ItemStepFinished && !p.step.open {
			continue // the messages have its content
		}
		if p.itemIn(item); p.err != nil {
			f.err = p.err
			return f
		}
		for _, c := range p.out {
			switch c.(type) {
			case Custom, Nested:
				f.others = append(f.others, placed{c, item.Offset})
			default:
				f.Unfinished = append(f.Unfinished, c)
			}
		}
		p.out = p.out[:0]
	}
	f.step, f.parks, f.end = p.step, p.parks, p.end
	return f
}

// Said returns Unfinished in the form in which it will be saved. The arguments of a call that is open are their text so
// far, as a JSON string.
func (f *Streamed) Said(s *wire.Snapshot) (messages []spool.Message) {
	if f.stream == "" {
		return nil
	}
	step := &fold.Step{Stream: f.stream}
	for _, item := range s.Stream.Items {
		if c, ok, err := fold.ContentOf(item); ok && err == nil {
			step.Add(item.Offset, c)
		} else if agent, what, _ := fold.Item(item); agent == "" {
			if _, over := what.(wire.StepFinished); over {
				messages = append(messages, step.Messages(s.Thread.ID)...)
				step = &fold.Step{Stream: f.stream}
			}
		}
	}
	messages = append(messages, step.Messages(s.Thread.ID)...)
	for _, m := range messages {
		for i, part := range m.Content {
			if part.Type == spool.PartToolCall && part.Args == nil && f.step.call(part.ToolCallID) != nil {
				m.Content[i].Args = json.RawMessage(`""`)
			}
		}
	}
	return messages
}

// Size is its approximate size in bytes, without the form's part.
func (f *Streamed) Size() (n int64) {
	for _, o := range f.others {
		switch c := o.Change.(type) {
		case Custom:
			n += int64(len(c.Value))
		case Nested:
			n += int64(len(c.Item.Data))
		}
	}
	return n
}

// catchUp sets the projection to the state after the snapshot's stream, if that is the stream of the run. It
// returns the messages, and the other changes that a client at have may lack.
func (p *Projection) catchUp(
	s *wire.FormedSnapshot, r wire.Run, have *wire.Cursor,
) (messages Messages, others []Change) {
	messages = Messages{Thread: s, All: true}
	f, _ := s.Shared.(*Streamed)
	if f == nil || !p.inSegment || f.stream == "" || f.stream != r.Stream() {
		return messages, nil
	}
	if p.err = f.err; p.err != nil {
		return messages, nil
	}
	p.step, p.parks, p.end = f.step, slices.Clone(f.parks), f.end
	p.step.calls = slices.Clone(f.step.calls)
	for _, o := range f.others {
		if have == nil || have.Stream != f.stream || o.at.Compare(have.Offset) > 0 {
			others = append(others, o.Change)
		}
	}
	messages.Streamed = f
	return messages, others
}

// RunOf returns the record of a run.
func RunOf(s *wire.Snapshot, id spool.RunID) (wire.Run, bool) {
	at := slices.IndexFunc(s.Runs, func(r wire.Run) bool { return r.ID == id })
	if at < 0 {
		return wire.Run{}, false
	}
	return s.Runs[at], true
}
