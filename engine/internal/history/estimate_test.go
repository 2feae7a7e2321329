package history

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
)

// script is one sentence in a language, with the tokens that its provider published for two
// of its tokenizers.
type script struct {
	Name, Text   string
	Older, Newer int64
}

func scripts(t *testing.T) (all []script) {
	t.Helper()
	b, err := os.ReadFile("testdata/scripts.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// turns returns a prompt in which the text is said a number of times.
func turns(text string, times int) spool.ModelRequest {
	var r spool.ModelRequest
	for range times {
		r.Messages = append(r.Messages, spool.Message{Role: spool.RoleUser, Content: spool.TextContent(strings.Repeat(text+" ", 20))})
	}
	return r
}

// TestEstimateGuessed bounds the error of an estimate before the first count.
func TestEstimateGuessed(t *testing.T) {
	t.Parallel()

	for _, s := range scripts(t) {
		got := NewMeter(nil).Of(Weigh(turns(s.Text, 10)))
		for tokenizer, each := range map[string]int64{"older": s.Older, "newer": s.Newer} {
			if factor := float64(got) / float64(each*200); factor < 0.7 || factor > 2.5 {
				t.Errorf("%s, %s tokenizer: the guess is %.2f times too much", s.Name, tokenizer, factor)
			}
		}
	}
}

// TestEstimateCounted bounds the error of an estimate after a count, if the later text has the same
// script and if it has another one.
func TestEstimateCounted(t *testing.T) {
	t.Parallel()

	all := scripts(t)
	for _, counted := range all {
		before := Weigh(turns(counted.Text, 10))
		for tokenizer, count := range map[string]func(s script) int64{
			"older": func(s script) int64 { return s.Older * 20 },
			"newer": func(s script) int64 { return s.Newer * 20 },
		} {
			m := NewMeter(&spool.ContextCount{Tokens: 10 * count(counted), Bytes: before.Bytes})
			if got := m.Of(before); got != 10*count(counted) {
				t.Errorf("%s, %s tokenizer: what was counted as %d is estimated as %d", counted.Name, tokenizer, 10*count(counted), got)
			}
			for _, grown := range all {
				w := before
				w.Add(Weigh(turns(grown.Text, 3)))
				got, want := m.Of(w), 10*count(counted)+3*count(grown)
				wrong := math.Abs(float64(got-want)) / float64(want)
				bound := 0.35 // of the whole, where nearly a quarter of it is new
				if grown.Name == counted.Name {
					bound = 0.01
				}
				if wrong > bound {
					t.Errorf("%s after %s, %s tokenizer: %d for %d", grown.Name, counted.Name, tokenizer, got, want)
				}
			}
		}
	}
}

func TestEstimateShapes(t *testing.T) {
	t.Parallel()

	counted := func(tokens, bytes, images int64) Meter {
		return NewMeter(&spool.ContextCount{Tokens: tokens, Bytes: bytes, Images: images})
	}
	for name, c := range map[string]struct {
		m    Meter
		w    Weight
		want int64
	}{
		"shorter than counted":     {counted(1000, 4000, 0), Weight{2000, 0}, 500},
		"with an image":            {counted(1000, 4000, 0), Weight{4000, 1}, 1000 + imageTokens},
		"images were counted":      {counted(1000+imageTokens, 4000, 1), Weight{8000, 1}, 2000 + imageTokens},
		"an image that was cheap":  {counted(1085, 4000, 1), Weight{4400, 1}, 1085 + 40},
		"nothing cached counted":   {counted(7, 40_000, 0), Weight{40_000, 0}, 4000},
		"more tokens than bytes":   {counted(9000, 3000, 0), Weight{3100, 0}, 9100},
		"guessed":                  {NewMeter(nil), Weight{3000, 2}, 1000 + 2*imageTokens},
		"nothing was counted":      {counted(0, 3000, 0), Weight{3000, 0}, 1000},
		"nothing at all was asked": {NewMeter(nil), Weight{}, 0},
	} {
		if got := c.m.Of(c.w); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()

	part := func(p spool.Part) int64 {
		return weighMessage(spool.Message{Content: spool.Content{p}}).Bytes - messageBytes
	}
	for name, c := range map[string]struct{ got, want int64 }{
		"text":               {part(spool.Part{Type: spool.PartText, Text: "abc"}), 3},
		"reasoning":          {part(spool.Part{Type: spool.PartReasoning, Text: "abc"}), 0},
		"reasoning, sent":    {part(spool.Part{Type: spool.PartReasoning, Text: "abc", Provider: json.RawMessage(`{}`)}), 3},
		"result":             {part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`{"a":1}`)}), 7 + toolBytes},
		"result of text":     {part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"a\n\"b\""`)}), 5 + toolBytes},
		"result with escape": {part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"\u003cb"`)}), 3 + toolBytes},
		"broken result":      {part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"\`)}), toolBytes},
		"call":               {part(spool.Part{Type: spool.PartToolCall, ToolName: "ab", Args: json.RawMessage(`{}`)}), 4 + toolBytes},
		"instructions":       {Weigh(spool.ModelRequest{Instructions: "abcd"}).Bytes, 4},
		"image of a result":  {Weigh(spool.ModelRequest{Messages: []spool.Message{{Content: spool.Content{{Type: spool.PartToolResult, Result: json.RawMessage(`{"artifact":{"id":"a","mediaType":"image/png"}}`)}}}}}).Images, 1},
		"tool":               {Weigh(spool.ModelRequest{Tools: []spool.ToolSpec{{Name: "a", Description: "bc", Parameters: json.RawMessage(`{}`)}}}).Bytes, 5 + toolBytes},
	} {
		if c.got != c.want {
			t.Errorf("%s weighs %d, want %d", name, c.got, c.want)
		}
	}
}

