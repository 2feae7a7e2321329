package engine

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
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

// TestEstimateGuessed states how wrong a guess may be before anything was counted.
func TestEstimateGuessed(t *testing.T) {
	t.Parallel()

	for _, s := range scripts(t) {
		got := newMeter(nil).of(weigh(turns(s.Text, 10)))
		for tokenizer, each := range map[string]int64{"older": s.Older, "newer": s.Newer} {
			if factor := float64(got) / float64(each*200); factor < 0.7 || factor > 2.5 {
				t.Errorf("%s, %s tokenizer: the guess is %.2f times too much", s.Name, tokenizer, factor)
			}
		}
	}
}

// TestEstimateCounted states how wrong an estimate may be that goes on from a count: in the
// same script, and where what came since is in any other one.
func TestEstimateCounted(t *testing.T) {
	t.Parallel()

	all := scripts(t)
	for _, counted := range all {
		before := weigh(turns(counted.Text, 10))
		for tokenizer, count := range map[string]func(s script) int64{
			"older": func(s script) int64 { return s.Older * 20 },
			"newer": func(s script) int64 { return s.Newer * 20 },
		} {
			m := newMeter(&spool.ContextCount{Tokens: 10 * count(counted), Bytes: before.bytes})
			if got := m.of(before); got != 10*count(counted) {
				t.Errorf("%s, %s tokenizer: what was counted as %d is estimated as %d", counted.Name, tokenizer, 10*count(counted), got)
			}
			for _, grown := range all {
				w := before
				w.add(weigh(turns(grown.Text, 3)))
				got, want := m.of(w), 10*count(counted)+3*count(grown)
				wrong := math.Abs(float64(got-want)) / float64(want)
				bound := 0.35 // of the whole, where nearly a quarter of it is new
				if grown.Name == counted.Name {
					bound = 0.01
				}
				if wrong > bound {
					t.Errorf("%s behind %s, %s tokenizer: %d for %d", grown.Name, counted.Name, tokenizer, got, want)
				}
			}
		}
	}
}

func TestEstimateShapes(t *testing.T) {
	t.Parallel()

	counted := func(tokens, bytes, images int64) meter {
		return newMeter(&spool.ContextCount{Tokens: tokens, Bytes: bytes, Images: images})
	}
	for name, c := range map[string]struct {
		m    meter
		w    weight
		want int64
	}{
		"shorter than counted":     {counted(1000, 4000, 0), weight{2000, 0}, 500},
		"with an image":            {counted(1000, 4000, 0), weight{4000, 1}, 1000 + imageTokens},
		"images were counted":      {counted(1000+imageTokens, 4000, 1), weight{8000, 1}, 2000 + imageTokens},
		"an image that was cheap":  {counted(1085, 4000, 1), weight{4400, 1}, 1085 + 40},
		"nothing cached counted":   {counted(7, 40_000, 0), weight{40_000, 0}, 4000},
		"more tokens than bytes":   {counted(9000, 3000, 0), weight{3100, 0}, 9100},
		"guessed":                  {newMeter(nil), weight{3000, 2}, 1000 + 2*imageTokens},
		"nothing was counted":      {counted(0, 3000, 0), weight{3000, 0}, 1000},
		"nothing at all was asked": {newMeter(nil), weight{}, 0},
	} {
		if got := c.m.of(c.w); got != c.want {
			t.Errorf("%s: %d tokens, want %d", name, got, c.want)
		}
	}
}

