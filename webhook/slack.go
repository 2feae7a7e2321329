package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/spoolhq/spool/wire"
)

// The bounds of texts of a message, in the UTF-16 units that the escaped text has. Slack allows 150 in a header, 3,000
// in a section and 2,000 in a field; ours are smaller where the bound of a body asks for it.
const (
	maxSlackHeader = 150
	maxSlackText   = 2_000
	maxSlackField  = 150
	maxSlackFields = 10
)

// The objects of a message. Slack calls its blocks and elements by their types.
type (
	slackBody struct {
		Text   string       `json:"text"` // Notifications and clients without blocks show it.
		Blocks []slackBlock `json:"blocks"`
	}
	slackBlock struct {
		Type     string         `json:"type"`
		Text     *slackText     `json:"text,omitempty"`
		Fields   []slackText    `json:"fields,omitempty"`
		Elements []slackElement `json:"elements,omitempty"`
	}
	slackElement struct {
		Type  string    `json:"type"`
		Text  slackText `json:"text"`
		URL   string    `json:"url"`
		Style string    `json:"style"`
	}
	slackText struct {
		Type string `json:"type"`
		Text string `json:"text"`
		// Verbatim keeps Slack from making links of addresses, and mentions of names, in what models write.
		Verbatim bool `json:"verbatim,omitempty"`
	}
)

// slackTitles are the first lines of messages.
var slackTitles = map[wire.WebhookType]string{
	wire.WebhookRunStarted:       "A run has started",
	wire.WebhookRunWaiting:       "A run waits for an answer",
	wire.WebhookRunExpiring:      "The time to answer is nearly over",
	wire.WebhookRunExpired:       "Nobody answered in time",
	wire.WebhookRunBudgetReached: "A run has used up a budget",
	wire.WebhookRunHandedOver:    "Another agent has taken a thread over",
	wire.WebhookRunCompleted:     "A run has completed",
	wire.WebhookRunFailed:        "A run has failed",
	wire.WebhookRunCancelled:     "A run was stopped",
	wire.WebhookThreadDeleted:    "A thread was deleted",
	wire.WebhookSchedulePaused:   "A schedule has paused",
}

// slackMessage returns an event as one message. It has a header, a sentence, the fields of the event, and a button with
// the link.
func slackMessage(e wire.WebhookEvent) []byte {
	d := e.Data
	title := slackTitles[e.Type]
	if title == "" {
		title = slackEscape(string(e.Type), maxSlackHeader)
	}
	if e.Test {
		title = "A test: " + title
	}
	message := slackBody{Text: title, Blocks: []slackBlock{
		{Type: "header", Text: &slackText{Type: "plain_text", Text: title}},
	}}
	says := slackSays(d)
	if short := slackEscape(says, maxSlackField); short != "" {
		message.Text += ": " + short
	}
	for _, text := range []string{says, d.Text} {
		if text = slackEscape(text, maxSlackText); text != "" {
			message.Blocks = append(message.Blocks, slackBlock{
				Type: "section", Text: &slackText{Type: "mrkdwn", Text: text, Verbatim: true},
			})
		}
	}
	if fields := slackFields(d); len(fields) > 0 {
		message.Blocks = append(message.Blocks, slackBlock{Type: "section", Fields: fields})
	}
	if d.Link != "" {
		message.Blocks = append(message.Blocks, slackBlock{Type: "actions", Elements: []slackElement{{
			Type: "button", Text: slackText{Type: "plain_text", Text: "Answer"}, URL: d.Link, Style: "primary",
		}}})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(message); err != nil {
		panic("spool: encode a message for Slack: " + err.Error()) // texts only
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// slackSays returns what the event is about, in a sentence without markup.
func slackSays(d wire.WebhookData) string {
	switch {
	case d.Question != nil && d.Question.ToolName == "":
		return "The run asks: " + d.Question.Reason
	case d.Question != nil:
		return d.Question.ToolName + " waits: " + d.Question.Reason
	case d.HandedOver != nil:
		return d.HandedOver.From + " handed over to " + d.HandedOver.To
	case d.Schedule != nil:
		return d.Schedule.Name + ": " + d.Schedule.Reason
	default:
		return d.Error
	}
}

// slackFields returns the fields of a message that its event has.
func slackFields(d wire.WebhookData) []slackText {
	var fields []slackText
	add := func(name, value string) {
		if value != "" && len(fields) < maxSlackFields {
			fields = append(fields, slackText{Type: "mrkdwn", Text: "*" + name + "*\n" + value, Verbatim: true})
		}
	}
	text := func(name, value string) { add(name, slackEscape(value, maxSlackField)) }
	text("Agent", d.Agent)
	text("Thread", string(d.ThreadID))
	text("Run", string(d.RunID))
	text("State", string(d.State))
	if q := d.Question; q != nil && !q.ExpiresAt.IsZero() {
		add("Until", slackDate(q.ExpiresAt))
	}
	text("Stop reason", string(d.StopReason))
	text("Budget", string(d.Budget))
	labels := make([]string, 0, len(d.Labels))
	for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
		labels = append(labels, key+"="+d.Labels[key])
	}
	text("Labels", strings.Join(labels, ", "))
	return fields
}

// slackDate returns a time that Slack shows in the zone of who reads it.
func slackDate(at time.Time) string {
	fallback := at.UTC().Format("2006-01-02 15:04 UTC")
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", at.Unix(), fallback)
}

// slackEscape returns a text that Slack shows as it is, with at most so many units. Control characters but line breaks
// are left out, as is white space around it, and a text that is cut ends with an ellipsis. What gives letters their
// style stays: it changes no more than how the text looks.
func slackEscape(text string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r):
			return -1
		default:
			return r
		}
	}, text)
	var b strings.Builder
	room := limit - 1 // for the ellipsis
	for _, r := range strings.TrimSpace(clean) {
		piece := string(r)
		switch r {
		case '&':
			piece = "&amp;"
		case '<':
			piece = "&lt;"
		case '>':
			piece = "&gt;"
		}
		size := len(piece)
		if piece[0] >= 0x80 {
			size = utf16.RuneLen(r)
		}
		if room -= size; room < 0 {
			return b.String() + "…"
		}
		b.WriteString(piece)
	}
	return b.String()
}
