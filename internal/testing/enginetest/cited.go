package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// citedTest is the fixture of the cases about the sources of messages.
type citedTest struct{ *engineTest }

var citedTests = map[string]func(s citedTest){
	"Answer": testCitedAnswer,
	"Only":   testCitedOnly,
	"Cut":    testCitedCut,
}

// citing is a model that calls a tool which names sources, and then cites a page twice and a document.
func citing() *spooltest.Model {
	return spooltest.NewReplayModel(
		spooltest.Turn{
			Text:    []string{"I look. "},
			Sources: []spool.Source{{URL: "https://example.com/found", Title: "Found"}},
			Calls:   []spooltest.Call{{ID: "c1", Name: "search"}, {ID: "c2", Name: "look"}},
		},
		spooltest.Turn{
			Text: []string{"Ä🙂 one", ". Two."},
			Sources: []spool.Source{
				{URL: "https://example.com/a", Spans: []spool.Span{{Start: 8, End: 12}}},
				{Title: "report.pdf"},
				{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 7}, {Start: 5, End: 500}}},
				{URL: "javascript:alert(1)", Title: "a script"},
			},
		},
	)
}

// finding is the result of a tool that names sources.
const finding = `{"text":"x","sources":[{"url":"https://example.com/b","title":"B"},{"url":"https://example.com/b"},{"url":"file:///etc/passwd"}]}`

// cited are the sources of the messages, each after the role of its message.
func cited(messages []spool.Message) (lines []string) {
	for _, m := range messages {
		for _, p := range m.Content {
			if p.Type == spool.PartSource {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s%s|%s %v", m.Role, p.ToolCallID, p.URL, p.Title,
					p.Spans)))
			}
		}
	}
	return lines
}

var bothCited = []string{
	"assistant https://example.com/found|Found []",
	"tool c1https://example.com/b|B []",
	"assistant https://example.com/a|A [{0 7} {8 12}]",
	"assistant |report.pdf []",
	"assistant |a script []",
}

// testCitedAnswer follows the sources of an answer and of a result to everywhere that shows them, and into no prompt.
func testCitedAnswer(s citedTest) {
	m := citing()
	e := s.engine(s.config(m, plain("search", finding), plain("look", `{"text":"y"}`)))
	s.start(e, "r1", "go")
	stop := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	saved := s.messagesOf(chat)
	s.lines("sources", cited(saved), bothCited...)
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	if diff := cmp.Diff(bothCited, cited(snap.Messages)); diff != "" {
		s.Errorf("the snapshot's sources:\n%s", diff)
	}
	if o, err := e.Outcome(context.Background(), chat, "r1"); err != nil || o.Message == nil ||
		len(o.Message.Content.Sources()) != 3 {
		s.Errorf("the outcome is %+v, %v", o, err)
	}
	s.start(e, "r2", "and?")
	s.ended(wire.Completed)
	<-time.After(quiet)
	stop()
	for _, r := range m.Requests() {
		if lines := cited(r.Messages); len(lines) > 0 {
			s.Errorf("a prompt has %q", lines)
		}
	}
}

// testCitedOnly has an answer of nothing but sources, which is an empty one.
func testCitedOnly(s citedTest) {
	s.start(s.working(s.config(spooltest.NewReplayModel(spooltest.Turn{Sources: []spool.Source{{Title: "A"}}}))), "r1",
		"go")
	s.ended(wire.Completed)
	emptyTest(s).tellsEnd(wire.StopEmpty)
}

// testCitedCut has an answer that is cut. A source has the spans of what is left.
func testCitedCut(s citedTest) {
	c := s.config(spooltest.NewReplayModel(spooltest.Turn{
		Text: []string{"One. Two."},
		Sources: []spool.Source{
			{Title: "A", Spans: []spool.Span{{Start: 0, End: 4}, {Start: 5, End: 9}, {Start: 5, End: 10}}},
		},
		FinishReason: spool.FinishLength,
	}))
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	s.lines("sources", cited(s.messagesOf(chat)), "assistant |A [{0 4} {5 9}]")
}

// citedScript is a run whose answers and results name sources. The first process has faults; if it crashes, a second
// one continues. No source is there twice.
func citedScript(s *engineTest, own bool, faults ...spooltest.Fault) int {
	c := newCampaign(s, s.config(citing(), plain("search", finding), plain("look", "1")), 1, own)
	first, stop := c.survive(faults, []string{"a"}, func(n *node) {
		c.answerAll(n.Engine, func(p store.Park) wire.Response {
			return wire.Response{Approved: p.Reason != wire.ParkOutcomeUnknown, Digest: p.Digest}
		})
	})
	lines := cited(s.messagesOf(chat))
	for _, line := range lines {
		if !slices.Contains(bothCited, line) {
			s.Errorf("another source: %q", line)
		}
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(lines))); len(unique) != len(lines) {
		s.Errorf("a source is there twice: %q", lines)
	}
	c.finish(stop)
	return first.faulty.Calls()
}
