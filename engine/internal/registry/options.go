package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/store"
)

// maxProviderOptions bounds the provider options of a start, in bytes.
const maxProviderOptions = 16 << 10

// engineOptions lists request fields that only the engine sets, because they decide what the model
// reads, what an answer may cost, and how it is decoded.
var engineOptions = []string{
	"model", "messages", "tools", "stream", "stream_options", "n",
	"max_tokens", "max_completion_tokens", "max_output_tokens", "prompt_cache_key",
}

// checkProviderOptions refuses an agent whose ProviderOptions names an engine option.
func (a *Agent) checkProviderOptions() error {
	for i, name := range a.ProviderOptions {
		switch {
		case name == "":
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has an empty name in ProviderOptions", a.Name)
		case slices.Contains(engineOptions, name):
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has %q in ProviderOptions, which only the engine sets",
				a.Name, name)
		case slices.Contains(a.ProviderOptions[:i], name):
			return spool.Errorf(spool.Invalid, "Config.Agents: agent %q has %q in ProviderOptions twice", a.Name, name)
		}
	}
	return nil
}

// AllowedOptions validates the provider options of a start. It leaves out those that the agent does not allow, and
// returns a warning about them; if strict, it refuses the first of them. It returns nil if no options are left.
func AllowedOptions(
	agent *Agent, text json.RawMessage, strict bool,
) (allowed json.RawMessage, warning string, err error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || string(text) == "null" {
		return nil, "", nil
	}
	if len(text) > maxProviderOptions {
		return nil, "", spool.Errorf(spool.Invalid, "providerOptions is longer than %d bytes", maxProviderOptions)
	}
	if err := spool.CheckJSON("providerOptions", text); err != nil {
		return nil, "", err
	}
	var options map[string]json.RawMessage
	if json.Unmarshal(text, &options) != nil {
		return nil, "", spool.Errorf(spool.Invalid, "providerOptions must be an object")
	}
	if err := strictjson.Check(text, options); err != nil {
		return nil, "", spool.Errorf(spool.Invalid, "providerOptions.%s", spool.MessageOf(err))
	}
	var ignored []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if slices.Contains(agent.ProviderOptions, name) {
			continue
		}
		if strict {
			return nil, "", spool.Errorf(spool.Invalid, "providerOptions.%s is not allowed by the configuration of the agent %q",
				name, agent.Name)
		}
		ignored = append(ignored, name)
		delete(options, name)
	}
	if len(ignored) > 0 {
		warning = fmt.Sprintf("ignored of providerOptions, because the configuration of the agent %q does not allow it: %s",
			agent.Name, listed(ignored))
		text, err = json.Marshal(options)
	}
	if len(options) == 0 {
		text = nil
	}
	return text, warning, err
}

// listed returns names for a warning, which is short whatever a client has sent.
func listed(names []string) string {
	const most, longest = 10, 50
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		if runes := []rune(name); len(runes) > longest {
			name = string(runes[:longest]) + "..."
		}
		quoted = append(quoted, strconv.QuoteToASCII(name))
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(quoted, ", "), more)
	}
	return strings.Join(quoted, ", ")
}

// Extra returns the fields to merge into a run's provider requests. The start's fields override the
// agent's.
func Extra(agent *Agent, run store.RunRow) map[string]any {
	options := OptionsOf(agent, run)
	if len(options) == 0 {
		return agent.Extra
	}
	merged := maps.Clone(agent.Extra)
	if merged == nil {
		merged = make(map[string]any)
	}
	d := json.NewDecoder(bytes.NewReader(options))
	d.UseNumber() // the provider gets each number as the client sent it
	_ = d.Decode(&merged)
	return merged
}
