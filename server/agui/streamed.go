package agui

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
)

// streamed is the content of a snapshot's stream that the messages lack. Clients share it.
type streamed struct {
	stream spool.StreamID // empty: there is no such content
	// step, parks and end are a translator's state after the stream.
	step  step
	parks parks
	end   *spool.Item
	// customs are events that no message has, each with the position of its item.
	customs []placedCustom
	// events are the events of unfinished messages. They are reduced to messages later.
	events []Event
	// messages are the messages after the first from messages of the thread, as the stream leaves them. Each
	// has a comma before it. Nil: the thread's own messages.
	messages []byte
	from     int
	err      error
}

type placedCustom struct {
	Custom

	at spool.Offset
}

// fold applies the items of the present segment that the messages lack.
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
			continue // the messages have its content
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

// size is its approximate size in bytes.
func (f *streamed) size() int64 {
	n := len(f.messages)
	for _, c := range f.customs {
		n += len(c.Value)
	}
	return int64(n)
}

// catchUp sets the translator to the state after the snapshot's stream, if that is the stream of the run. It
// returns the messages, and the custom events that a client at have may lack.
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