// nobody is a model that says nothing of itself, sized one that knows its window, and named
// one that knows its name.
type (
	nobody struct{ spool.Model }
	sized  struct {
		nobody

		window int
	}
	lookup struct {
		nobody

		window int
	}
)

func (s sized) ContextWindow() int       { return s.window }
func (l lookup) LookupWindow(string) int { return l.window }

func TestRoom(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		model      spool.Model
		called     string
		maxOutput  int
		limits     Context
		budget, at int64
	}{
		"nobody knows":          {nobody{}, "m", 0, Context{}, 249_000, 199_200},
		"the model knows":       {sized{window: 100_000}, "m", 0, Context{}, 84_000, 67_200},
		"a small window":        {sized{window: 8192}, "m", 0, Context{}, 6144, 4915},
		"a tiny window":         {sized{window: 4}, "m", 0, Context{}, 3, 2},
		"more than the ceiling": {sized{window: 2_000_000}, "m", 0, Context{}, 249_000, 199_200},
		"by the configuration":  {nobody{}, "m", 0, Context{Windows: map[string]int{"m": 50_000}}, 37_500, 30_000},
		"the model knows best":  {sized{window: 100_000}, "m", 0, Context{Windows: map[string]int{"m": 50_000}}, 84_000, 67_200},
		"looked up":             {lookup{window: 128_000}, "m", 0, Context{}, 112_000, 89_600},
		"not looked up":         {lookup{window: 128_000}, "m", 0, Context{Windows: map[string]int{"m": 50_000}}, 37_500, 30_000},
		"looked up in vain":     {lookup{}, "m", 0, Context{}, 249_000, 199_200},
		"a long answer":         {sized{window: 100_000}, "m", 20_000, Context{}, 80_000, 64_000},
		"too long an answer":    {sized{window: 100_000}, "m", 90_000, Context{}, 75_000, 60_000},
		"other settings":        {sized{window: 100_000}, "m", 0, Context{Ceiling: 50_000, OutputReserve: 10_000, CompactionTrigger: 0.5}, 40_000, 20_000},
		"never":                 {sized{window: 100_000}, "m", 0, Context{CompactionTrigger: -1}, 84_000, 0},
	} {
		o := config.ContextOptions(c.limits)
		if err := config.Fill(&o); err != nil {
			t.Fatal(err)
		}
		if got := Context(o).LimitsOf(c.called, c.model, c.maxOutput); got.Budget != c.budget || got.At != c.at {
			t.Errorf("%s: %+v, want %d, compacted at %d", name, got, c.budget, c.at)
		}
	}
}
