package agui

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// streamed is what the stream of a snapshot says beyond the messages. Clients share it.
type streamed struct {
	stream spool.StreamID // empty: there is nothing
	// step, parks and end are where a translator stands behind the stream.
	step  step
	parks parks
	end   *spool.Item
	// customs are events that no message has, each with the place of its item.
	customs []placedCustom
	// events are those of which messages are made, until these are made.
	events []Event
	// messages are the messages behind the first from messages of the thread, as the stream
	// leaves them, each with a comma before it. Nil: the thread's own.
	messages []byte
	from     int
	err      error
}

type placedCustom struct {
	Custom

	at spool.Offset
}

// fold takes in what the segment that runs has said and the messages lack.
func fold(s *spool.Snapshot) *streamed {
	f := &streamed{}
	if s.Stream == nil {
		return f
	}
	r, ok := runOf(s, s.Stream.RunID)
	if !ok || r.State != spool.Running || r.Stream() != s.Stream.StreamID {
		return f
	}
	f.stream = s.Stream.StreamID
	t := &Translator{step: step{run: r.ID, last: r.Steps}, parks: parksOf(s, r.ID)}
	for _, item := range s.Stream.Items {
		if item.Type == spool.ItemStepFinished && t.step.name == "" {
			continue // its content is in the messages
		}
		events, err := t.itemEvents(item)
		if err != nil {
			f.err = err
			return f
		}
		for _, e := range events {
			if c, ok := e.(Custom); ok {
				f.customs = append(f.customs, placedCustom{c, item.Offset})
			} else {
				f.events = append(f.events, e)
			}
		}
	}
	f.step, f.parks, f.end = t.step, t.parks, t.end
	return f
}

// size is roughly how many bytes it takes.
func (f *streamed) size() int64 {
	n := len(f.messages)
	for _, c := range f.customs {
		n += len(c.Value)
	}
	return int64(n)
}

// catchUp sets the translator behind the stream of the snapshot, if that is the stream of the
// run. It returns the messages, and the custom events that a client at have may lack.
func (t *Translator) catchUp(s *engine.FormedSnapshot, r spool.Run, have *spool.Cursor) (messages Messages, customs []Event, err error) {
	f, _ := s.Shared.(*streamed)
	if f == nil || !t.inSegment || f.stream == "" || f.stream != r.Stream() {
		return Messages{s.All()}, nil, nil
	}
	if f.err != nil {
		return Messages{}, nil, f.err
	}
	t.step, t.parks, t.end = f.step, slices.Clone(f.parks), f.end
	t.step.calls = slices.Clone(f.step.calls)
	for _, c := range f.customs {
		if have == nil || have.Stream != f.stream || c.at.Compare(have.Offset) > 0 {
			customs = append(customs, c.Custom)
		}
	}
	if f.messages == nil {
		return Messages{s.All()}, customs, nil
	}
	return Messages{s.First(f.from)}.and(f.messages), customs, nil
}
