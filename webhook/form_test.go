package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

func newForm(t *testing.T, c webhook.FormConfig) *webhook.Form {
	t.Helper()

	f, err := webhook.NewForm(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func payload(t *testing.T, e wire.WebhookEvent) []byte {
	t.Helper()

	p, err := wire.EncodeWebhook(e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sample returns the sample of a kind.
func sample(t *testing.T, kind wire.WebhookType) wire.WebhookEvent {
	t.Helper()

	for _, e := range wire.WebhookSamples() {
		if e.Type == kind {
			return e
		}
	}
	t.Fatalf("there is no sample of %s", kind)
	return wire.WebhookEvent{}
}

// large returns an event with as much of everything as an event can have.
func large(kind wire.WebhookType, piece string) wire.WebhookEvent {
	labels := make(map[string]string)
	for i := range 16 {
		labels[strings.Repeat("k", 61)+fmt.Sprintf("%02d", i)] = strings.Repeat(`"`, 256)
	}
	id := strings.Repeat("x", spool.MaxIDLen)
	return wire.WebhookEvent{ID: id, Type: kind, Data: wire.WebhookData{
		ThreadID: spool.ThreadID(id), RunID: spool.RunID(id), Agent: id, Labels: labels, State: wire.Failed,
		StopReason: wire.StopFailed, Error: strings.Repeat(piece, 2000), Text: strings.Repeat(piece, 20_000),
		Question: &wire.WebhookQuestion{ToolCallID: "c", ToolName: id, Reason: strings.Repeat(piece, 2000)}, Link: "x",
	}}
}

func TestPlain(t *testing.T) {
	t.Parallel()

	for _, name := range []webhook.FormName{"", webhook.Plain} {
		f := newForm(t, webhook.FormConfig{Form: name})
		for _, e := range wire.WebhookSamples() {
			p := payload(t, e)
			body, err := f.Render(p)
			if err != nil || string(body.Bytes) != string(p) || body.ContentType != "application/json" ||
				body.Linked() != (e.Data.Link != "") {
				t.Errorf("%s: %+v, %v", e.Type, body, err)
			}
		}
	}
}

func TestFormConfig(t *testing.T) {
	t.Parallel()

	const both = "form must be template if there is a template or a content type"
	template := func(text, contentType string) webhook.FormConfig {
		return webhook.FormConfig{Form: webhook.Template, Template: text, ContentType: contentType}
	}
	for _, c := range []struct {
		config webhook.FormConfig
		want   string
	}{
		{webhook.FormConfig{Form: "xml"}, "form must be plain, slack or template"},
		{webhook.FormConfig{Form: webhook.Slack, Template: "x"}, both},
		{webhook.FormConfig{ContentType: "text/plain"}, both},
		{template("x", "text"), "content_type must be a media type such as text/plain"},
		{template("x", "text/plain\r\nX: y"), "content_type must be a media type such as text/plain"},
		{template("", ""), "template is required"},
		{template(strings.Repeat("x", 10_001), ""), "template is larger than 10000 bytes"},
		{
			template(" {{if .data.error}}x{{end}}\n", "text/plain"),
			"template: the result is empty, for the event run.started",
		},
		{template("{{ .type", ""), "template: line 1: unclosed action"},
	} {
		if _, err := webhook.NewForm(c.config); spool.CodeOf(err) != spool.Invalid || err.Error() != c.want {
			t.Errorf("NewForm = %v, want %s", err, c.want)
		}
	}
}

// slackMessage is what Slack reads of a message.
type slackMessage struct {
	Text   string
	Blocks []struct {
		Type     string
		Text     *struct{ Type, Text string }
		Fields   []struct{ Type, Text string }
		Elements []struct {
			Type, URL string
			Text      struct{ Type, Text string }
		}
	}
}

func slackOf(t *testing.T, e wire.WebhookEvent) (webhook.Body, slackMessage) {
	t.Helper()

	body, err := newForm(t, webhook.FormConfig{Form: webhook.Slack}).Render(payload(t, e))
	if err != nil {
		t.Fatal(err)
	}
	var m slackMessage
	if err := json.Unmarshal(body.Bytes, &m); err != nil {
		t.Fatal(err)
	}
	return body, m
}

func TestSlack(t *testing.T) {
	t.Parallel()

	e := sample(t, wire.WebhookRunWaiting)
	e.Data.Labels["team"] = "R&D"
	e.Data.Text = "Shall I <b>pay</b>? <!channel>"
	body, _ := slackOf(t, e)
	const want = `{"text":"A run waits for an answer: send_email waits: approval","blocks":[` +
		`{"type":"header","text":{"type":"plain_text","text":"A run waits for an answer"}},` +
		`{"type":"section","text":{"type":"mrkdwn","text":"send_email waits: approval","verbatim":true}},` +
		`{"type":"section","text":{"type":"mrkdwn","text":"Shall I &lt;b&gt;pay&lt;/b&gt;? &lt;!channel&gt;","verbatim":true}},` +
		`{"type":"section","fields":[` +
		`{"type":"mrkdwn","text":"*Agent*\nassistant","verbatim":true},{"type":"mrkdwn","text":"*Thread*\nt1","verbatim":true},` +
		`{"type":"mrkdwn","text":"*Run*\nr1","verbatim":true},{"type":"mrkdwn","text":"*State*\nWAITING_FOR_INPUT","verbatim":true},` +
		`{"type":"mrkdwn","text":"*Until*\n<!date^1796115600^{date_short_pretty} {time}|2026-12-01 09:00 UTC>","verbatim":true},` +
		`{"type":"mrkdwn","text":"*Labels*\nteam=R&amp;D","verbatim":true}]},` +
		`{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Answer"},` +
		`"url":"` + wire.WebhookLinkMark + `","style":"primary"}]}]}`
	if diff := cmp.Diff(want, string(body.Bytes)); diff != "" {
		t.Error(diff)
	}
}

// Slack refuses a whole message for one text that is too long or empty, so none is, whatever the event has in it.
func TestSlackLimits(t *testing.T) {
	t.Parallel()

	var events []wire.WebhookEvent
	for _, k := range wire.WebhookKinds() {
		events = append(events, sample(t, k.Type), wire.WebhookEvent{ID: "msg_1", Type: k.Type})
		for _, piece := range []string{"x", "&", "<", "\n", "\x01", "€", "😀", "\u2028", " ", `"`, "\xff"} {
			events = append(events, large(k.Type, piece))
		}
	}
	events = append(events, wire.WebhookEvent{ID: "msg_1", Type: "run.new<" + wire.WebhookType(strings.Repeat("x", 200))})
	for _, e := range events {
		body, m := slackOf(t, e)
		text := func(what, text string, limit int) {
			if n := len([]rune(text)); n > limit || strings.TrimSpace(text) == "" {
				t.Errorf("%s: %s has %d characters, %q", e.Type, what, n, text[:min(20, len(text))])
			}
			if strings.ContainsAny(text, "<>") && (!strings.Contains(text, "\n<!date^") || strings.Count(text, "<") > 1) {
				t.Errorf("%s: %s has markup: %s", e.Type, what, text)
			}
		}
		text("text", m.Text, 3000)
		if len(m.Blocks) > 50 || len(m.Blocks) == 0 || m.Blocks[0].Type != "header" ||
			wire.WebhookSize(body.Bytes) > wire.MaxWebhookBytes {
			t.Errorf("%s: %d blocks, %d bytes", e.Type, len(m.Blocks), len(body.Bytes))
		}
		buttons := 0
		for _, b := range m.Blocks {
			switch {
			case b.Type == "header":
				text("the header", b.Text.Text, 150)
			case b.Text != nil:
				text("a section", b.Text.Text, 3000)
			}
			if len(b.Fields) > 10 || b.Type == "section" && b.Text == nil && len(b.Fields) == 0 {
				t.Errorf("%s: %d fields", e.Type, len(b.Fields))
			}
			for _, f := range b.Fields {
				text("a field", f.Text, 2000)
			}
			for _, element := range b.Elements {
				buttons++
				text("a button", element.Text.Text, 75)
				if element.URL != wire.WebhookLinkMark || wire.MaxWebhookLink > 3000 {
					t.Errorf("%s: the button leads to %s", e.Type, element.URL)
				}
			}
		}
		if linked := e.Data.Link != ""; linked != (buttons == 1) || linked != body.Linked() {
			t.Errorf("%s: %d buttons", e.Type, buttons)
		}
	}
}

// A test says so in each form, and nothing else does.
func TestFormsOfTests(t *testing.T) {
	t.Parallel()

	e := sample(t, wire.WebhookRunCompleted)
	for want, c := range map[string]webhook.FormConfig{
		`"test":true,"data":`:          {},
		`{"text":"A test: A run has c`: {Form: webhook.Slack},
		`{"test": true}`:               {Form: webhook.Template, Template: `{{if .test}}{"test": true}{{else}}{}{{end}}`},
	} {
		for _, e.Test = range []bool{true, false} {
			body, err := newForm(t, c).Render(payload(t, e))
			if err != nil || strings.Contains(string(body.Bytes), want) != e.Test {
				t.Errorf("a test: %t: %s, %v", e.Test, body.Bytes, err)
			}
		}
	}
}