func TestWeigh(t *testing.T) {
	t.Parallel()

	part := func(p spool.Part) int64 {
		return weighMessage(spool.Message{Content: spool.Content{p}}).bytes - messageBytes
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
		"instructions":       {weigh(spool.ModelRequest{Instructions: "abcd"}).bytes, 4},
		"tool":               {weigh(spool.ModelRequest{Tools: []spool.ToolSpec{{Name: "a", Description: "bc", Parameters: json.RawMessage(`{}`)}}}).bytes, 5 + toolBytes},
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
	named struct {
		nobody

		id string
	}
)

func (s sized) ContextWindow() int         { return s.window }
func (n named) Describe() (string, string) { return "openai", n.id }
func testEngine(change func(c *Config)) *Engine {
	c := Config{Agents: []Agent{{Name: "a", Model: "m"}}, Models: map[string]spool.Model{"m": nobody{}}}
	change(&c)
	c, _, err := c.check()
	if err != nil {
		panic(err)
	}
	return &Engine{config: c}
}

func TestRoom(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		model      spool.Model
		called     string
		maxOutput  int
		config     Config
		budget, at int64
	}{
		"nobody knows":          {nobody{}, "m", 0, Config{}, 249_000, 199_200},
		"the model knows":       {sized{window: 100_000}, "m", 0, Config{}, 84_000, 67_200},
		"a small window":        {sized{window: 8192}, "m", 0, Config{}, 6144, 4915},
		"a tiny window":         {sized{window: 4}, "m", 0, Config{}, 3, 2},
		"more than the ceiling": {sized{window: 2_000_000}, "m", 0, Config{}, 249_000, 199_200},
		"by the configuration":  {nobody{}, "m", 0, Config{Windows: map[string]int{"m": 50_000}}, 37_500, 30_000},
		"the model knows best":  {sized{window: 100_000}, "m", 0, Config{Windows: map[string]int{"m": 50_000}}, 84_000, 67_200},
		"well-known":            {nobody{}, "gpt-4o-mini", 0, Config{}, 112_000, 89_600},
		"by its provider":       {named{id: "gpt-4o-2024-11-20"}, "m", 0, Config{}, 112_000, 89_600},
		"behind a router":       {named{id: "anthropic/claude-sonnet-4.5"}, "m", 0, Config{}, 184_000, 147_200},
		"the longest name":      {nobody{}, "gpt-4.1-nano", 0, Config{ContextCeiling: 2_000_000}, 1_031_576, 825_260},
		"not well-known":        {named{id: "qwen3:8b"}, "m", 0, Config{}, 249_000, 199_200},
		"a long answer":         {sized{window: 100_000}, "m", 20_000, Config{}, 80_000, 64_000},
		"too long an answer":    {sized{window: 100_000}, "m", 90_000, Config{}, 75_000, 60_000},
		"other settings":        {sized{window: 100_000}, "m", 0, Config{ContextCeiling: 50_000, ContextOutputReserve: 10_000, CompactionTrigger: 0.5}, 40_000, 20_000},
		"never":                 {sized{window: 100_000}, "m", 0, Config{CompactionTrigger: -1}, 84_000, 0},
	} {
		e := testEngine(func(config *Config) {
			config.Windows, config.ContextCeiling = c.config.Windows, c.config.ContextCeiling
			config.ContextOutputReserve, config.CompactionTrigger = c.config.ContextOutputReserve, c.config.CompactionTrigger
		})
		if got := e.roomOf(c.called, c.model, c.maxOutput); got.budget != c.budget || got.at != c.at {
			t.Errorf("%s: %+v, want %d, compacted at %d", name, got, c.budget, c.at)
		}
	}
}

func TestProviderOptionsConfig(t *testing.T) {
	t.Parallel()

	for want, names := range map[string][]string{
		`Config.Agents: agent "a" has an empty name in ProviderOptions`:                            {"seed", ""},
		`Config.Agents: agent "a" has "messages" in ProviderOptions, which only the engine sets`:   {"messages"},
		`Config.Agents: agent "a" has "max_tokens" in ProviderOptions, which only the engine sets`: {"seed", "max_tokens"},
		`Config.Agents: agent "a" has "seed" in ProviderOptions twice`:                             {"seed", "seed"},
	} {
		c := Config{Agents: []Agent{{Name: "a", Model: "m", ProviderOptions: names}}, Models: map[string]spool.Model{"m": nobody{}}}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestContextConfig(t *testing.T) {
	t.Parallel()

	for want, c := range map[string]Config{
		`Config.CompactionModel is "x", which Config.Models lacks`:   {CompactionModel: "x"},
		`Config.CompactionTrigger is more than 1`:                    {CompactionTrigger: 1.1},
		`Config.ContextTailShare is not between 0 and 0.5`:           {ContextTailShare: 0.6},
		`Config.ContextTailShare is not less than CompactionTrigger`: {CompactionTrigger: 0.2},
		`Config.ContextCeiling is negative`:                          {ContextCeiling: -1},
		`Config.ContextOutputReserve is negative`:                    {ContextOutputReserve: -1},
		`Config.Windows["m"] is not positive`:                        {Windows: map[string]int{"m": 0}},
	} {
		c.Agents, c.Models = []Agent{{Name: "a", Model: "m"}}, map[string]spool.Model{"m": nobody{}}
		if _, _, err := c.check(); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
