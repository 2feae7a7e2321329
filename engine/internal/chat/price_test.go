package chat

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

type pricer func(c price.Charge) (spool.Cost, error)

func (p pricer) Price(ctx context.Context, c price.Charge) (spool.Cost, error) {
	if err := ctx.Err(); err != nil {
		return spool.Cost{}, err
	}
	return p(c)
}

// A call asks its provider's limit for its prompt and its answer.
func TestEstimate(t *testing.T) {
	t.Parallel()
	if got := estimate(500, spool.ModelRequest{MaxOutputTokens: 70}); got != 570 {
		t.Errorf("a bounded answer: %d", got)
	}
	if got := estimate(500, spool.ModelRequest{}); got != 1500 {
		t.Errorf("an answer without a bound: %d", got)
	}
	for name, c := range map[string]struct {
		usage spool.Usage
		want  int64 // -1 for none
	}{"both": {tokens(5, 2), 7}, "one": {spool.Usage{Input: new(int64(5))}, 5}, "none": {spool.Usage{}, -1}} {
		if got := reported(c.usage); (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := guessTokens(nil); got != 0 {
		t.Errorf("nothing has %d tokens", got)
	}
	short, long := guessTokens(spool.TextContent("hello")),
		guessTokens(spool.Content{
			{Type: spool.PartText, Text: "hello", Provider: []byte(`{"signature":"0123456789012345678901234567890123456789"}`)},
		})
	if short < 2 || long < short+10 {
		t.Errorf("a text has %d tokens, and with its provider's data %d", short, long)
	}
	if w := waitOf(store.RunRow{Run: wire.Run{ID: "sub", RootID: "r"}}, quota.Reason("tokens")); *w.AgentID != "sub" ||
		w.Limit != "tokens" {
		t.Errorf("a nested run waits: %+v", w)
	}
	if w := waitOf(store.RunRow{Run: wire.Run{ID: "r"}}, "tokens"); w.AgentID != nil {
		t.Errorf("the run waits: %+v", w)
	}
}

// An answer has the price of what its provider has reported last, also if it was cut off.
func TestAskPrice(t *testing.T) {
	t.Parallel()
	early, late := &spool.Cost{Micros: 1, Currency: "EUR"}, &spool.Cost{Micros: 9, Currency: "EUR"}
	seen := spool.UsageSeen{Usage: tokens(5, 1), Cost: early}
	for name, c := range map[string]struct {
		model script
		want  *spool.Cost
	}{
		"finished": {
			script{
				events: []spool.ModelEvent{seen, say("hi"), spool.Finish{Usage: tokens(5, 2), Cost: late, ModelID: "large-2"}},
			},
			late,
		},
		"cut off":      {script{events: []spool.ModelEvent{seen, say("hi")}}, early},
		"not reported": {script{events: []spool.ModelEvent{say("hi"), spool.Finish{Usage: tokens(5, 2)}}}, nil},
	} {
		s := newScene(t)
		s.Pricer = pricer(func(c price.Charge) (spool.Cost, error) {
			if c.Receipt == nil {
				return spool.Cost{}, spool.Errorf(spool.NotFound, "none")
			}
			return *c.Receipt, nil
		})
		turn, _ := s.ask(t.Context(), &c.model, spool.ModelRequest{})
		if diff := cmp.Diff(c.want, turn.row.Cost); diff != "" || (turn.row.ModelID == "large-2") != (name == "finished") {
			t.Errorf("%s: of %q (-want +got):\n%s", name, turn.row.ModelID, diff)
		}
	}
}
