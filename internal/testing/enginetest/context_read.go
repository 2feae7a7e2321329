package enginetest

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// readCounter counts the messages that an engine reads.
type readCounter struct {
	store.Store

	messages atomic.Int64
}

// View implements [store.Store].
func (c *readCounter) View(ctx context.Context, key spool.ThreadKey, fn func(store.View) error) error {
	return c.Store.View(ctx, key, func(v store.View) error { return fn(countedView{v, c}) })
}

type countedView struct {
	store.View

	counter *readCounter
}

// Messages implements [store.View].
func (v countedView) Messages(q store.MessageQuery) ([]spool.Message, error) {
	messages, err := v.View.Messages(q)
	v.counter.messages.Add(int64(len(messages)))
	return messages, err
}

// testContextReadsLittle has a run that begins after a summary. Its request must equal that of a run
// that has read all messages, but it must not read the summarised messages.
func testContextReadsLittle(s contextTest) {
	m, sums := answering(1700), summing()
	e := s.working(s.contextConfig(m, sums))
	s.turns(e, strings.Split("abcdefghiklmnopqrs", "")...)
	if len(s.compactions()) == 0 {
		s.Fatalf("nothing was compacted")
	}
	s.rest()
	compacted, asked := len(s.compactions()), m.Asked()

	counting := s.join()
	counter := &readCounter{Store: counting.Store}
	counting.Store = counter
	summarised := s.over(counting, s.contextConfig(m, sums))
	before := int64(len(s.script()))
	s.work(summarised)
	s.turns(summarised, "j")
	if len(s.compactions()) != compacted {
		s.Fatalf("the run that is looked at was compacted itself")
	}
	if read := counter.messages.Load(); read == 0 || read > before/3 {
		s.Errorf("%d messages were read, of %d", read, before)
	}
	if got := s.run("r-j").Context; got == nil || int64(got.Messages) != before+1 {
		s.Errorf("of %d messages and the turn there was counted: %+v", before, got)
	}
	last := m.Requests()[asked]
	if text := promptText(last); malformed(last.Messages) != "" || !hasSuffixTurn(last, "j") || len(last.Messages) < 2 {
		s.Errorf("the prompt is %s", text)
	}
	s.fits(m, 1275)
}

func hasSuffixTurn(r spool.ModelRequest, name string) bool {
	newest := r.Messages[len(r.Messages)-1]
	return newest.Role == spool.RoleUser && newest.Text() == long(name, 400)
}
