package history

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/store"
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
		r.Messages = append(r.Messages, spool.Message{
			Role: spool.RoleUser, Content: spool.TextContent(strings.Repeat(text+" ", 20)),
		})
	}
	return r
}

// TestEstimateGuessed bounds the error of an estimate before the first count.
func TestEstimateGuessed(t *testing.T) {
	t.Parallel()

	for _, s := range scripts(t) {
		got := NewMeter(nil).Of(Weigh(turns(s.Text, 10)))
		newer, older := float64(got)/float64(200*s.Newer), float64(got)/float64(200*s.Older)
		if newer < 0.9 || newer > 2 || older < 0.6 || older > 2 {
			t.Errorf("%s: the guess is %.2f of the count of the newer tokenizer, and %.2f of the older one's", s.Name, newer,
				older)
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
			m := NewMeter(&store.ContextCount{Tokens: 10 * count(counted), Bytes: before.Bytes})
			if got := m.Of(before); got != 10*count(counted) {
				t.Errorf("%s, %s tokenizer: what was counted as %d is estimated as %d", counted.Name, tokenizer, 10*count(counted),
					got)
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
		return NewMeter(&store.ContextCount{Tokens: tokens, Bytes: bytes, Images: images})
	}
	for name, c := range map[string]struct {
		m    Meter
		w    Weight
		want int64
	}{
		"shorter than counted":     {counted(1000, 4000, 0), Weight{Bytes: 2000, Images: 0}, 500},
		"with an image":            {counted(1000, 4000, 0), Weight{Bytes: 4000, Images: 1}, 1000 + imageTokens},
		"images were counted":      {counted(1000+imageTokens, 4000, 1), Weight{Bytes: 8000, Images: 1}, 2000 + imageTokens},
		"an image that was cheap":  {counted(1085, 4000, 1), Weight{Bytes: 4400, Images: 1}, 1085 + 40},
		"nothing cached counted":   {counted(7, 40_000, 0), Weight{Bytes: 40_000, Images: 0}, 4000},
		"more tokens than bytes":   {counted(9000, 3000, 0), Weight{Bytes: 3100, Images: 0}, 9100},
		"guessed":                  {NewMeter(nil), Weight{Bytes: 3000, Images: 2}, 1000 + 2*imageTokens},
		"nothing was counted":      {counted(0, 3000, 0), Weight{Bytes: 3000, Images: 0}, 1000},
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
		"text":            {part(spool.Part{Type: spool.PartText, Text: "abc"}), 3},
		"reasoning":       {part(spool.Part{Type: spool.PartReasoning, Text: "abc"}), 0},
		"reasoning, sent": {part(spool.Part{Type: spool.PartReasoning, Text: "abc", Provider: json.RawMessage(`{}`)}), 3},
		"reasoning, signed": {
			part(spool.Part{Type: spool.PartReasoning, Text: "abc", Provider: json.RawMessage(`{"a":"0123456789"}`)}), 13,
		},
		"result": {
			part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`{"a":1}`)}), size(`{"a":1}`) + toolBytes,
		},
		"result of text": {
			part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"a\n\"b\""`)}), size("a\n\"b\"") + toolBytes,
		},
		"result with escape": {
			part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"\u003cb"`)}), size("<b") + toolBytes,
		},
		"broken result": {
			part(spool.Part{Type: spool.PartToolResult, Result: json.RawMessage(`"\`)}), size(`"\`) + toolBytes,
		},
		"call": {
			part(spool.Part{Type: spool.PartToolCall, ToolName: "ab", Args: json.RawMessage(`{}`)}),
			size("ab") + size("{}") + toolBytes,
		},
		"instructions": {Weigh(spool.ModelRequest{Instructions: "a b c d"}).Bytes, size("a b c d")},
		"text file": {
			part(spool.Part{Type: spool.PartFile, File: "data:text/plain;base64,MSwyLDMsNA"}),
			size("The file \"without a name\":\n\n1,2,3,4\n"),
		},
		"broken file": {part(spool.Part{Type: spool.PartFile, File: "data:text/plain;base64,@"}), 18},
		"image of a result": {
			Weigh(spool.ModelRequest{
				Messages: []spool.Message{
					{
						Content: spool.Content{
							{Type: spool.PartToolResult, Result: json.RawMessage(`{"artifact":{"id":"a","mediaType":"image/png"}}`)},
						},
					},
				},
			}).Images,
			1,
		},
		"tool": {
			Weigh(spool.ModelRequest{
				Tools: []spool.ToolSpec{{Name: "a", Description: "bc", Parameters: json.RawMessage(`{}`)}},
			}).Bytes,
			size("a") + size("bc") + size("{}") + toolBytes,
		},
	} {
		if c.got != c.want {
			t.Errorf("%s weighs %d, want %d", name, c.got, c.want)
		}
	}
}

// A loop weighs what is around its messages again only if it has changed.
func TestAround(t *testing.T) {
	t.Parallel()

	var around Around
	tools := []spool.ToolSpec{{Name: "a", Description: "bc", Parameters: json.RawMessage(`{}`)}}
	for _, r := range []spool.ModelRequest{
		{Instructions: "do it", Tools: tools},
		{Instructions: "do it", Tools: slices.Clone(tools), Messages: []spool.Message{{Content: spool.TextContent("hi")}}},
		{Instructions: "do it now", Tools: tools},
		{
			Instructions: "do it now",
			Tools:        []spool.ToolSpec{{Name: "a", Description: "bc", Parameters: json.RawMessage(`{"type":"object"}`)}},
		},
		{Instructions: "do it now"},
		{},
	} {
		if got, want := around.Weigh(r), WeighAround(r); got != want {
			t.Errorf("%+v weighs %+v, want %+v", r, got, want)
		}
	}
}

// A count that is less than half of what every provider reads is not believed.
func TestDenies(t *testing.T) {
	t.Parallel()

	text := strings.Repeat("one two three four. ", 1000)
	said := Weigh(spool.ModelRequest{Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(text)}}})
	tool := Weigh(spool.ModelRequest{Tools: []spool.ToolSpec{{Name: "a", Description: text}}})
	signed := Weigh(spool.ModelRequest{
		Messages: []spool.Message{{Content: spool.Content{{Type: spool.PartReasoning, Provider: json.RawMessage(text)}}}},
	})
	least := size(text) / guessedBytes / 2
	for name, c := range map[string]struct {
		w      Weight
		tokens int64
		want   bool
	}{
		"half":               {said, least, false},
		"less than half":     {said, least - 1, true},
		"nothing":            {said, 0, true},
		"a tool":             {tool, 0, false},
		"what was reasoned":  {signed, 0, false},
		"a short prompt":     {Weight{Bytes: 5999, PlainBytes: 5999}, 0, false},
		"just long enough":   {Weight{Bytes: 6000, PlainBytes: 6000}, 999, true},
		"long enough, count": {Weight{Bytes: 6000, PlainBytes: 6000}, 1000, false},
	} {
		if got := c.w.Denies(c.tokens); got != c.want {
			t.Errorf("%s: %t", name, got)
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

func (s sized) Describe() spool.ModelInfo { return spool.ModelInfo{ContextWindow: s.window} }

func (l lookup) Describe() spool.ModelInfo {
	return spool.ModelInfo{KnownWindow: func(string) int { return l.window }}
}

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
		"the model knows best": {
			sized{window: 100_000}, "m", 0, Context{Windows: map[string]int{"m": 50_000}}, 84_000, 67_200,
		},
		"looked up": {lookup{window: 128_000}, "m", 0, Context{}, 112_000, 89_600},
		"not looked up": {
			lookup{window: 128_000}, "m", 0, Context{Windows: map[string]int{"m": 50_000}}, 37_500, 30_000,
		},
		"looked up in vain":  {lookup{}, "m", 0, Context{}, 249_000, 199_200},
		"a long answer":      {sized{window: 100_000}, "m", 20_000, Context{}, 80_000, 64_000},
		"too long an answer": {sized{window: 100_000}, "m", 90_000, Context{}, 75_000, 60_000},
		"other settings": {
			sized{window: 100_000},
			"m", 0,
			Context{Ceiling: 50_000, OutputReserve: 10_000, CompactionTrigger: 0.5},
			40_000,
			20_000,
		},
		"never": {sized{window: 100_000}, "m", 0, Context{CompactionTrigger: -1}, 84_000, 0},
	} {
		o := option.Context(c.limits)
		if err := option.Fill(&o); err != nil {
			t.Fatal(err)
		}
		if got := Context(o).LimitsOf(c.called, c.model, c.maxOutput); got.Budget != c.budget || got.At != c.at {
			t.Errorf("%s: %+v, want %d, compacted at %d", name, got, c.budget, c.at)
		}
	}
}
