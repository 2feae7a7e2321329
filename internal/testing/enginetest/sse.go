package enginetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

var sseTests = map[string]func(s *engineTest){
	"AfterEveryFrame": testSSEAfterEveryFrame,
	"Since":           testSSESince,
	"Keepalive":       testSSEKeepalive,
	"KeepaliveEvent":  testSSEKeepaliveEvent,
	"EngineCloses":    testSSEEngineCloses,
	"Deleted":         testSSEDeleted,
	"Reader":          testSSEReader,
	"WireFormat":      testSSEWireFormat,
}

// testSSEAfterEveryFrame reconnects with the id of each event, as a browser does.
func testSSEAfterEveryFrame(s *engineTest) {
	e, _ := followTest{s}.told()
	frames, other := s.sse(e, chat, wire.SSEOptions{Cursor: "0 r1:1 -"}, quiet)
	whole := frameLines(frames)
	if len(whole) < 40 || len(other) == 0 || other[0] != "retry: 1000" {
		s.Fatalf("%d frames, %v", len(whole), other)
	}
	n := 0
	for _, f := range frames {
		if f.Cursor == nil {
			continue
		}
		n++
		got, _ := s.sse(e, chat, wire.SSEOptions{Cursor: f.Cursor.String()}, quiet)
		s.lines("after "+frameLine(f), frameLines(got), whole[n:]...)
	}
}

func testSSESince(s *engineTest) {
	e, _ := followTest{s}.told()
	since := int64(3)
	frames, other := s.sse(e, chat, wire.SSEOptions{Since: &since, Retry: -1}, quiet)
	if len(other) != 0 {
		s.Errorf("beside the frames: %v", other)
	}
	lines := frameLines(frames)
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "4 ") {
		s.Errorf("since 3: %v", lines)
	}
	frames, _ = s.sse(e, chat, wire.SSEOptions{Cursor: "4 - -", Since: &since}, quiet)
	if lines := frameLines(frames); len(lines) == 0 || !strings.HasPrefix(lines[0], "5 ") {
		s.Errorf("a cursor goes before since: %v", lines)
	}
}

func testSSEKeepalive(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	_, other := s.sse(e, chat, wire.SSEOptions{Retry: 3 * time.Second}, 46*time.Second)
	s.lines("beside the frames", other, "retry: 3000", ": keepalive", ": keepalive", ": keepalive")
}

// testSSEKeepaliveEvent uses events instead of comments to keep the stream alive. They have no id and
// are not frames.
func testSSEKeepaliveEvent(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	ctx, cancel := context.WithTimeout(context.Background(), 46*time.Second)
	defer cancel()
	body, err := e.SSE(ctx, chat, wire.SSEOptions{KeepaliveEvent: true})
	if err != nil {
		s.Fatal(err)
	}
	var text strings.Builder
	for chunk, err := range body.Chunks() {
		if err == nil {
			text.Write(chunk)
		}
	}
	_, alive, _ := strings.Cut(text.String(), "event: keepalive")
	s.same("after the frames", "event: keepalive"+alive, strings.Repeat("event: keepalive\ndata: {}\n\n", 3))
	if strings.Contains(text.String(), ": keepalive\n\n") {
		s.Errorf("there are comments beside them: %s", text.String())
	}
}

func testSSEEngineCloses(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	body, err := e.SSE(context.Background(), chat, wire.SSEOptions{})
	if err != nil {
		s.Fatal(err)
	}
	time.AfterFunc(time.Second, func() {
		e.Close()
		e.Close()
	})
	var last string
	for chunk, err := range body.Chunks() {
		if err != nil {
			s.Error(err)
		}
		last = string(chunk)
	}
	if !strings.HasPrefix(last, "retry: ") || !strings.HasSuffix(last, "\n\n") {
		s.Errorf("the last piece is %q", last)
	}
}

func testSSEDeleted(s *engineTest) {
	e := s.working(s.config(echo()))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	time.AfterFunc(time.Second, func() {
		if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
			s.Errorf("delete: %+v, %v", r, err)
		}
	})
	body, err := e.SSE(context.Background(), chat, wire.SSEOptions{})
	if err != nil {
		s.Fatal(err)
	}
	text, err := io.ReadAll(body) // the body ends by itself
	if err != nil || body.Close() != nil {
		s.Error(err)
	}
	frames, _ := s.parse(bytes.NewReader(text))
	if last := frames[len(frames)-1]; last.Event == nil || last.Event.Type != wire.NoticeThreadDeleted {
		s.Errorf("the last frame is %s", frameLine(last))
	}
}

func testSSEReader(s *engineTest) {
	e, _ := followTest{s}.told()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	body, err := e.SSE(ctx, chat, wire.SSEOptions{Cursor: "0 r1:1 -"})
	if err != nil {
		s.Fatal(err)
	}
	defer body.Close()
	time.AfterFunc(quiet, cancel)
	var text bytes.Buffer
	piece := make([]byte, 7)
	for err == nil {
		var n int
		n, err = body.Read(piece)
		text.Write(piece[:n])
	}
	if !errors.Is(err, context.Canceled) {
		s.Errorf("read: %v", err)
	}
	got, _ := s.parse(&text)
	want, _ := s.sse(e, chat, wire.SSEOptions{Cursor: "0 r1:1 -"}, quiet)
	s.lines("read in pieces", frameLines(got), frameLines(want)...)
	if h := body.Header; h.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
		h.Get("Cache-Control") != "no-cache, no-transform" || h.Get("X-Accel-Buffering") != "no" {
		s.Errorf("header: %v", h)
	}
}

func testSSEWireFormat(s *engineTest) {
	e := s.engine(s.config(echo()))
	s.start(e, "r1", "go")
	if _, err := e.SSE(
		context.Background(), chat, wire.SSEOptions{WireFormat: "carrier-pigeon"},
	); spool.CodeOf(err) != spool.Invalid {
		s.Errorf("sse: %v", err)
	}
}
