package enginetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// watch follows the thread until the returned function is called, which returns the frames. When watch
// returns, the client has joined.
func (s *engineTest) watch(e *engine.Engine, c *spooltest.Client, o wire.FollowOptions) (stop func() []wire.Frame) {
	s.Helper()
	if c.Thread == (spool.ThreadKey{}) {
		c.Thread = chat
	}
	s.history.Client(c)
	c.Connected(o.Cursor, o.LastMessageID)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	joined := make(chan struct{})
	go func() {
		defer close(done)
		first := sync.OnceFunc(func() { close(joined) })
		defer first()
		for f, err := range e.Follow(ctx, c.Thread, o) {
			if err != nil {
				if ctx.Err() == nil {
					s.Errorf("follow: %v", err)
				}
				return
			}
			c.Saw(f)
			first()
		}
	}()
	receive(s, joined, bubbleWait, "the first frame of client "+c.Name)
	return func() []wire.Frame {
		cancel()
		receive(s, done, bubbleWait, "the end of client "+c.Name)
		return c.Frames
	}
}

// collect follows the thread until no more frames come.
func (s *engineTest) collect(e *engine.Engine, key spool.ThreadKey, o wire.FollowOptions) (frames []wire.Frame) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer := time.AfterFunc(quiet, cancel)
	defer timer.Stop()
	for f, err := range e.Follow(ctx, key, o) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("follow: %v", err)
			}
			break
		}
		timer.Reset(quiet)
		frames = append(frames, f)
	}
	return frames
}

// sse reads an event stream until no more events come. Frames without an id have no cursor. Other
// contains everything that is not a frame.
func (s *engineTest) sse(
	e *engine.Engine, key spool.ThreadKey, o wire.SSEOptions, wait time.Duration,
) (frames []wire.Frame, other []string) {
	s.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	body, err := e.SSE(ctx, key, o)
	if err != nil {
		s.Fatalf("sse: %v", err)
	}
	defer body.Close()
	timer := time.AfterFunc(wait, cancel)
	defer timer.Stop()
	var text bytes.Buffer
	for chunk, err := range body.Chunks() {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				s.Errorf("sse: %v", err)
			}
			break
		}
		if wait <= quiet {
			timer.Reset(wait)
		}
		text.Write(chunk)
	}
	return s.parse(&text)
}

// parse reads server-sent events.
func (s *engineTest) parse(r io.Reader) (frames []wire.Frame, other []string) {
	s.Helper()
	var at *wire.Cursor
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			at = nil
		case strings.HasPrefix(line, "id: "):
			c, ok := wire.ParseCursor(line[len("id: "):])
			if !ok {
				s.Errorf("an event has the id %q", line)
			}
			at = &c
		case strings.HasPrefix(line, "data: "):
			var f wire.Frame
			if err := f.UnmarshalJSON([]byte(line[len("data: "):])); err != nil {
				s.Errorf("read %q: %v", line, err)
			}
			f.Cursor = at
			frames = append(frames, f)
		default:
			other = append(other, line)
		}
	}
	if err := lines.Err(); err != nil {
		s.Error(err)
	}
	return frames, other
}

// frameLine returns a short text with a frame's position and kind.
func frameLine(f wire.Frame) string {
	at := "notice"
	if f.Cursor != nil {
		at = f.Cursor.String()
	}
	switch f.Kind {
	case wire.FrameStream:
		var d struct{ Delta, Status, ToolCallID string }
		_ = f.Item.Decode(&d)
		return strings.TrimSpace(at + " | " + string(f.Item.Type) + " " + d.Delta + d.ToolCallID + d.Status)
	case wire.FrameSnapshot:
		return at + " | snapshot"
	case wire.FrameThread:
		return at + " | =" + entryLine(*f.Event)
	default:
		return at + " | a frame of kind " + string(f.Kind)
	}
}

// frameLines returns a line for each frame except notices.
func frameLines(frames []wire.Frame) (lines []string) {
	for _, f := range frames {
		if f.Cursor != nil {
			lines = append(lines, frameLine(f))
		}
	}
	return lines
}

// notices returns a line for each notice.
func notices(frames []wire.Frame) (lines []string) {
	for _, f := range frames {
		if f.Cursor == nil {
			lines = append(lines, entryLine(*f.Event))
		}
	}
	return lines
}

// shownText returns the text that the frames have shown, including unsaved text.
func shownText(frames []wire.Frame) string {
	text, run, before := "", spool.RunID(""), 0 // before is where the run's own text begins
	for _, f := range frames {
		switch f.Kind {
		case wire.FrameStream:
			text += deltaOf(*f.Item)
		case wire.FrameSnapshot:
			if f.Snapshot.AfterMessageID == nil {
				before = 0
			}
			text = text[:before] + snapshotText(f.Snapshot)
		case wire.FrameThread:
			if f.Event.Type == wire.EntryRunStarted && f.Event.RunID != run {
				run, before = f.Event.RunID, len(text)
			}
		}
	}
	return text
}

func deltaOf(item wire.Item) string {
	var d wire.Delta
	if item.Type == wire.ItemTextContent {
		_ = item.Decode(&d)
	}
	return d.Delta
}

// snapshotText returns the assistant's text in a snapshot.
func snapshotText(snap *wire.Snapshot) string {
	var b strings.Builder
	for _, m := range snap.Messages {
		if m.Role == spool.RoleAssistant {
			b.WriteString(m.Text())
		}
	}
	if snap.Stream != nil {
		for _, item := range snap.Stream.Items {
			b.WriteString(deltaOf(item))
		}
	}
	return b.String()
}
