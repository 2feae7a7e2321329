package openai_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/openai"
)

// What OpenRouter sends with the last chunk: the counts, the details and the price.
const openRouterUsage = `{"prompt_tokens":194,"completion_tokens":40,"total_tokens":234,"cost":0.0123456,"is_byok":false,` +
	`"prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":20,"audio_tokens":0},` +
	`"cost_details":{"upstream_inference_cost":null},"completion_tokens_details":{"reasoning_tokens":30}}`

func TestReceipt(t *testing.T) {
	t.Parallel()

	n := func(v int64) *int64 { return &v }
	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		send(w, textChunk("a"), finishChunk("stop"), usageChunk(openRouterUsage), "[DONE]")
	})
	events, err := stream(t, p.model(t, openai.Config{ReceiptCurrency: "USD"}), spool.ModelRequest{})
	if err != nil {
		t.Fatal(err)
	}
	usage := spool.Usage{Input: n(194), CacheRead: n(100), CacheWrite: n(20), Output: n(40), Reasoning: n(30)}
	cost := &spool.Cost{Micros: 12346, Currency: "USD", Source: spool.CostReceipt}
	want := spool.Finish{Reason: spool.FinishStop, Usage: usage, Cost: cost, ModelID: "test-model-1"}
	if diff := cmp.Diff(want, finishOf(t, events)); diff != "" {
		t.Errorf("the end (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]spool.UsageSeen{{Usage: usage, Cost: cost}}, only[spool.UsageSeen](events)); diff != "" {
		t.Errorf("before the end (-want +got):\n%s", diff)
	}
}

func TestReceiptShapes(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		cost, currency string
		want           int64 // negative: none
	}{
		{"0.0000005", "EUR", 1},
		{"0.00000049", "EUR", 0},
		{"1.5e-5", "EUR", 15},
		{"0", "EUR", 0},
		{"3", "EUR", 3_000_000},
		{"1e-999999999", "EUR", 0},
		{"1000001", "EUR", -1},
		{"1e999999999", "EUR", -1},
		{"-1", "EUR", -1},
		{"null", "EUR", -1},
		{`"0.5"`, "EUR", -1},
		{`{"total":1}`, "EUR", -1},
		{"0.5", "-", -1},
		{"0.5", "", -1}, // the peer is not OpenRouter
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			send(w, textChunk("a"), finishChunk("stop"), usageChunk(`{"prompt_tokens":1,"cost":`+c.cost+`}`), "[DONE]")
		})
		events, err := stream(t, p.model(t, openai.Config{ReceiptCurrency: c.currency}), spool.ModelRequest{})
		if err != nil {
			t.Fatalf("%s: %v", c.cost, err)
		}
		got := finishOf(t, events).Cost
		switch {
		case c.want < 0 && got != nil, c.want >= 0 && (got == nil || got.Micros != c.want || got.Currency != c.currency):
			t.Errorf("%s of the currency %q: %+v, want %d", c.cost, c.currency, got, c.want)
		}
	}
}

// An answer that is cut after its usage has said what it used. One that is cut before
// has not, and nothing stands for that.
func TestUsageOfCutAnswer(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name   string
		chunks []string
		seen   int
	}{
		{"Counted", []string{textChunk("a"), usageChunk(`{"prompt_tokens":7,"completion_tokens":1,"cost":0.5}`)}, 1},
		{"NotCounted", []string{textChunk("a")}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			p := newPeer(t, func(w http.ResponseWriter, r *http.Request, _ string) {
				send(w, c.chunks...)
				<-r.Context().Done()
			})
			ctx, cancel := context.WithCancel(testwait.Context(t, "the usage"))
			defer cancel()
			var seen []spool.UsageSeen
			var finished bool
			for event, err := range p.model(t, openai.Config{ReceiptCurrency: "USD"}).Stream(ctx, spool.ModelRequest{}) {
				if err != nil {
					break
				}
				switch e := event.(type) {
				case spool.UsageSeen:
					seen = append(seen, e)
				case spool.Finish:
					finished = true
				}
				if len(seen) == c.seen {
					cancel()
				}
			}
			if finished || len(seen) != c.seen {
				t.Fatalf("finished %v, %d usages", finished, len(seen))
			}
			if c.seen > 0 && (*seen[0].Usage.Input != 7 || seen[0].Usage.CacheRead != nil || seen[0].Cost.Micros != 500_000) {
				t.Errorf("%+v", seen[0])
			}
		})
	}
}
