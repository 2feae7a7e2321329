package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/spoolhq/spool/internal/knownmodel"
	"github.com/spoolhq/spool/price"
)

// makers are the providers whose own models are read, and Groq, which has prices for open ones.
var makers = []string{"openai", "anthropic", "gemini", "xai", "deepseek", "mistral", "moonshot", "zai", "groq"}

var (
	// other matches models that are not asked in text alone, or that charge for more than tokens.
	other = regexp.MustCompile(`audio|realtime|tts|transcribe|image|search|live|robotics|computer-use|omni|^ft:|vision-beta|-exp-|deep-research|guard|ocr|learnlm|lyria|gemini-gemma`)
	// retired matches models that only clouds have any more. The others of the clouds have the prices of their makers.
	retired = regexp.MustCompile(`^anthropic\.claude-3-5-`)
	// long matches the field with the rate of long prompts.
	long = regexp.MustCompile(`^input_cost_per_token_above_([0-9]+)k_tokens$`)
)

// model is an entry of the public table.
type model struct {
	name, maker string
	// numbers has the fields that are numbers.
	numbers map[string]float64
}

// read returns the models that the tables have.
func read(text []byte) ([]model, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, err
	}
	var models []model
	for name, entry := range entries {
		var kind struct {
			Maker string `json:"litellm_provider"` //nolint:tagliatelle // the name of the public table
			Mode  string `json:"mode"`
		}
		var fields map[string]any
		if json.Unmarshal(entry, &kind) != nil || json.Unmarshal(entry, &fields) != nil { // not a model
			continue
		}
		m := model{name: strings.TrimPrefix(name, kind.Maker+"/"), maker: kind.Maker, numbers: make(map[string]float64)}
		switch {
		case retired.MatchString(name):
			m.name, m.maker = knownmodel.Plain(name), "anthropic"
			maps.DeleteFunc(fields, func(field string, _ any) bool {
				return strings.Contains(field, "_above_") || field == "max_input_tokens"
			}) // their window is not that long
		case !slices.Contains(makers, m.maker), kind.Mode != "chat" && kind.Mode != "responses", other.MatchString(name):
			continue
		}
		for field, value := range fields {
			if n, ok := value.(float64); ok {
				m.numbers[field] = n
			}
		}
		models = append(models, m)
	}
	slices.SortFunc(models, func(a, b model) int { // shorter names first
		if len(a.name) != len(b.name) {
			return len(a.name) - len(b.name)
		}
		return strings.Compare(a.name+" "+a.maker, b.name+" "+b.maker)
	})
	return models, nil
}

// rates returns the rates of models. A dated name with the rates of the undated one is left out, because it is found
// without its date.
func rates(models []model) map[string]price.Rates {
	all := make(map[string]price.Rates)
	for _, m := range models {
		r, ok := m.rates("", "")
		if !ok {
			continue
		}
		if step := m.step(); step > 0 {
			if l, ok := m.rates(fmt.Sprintf("_above_%dk_tokens", step), ""); ok && l.Input != r.Input {
				fill(&l, r)
				r.Long = &price.LongRates{Above: step * 1000, Rates: l}
			}
		}
		for tier, suffix := range map[string]string{"flex": "_flex", "priority": "_priority", "batch": "_batches"} {
			if t, ok := m.rates("", suffix); ok && plausible(t.Input, r.Input) && plausible(t.Output, r.Output) {
				fill(&t, r)
				if r.Long != nil {
					l := price.Rates{Input: scaled(r.Long.Input, t.Input, r.Input), Output: scaled(r.Long.Output, t.Output, r.Output)}
					fill(&l, r.Long.Rates)
					t.Long = &price.LongRates{Above: r.Long.Above, Rates: l}
				}
				if r.Tiers == nil {
					r.Tiers = make(map[string]price.Rates)
				}
				r.Tiers[tier] = t
			}
		}
		if undated, ok := all[knownmodel.Undated(m.name)]; ok && undated.Input == r.Input && undated.Output == r.Output {
			continue
		}
		if undated := knownmodel.Undated(m.name); m.maker == "anthropic" {
			m.name = undated // each has one price
		}
		all[m.name] = r
	}
	return all
}

// step returns the size of a prompt above which the model has other rates, in thousands of tokens. Zero: none.
func (m model) step() (size int64) {
	for field := range m.numbers {
		if parts := long.FindStringSubmatch(field); parts != nil {
			var n int64
			if _, err := fmt.Sscan(parts[1], &n); err == nil && (size == 0 || n < size) {
				size = n
			}
		}
	}
	return size
}

// rates returns the rates in the fields with a suffix, or false if the input or the output has none.
func (m model) rates(above, tier string) (r price.Rates, ok bool) {
	rate := func(field string) *price.PerMillion {
		n, ok := m.numbers[field+above+tier]
		if !ok {
			return nil
		}
		p := price.PerMillion(math.Round(n * 1e12)) // of a millionth, for a million
		return &p
	}
	input, output := rate("input_cost_per_token"), rate("output_cost_per_token")
	if input == nil || output == nil {
		return r, false
	}
	r = price.Rates{
		Input: *input, Output: *output, CacheRead: rate("cache_read_input_token_cost"),
		CacheWrite: rate("cache_creation_input_token_cost"),
	}
	if r.CacheWrite != nil && *r.CacheWrite == 0 { // not said
		r.CacheWrite = nil
	}
	if p := rate("output_cost_per_reasoning_token"); p != nil && *p != r.Output {
		r.Reasoning = p
	}
	if m.maker == "anthropic" && r.CacheWrite != nil { // all of its models have this factor, and some entries are wrong
		hour := 2 * r.Input
		r.CacheWriteHour = &hour
	}
	return r, true
}

// plausible reports whether a rate of a service tier is one: some entries are slips.
func plausible(tier, standard price.PerMillion) bool { return tier >= standard/4 && tier <= 4*standard }

// scaled returns a rate, changed as the rate before was changed to the rate after.
func scaled(p, after, before price.PerMillion) price.PerMillion {
	return price.PerMillion(math.Round(float64(p) * float64(after) / float64(before)))
}

// fill gives rates the rates of caches that they lack, from the standard ones.
func fill(r *price.Rates, standard price.Rates) {
	for _, rate := range []struct{ to, from **price.PerMillion }{
		{&r.CacheRead, &standard.CacheRead},
		{&r.CacheWrite, &standard.CacheWrite},
		{&r.CacheWriteHour, &standard.CacheWriteHour},
	} {
		if from := *rate.from; *rate.to == nil && from != nil {
			p := scaled(*from, r.Input, standard.Input)
			*rate.to = &p
		}
	}
}
