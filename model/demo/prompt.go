package demo

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spoolhq/spool"
)

// turn is the last prompt, and the messages after it.
type turn struct {
	prompt string
	images int
	files  int
	// stepsDone counts the steps with tool calls since the prompt.
	stepsDone int
	// results are the tool results of the last step.
	results []spool.Part
}

func lastTurn(messages []spool.Message) turn {
	var t turn
	for _, m := range messages {
		switch m.Role {
		case spool.RoleUser:
			t = turn{}
			for _, p := range m.Content {
				switch p.Type {
				case spool.PartImage:
					t.images++
				case spool.PartFile:
					t.files++
				case spool.PartText: // the last text, because a summary may precede it
					t.prompt = strings.TrimSpace(p.Text)
				default:
				}
			}
		case spool.RoleAssistant:
			t.results = nil
			if len(m.ToolCalls()) > 0 {
				t.stepsDone++
			}
		case spool.RoleTool:
			t.results = append(t.results, m.ToolResults()...)
		case spool.RoleSystem:
		}
	}
	return t
}

// request is one "use <tool> with <args>" of a prompt.
type request struct{ tool, args string }

var (
	useExpr  = regexp.MustCompile(`(?i)^\s*(?:please\s+)?use\s+([A-Za-z0-9_-]{1,64})`)
	withExpr = regexp.MustCompile(`(?i)^\s+with\s+`)
	andExpr  = regexp.MustCompile(`(?i)^\s*,?\s*and\s+`)
	thenExpr = regexp.MustCompile(`(?i)^\s*,?\s*then\s+`)
	nextExpr = regexp.MustCompile(`(?i)\s(?:and|then)\s+use\s`)
	askExpr  = regexp.MustCompile(`(?i)^\s*(?:please\s+)?ask\s+([A-Za-z0-9_-]{1,64})\s+to\s+`)
	moreExpr = regexp.MustCompile(`(?i)\s*,?\s+(?:and|then)\s+ask\s+[A-Za-z0-9_-]{1,64}\s+to\s`)
)

// spawnTool is the tool with which an agent spawns a nested run.
const spawnTool = "spawnSubagent"

// parse returns the steps that a prompt asks for, each with its calls. It returns none unless the
// prompt starts with "use" or, if asks is true, with "ask".
func parse(prompt string, asks bool) [][]request {
	var steps [][]request
	step := []request(nil)
	for remaining := prompt; ; {
		call, after, ok := parseAsk(remaining)
		if !ok || !asks {
			call, after, ok = parseUse(remaining)
		}
		if !ok {
			break
		}
		step = append(step, call)
		if m := andExpr.FindString(after); m != "" {
			remaining = after[len(m):]
			continue
		}
		steps, step = append(steps, step), nil
		m := thenExpr.FindString(after)
		if m == "" {
			break
		}
		remaining = after[len(m):]
	}
	if len(step) > 0 {
		steps = append(steps, step)
	}
	return steps
}

// parseAsk reads one "ask <name> to <brief>", and returns the rest of the text. The brief ends at the
// next "ask".
func parseAsk(text string) (request, string, bool) {
	m := askExpr.FindStringSubmatch(text)
	if m == nil {
		return request{}, "", false
	}
	brief, remaining := text[len(m[0]):], ""
	if at := moreExpr.FindStringIndex(brief); at != nil {
		brief, remaining = brief[:at[0]], brief[at[0]:]
	}
	args, err := json.Marshal(map[string]string{"name": m[1], "instructions": strings.TrimSpace(brief)})
	return request{tool: spawnTool, args: string(args)}, remaining, err == nil
}

// parseUse reads one "use <tool> with <args>", and returns the rest of the text. Arguments that are not
// JSON end at the next "use", and are passed on unchanged.
func parseUse(text string) (request, string, bool) {
	m := useExpr.FindStringSubmatch(text)
	if m == nil {
		return request{}, "", false
	}
	call, remaining := request{tool: m[1], args: "{}"}, text[len(m[0]):]
	with := withExpr.FindString(remaining)
	if with == "" {
		return call, remaining, true
	}
	remaining = remaining[len(with):]

	var value json.RawMessage
	d := json.NewDecoder(strings.NewReader(remaining))
	if err := d.Decode(&value); err == nil {
		call.args = string(value)
		return call, remaining[d.InputOffset():], true
	}
	end := len(remaining)
	if at := nextExpr.FindStringIndex(remaining); at != nil {
		end = at[0]
	}
	call.args = strings.TrimSpace(remaining[:end])
	return call, remaining[end:], true
}

// summary returns the length of a conversation, and the beginning of each prompt.
func summary(messages []spool.Message) string {
	var prompts []string
	lines := 0
	for _, m := range messages {
		for line := range strings.Lines(m.Text()) {
			lines++
			if prompt, ok := strings.CutPrefix(line, "user: "); ok {
				prompts = append(prompts, cutShort(prompt))
			}
		}
	}
	return fmt.Sprintf("Summary of %d entries. The user said: %s", lines, strings.Join(prompts, " "))
}

// cutShort returns the beginning of a text that is encoded as a JSON string.
func cutShort(prompt string) string {
	var text string
	if json.Unmarshal([]byte(prompt), &text) != nil {
		return ""
	}
	if runes := []rune(text); len(runes) > 24 {
		text = string(runes[:23]) + "…"
	}
	return "“" + text + "”"
}
