package webhook_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// text is a form whose template makes a text.
func text(template string, events ...wire.WebhookType) webhook.FormConfig {
	return webhook.FormConfig{Form: webhook.Template, Template: template, ContentType: "text/plain", Events: events}
}

func TestTemplate(t *testing.T) {
	t.Parallel()

	const discord = `{"content": {{json (truncate 12 .data.text)}}{{with .data.question}}, "tool": {{json .toolName}},` +
		` "url": "{{$.data.link}}"{{end}}}`
	for name, c := range map[string]struct {
		config webhook.FormConfig
		kind   wire.WebhookType
		want   string
	}{
		"JSON": {
			webhook.FormConfig{Form: webhook.Template, Template: discord},
			wire.WebhookRunWaiting,
			`{"content": "The invoice…", "tool": "send_email", "url": "` + wire.WebhookLinkMark + `"}`,
		},
		"JSONElse": {
			webhook.FormConfig{Form: webhook.Template, Template: discord},
			wire.WebhookRunCompleted,
			`{"content": "The invoice…"}`,
		},
		"Whole":  {text("{{json .data.question}}", wire.WebhookRunWaiting), wire.WebhookRunWaiting, `{"digest":"sha256:0b7f4c1d9a3e5f6872c0d4b1a9e8f7061524334251607f8e9dacbd0e1f2a3b4c","expiresAt":"2026-12-01T09:00:00Z","onExpiry":"","reason":"approval","toolCallId":"call_1","toolName":"send_email"}`},
		"Labels": {text("{{.type}}{{range $k, $v := .data.labels}} {{$k}}={{$v}}{{else}} none{{end}}"), wire.WebhookRunFailed, "run.failed team=billing"},
		"Nested": {text("x{{range .data.labels}}{{range $.data.labels}}{{.}}{{break}}{{end}}{{continue}}{{end}}"), wire.WebhookRunFailed, "xbilling"},
		"Nobody": {text("{{.type}}{{range .data.labels}} x{{else}} none{{end}}"), wire.WebhookSchedulePaused, "schedule.paused none"},
		"Index":  {text(`{{or (index .data.labels "customer") "nobody"}}`), wire.WebhookRunFailed, "nobody"},
		"Logic": {
			text(`{{if and (eq .type "run.failed") (not .data.link) (gt .data.version 1) (ge .data.index 0)}}{{.data.error | truncate 9}}{{else if ne .type "x"}}{{len .data.text}}{{end}}`),
			wire.WebhookRunFailed, "the mode…",
		},
		"Variables": {text("{{$a := .data.agent}}{{if $a}}{{$a = .id}}{{end}}x{{$a}}{{/* why */}}"), wire.WebhookRunFailed, "xmsg_2N8tq4Vw6cYd"},
		"Short":     {text("x{{truncate 3 .type}}{{truncate 100 .type}}{{truncate 1 .type}}{{truncate 0 .type}}{{truncate -1 .type}}"), wire.WebhookRunFailed, "xru…run.failed…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			body, err := newForm(t, c.config).Render(payload(t, sample(t, c.kind)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(body.Bytes)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What could take long, make much, or is a mistake is refused, with its place.
func TestTemplateRefused(t *testing.T) {
	t.Parallel()

	const ranges = " range goes over .data.labels and $.data.labels only"
	for name, c := range map[string]struct{ template, want string }{
		"Define":         {`x{{define "a"}}b{{end}}`, "define and block are not allowed"},
		"DefineEmpty":    {`{{define "webhook"}}b{{end}}`, "define and block are not allowed"},
		"Block":          {`x{{block "a" .}}b{{end}}`, "define and block are not allowed"},
		"Template":       {"x\n {{template \"webhook\" .}}", `line 2, column 13: at <{{template "webhook" .}}>: this is not allowed`},
		"Itself":         {`x{{template "webhook"}}`, "this is not allowed"},
		"RangeInt":       {"x\n{{range 1000000000}}{{end}}", "line 2, column 9: at <{{range 1000000000}}{{e…>:" + ranges},
		"RangeIntOfData": {`{{range .data.version}}{{end}}`, ranges},
		"RangeVariable":  {`{{$x := 1000000}}{{range $x}}{{end}}`, ranges},
		"RangeLen":       {`{{range len .data.text}}{{end}}`, ranges},
		"RangeParens":    {`{{range (.data.labels)}}{{end}}`, ranges},
		"RangeDot":       {`{{with 1000000000}}{{range .}}{{end}}{{end}}`, ranges},
		"RangePipe":      {`{{range .data.labels | len}}{{end}}`, ranges},
		"RangeOther":     {`{{with .data}}{{range .labels}}{{end}}{{end}}`, ranges},
		"RangeRoot":      {`{{with 5}}{{$ := .}}{{range $}}{{end}}{{end}}`, ranges},
		"RangeThree": {
			`{{range .data.labels}}{{range $.data.labels}}{{range $.data.labels}}{{end}}{{end}}{{end}}`,
			"ranges are nested deeper than 2",
		},
		"RangeInElse": {
			`{{range .data.labels}}{{range $.data.labels}}{{else}}{{range $.data.labels}}{{end}}{{end}}{{end}}`,
			"ranges are nested deeper than 2",
		},
		"Printf":     {`a{{printf "%1000000000d" 1}}`, `line 1, column 4: at <printf>: printf is no function of a webhook's template; there are and, or,`},
		"Print":      {`{{print .type .type}}`, "print is no function"},
		"Println":    {`{{println}}`, "println is no function"},
		"Slice":      {`{{slice .type 0 1}}`, "slice is no function"},
		"HTML":       {`{{html .type}}`, "html is no function"},
		"JS":         {`{{.type | js}}`, "js is no function"},
		"URLQuery":   {`{{if urlquery .type}}{{end}}`, "urlquery is no function"},
		"Call":       {`{{call .type}}`, "call is no function"},
		"InPipe":     {`{{with $x := (len (print 1))}}{{end}}`, "print is no function"},
		"InElse":     {`{{if .type}}x{{else}}{{print 1}}{{end}}`, "print is no function"},
		"InChain":    {`{{(print 1).x}}`, "print is no function"},
		"InRange":    {`{{range .data.labels}}{{print 1}}{{end}}`, "print is no function"},
		"NoFunction": {`{{now}}`, "now is no function"},
		"Many":       {strings.Repeat("{{.id}}", 300), "template has more than 1000 parts"},
		"Deep":       {strings.Repeat("{{if .id}}", 60) + strings.Repeat("{{end}}", 60), "parts are nested deeper than 40"},
		"Parens":     {"{{" + strings.Repeat("(", 4000) + "1" + strings.Repeat(")", 4000) + "}}", "parts are nested deeper than 40"},
		"Unclosed":   {"x\n{{if .id}}", "template: line 2: unexpected EOF"},
		"Typo": {
			"x\n{{.data.texxt}}",
			`template: line 2, column 8: at <.data.texxt>: map has no entry for key "texxt", for the event run.started`,
		},
		"TypoInQuestion": {"x{{with .data.question}}{{.tool}}{{end}}", `at <.tool>: map has no entry for key "tool", for the event run.waiting`},
		"Unguarded":      {"x{{.data.question.toolName}}", `map has no entry for key "toolName", for the event run.started`},
		"NoLabel":        {"x{{.data.labels.customer}}", `map has no entry for key "customer"`},
		"Method":         {"x{{.type.String}}", "can't evaluate field String in type interface {}"},
		"Types":          {"x{{if lt .type 5}}{{end}}", "error calling lt: incompatible types for comparison"},
		"Large":          {"x{{range .data.labels}}{{range $.data.labels}}{{.}}" + strings.Repeat("x", 9900) + "{{end}}{{end}}{{.}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := webhook.NewForm(text(c.template))
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), "template") ||
				!strings.Contains(spool.MessageOf(err), c.want) || len(spool.MessageOf(err)) > 500 {
				t.Errorf("NewForm = %v, want %s", err, c.want)
			}
		})
	}
}

// A template for one kind of event need not fit the others.
func TestTemplateEvents(t *testing.T) {
	t.Parallel()

	const template = "{{.data.question.toolName}} waits"
	if _, err := webhook.NewForm(text(template, wire.WebhookRunWaiting, wire.WebhookRunExpiring)); err != nil {
		t.Error(err)
	}
	if _, err := webhook.NewForm(text(template, wire.WebhookRunFailed)); err == nil {
		t.Error("a template fits an event that has no question")
	}
}

// What is to be JSON is JSON, with the texts that people and models write.
func TestTemplateJSON(t *testing.T) {
	t.Parallel()

	for template, want := range map[string]string{
		`{"text": {{json .data.text}}, "labels": {{json .data.labels}}, "id": "{{.id}}"}`: "",
		`{"text": "{{.data.text}}"}`:                 "the result is not JSON",
		`{"label": "{{index .data.labels "team"}}"}`: "the result is not JSON",
		`{"error": "{{.data.error}}"}`:               "the result is not JSON, as its content type says; write texts with json, such as {{json .data.text}}, for the event run.failed",
		`{"why": "{{.data.schedule.reason}}"}`:       "no entry for key",
		`hello`:                                      "the result is not JSON",
	} {
		for _, contentType := range []string{"", "application/json; charset=utf-8", "application/cloudevents+json"} {
			_, err := webhook.NewForm(webhook.FormConfig{Form: webhook.Template, Template: template, ContentType: contentType})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", template, err)
			}
		}
	}
}

// What the samples do not show fails when it is rendered, within the bounds.
func TestTemplateTooLarge(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ template, want string }{
		"Text":  {"x{{.data.text}}{{.data.text}}", "template: the result is larger than 20000 bytes"},
		"Range": {"x{{range .data.labels}}{{range $.data.labels}}{{.}}{{end}}{{end}}", "template: the result is larger than 20000 bytes"},
		"Links": {"x{{.data.text}}{{.data.link}}{{.data.link}}{{.data.link}}{{.data.link}}", "template: the result is larger than 20000 bytes"},
		"Functions": {
			"x{{range .data.labels}}{{range $.data.labels}}{{if json $}}{{end}}{{end}}{{end}}",
			"template: line 1, column 52: at <json $>: error calling json: the functions write more than 1 MiB",
		},
		"Doubled": {
			"x{{$x := json .}}" + strings.Repeat("{{$x = json $x}}", 60),
			"error calling json: the functions write more than 1 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, err := webhook.NewForm(text(c.template))
			if err != nil { // the samples show it already
				if !strings.Contains(spool.MessageOf(err), c.want) || name != "Doubled" {
					t.Errorf("NewForm = %v", err)
				}
				return
			}
			e := large("run.failed", "x")
			if !strings.Contains(c.template, "range") {
				e = sample(t, wire.WebhookRunFailed)
				e.Data.Text, e.Data.Link = strings.Repeat("x", 20_000), "x"
			}
			_, err = f.Render(payload(t, e))
			if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.want) {
				t.Errorf("Render = %v, want %s", err, c.want)
			}
		})
	}
}

// A template sees the names of the JSON, all of them, and only values without methods.
func TestPlainMap(t *testing.T) {
	t.Parallel()

	for _, e := range wire.WebhookSamples() {
		e.Data.TextBytes, e.Data.Question = 1, sample(t, wire.WebhookRunWaiting).Data.Question
		e.Data.HandedOver = sample(t, wire.WebhookRunHandedOver).Data.HandedOver
		e.Data.Question.OnExpiry = spool.ExpireFail
		var want map[string]any
		raw, err := json.Marshal(e)
		if err == nil {
			err = json.Unmarshal(raw, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := webhook.PlainMap(e)
		raw, err = json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		has(t, string(e.Type), want, got)
		data, _ := got["data"].(map[string]any)
		if len(got) != reflect.TypeFor[wire.WebhookEvent]().NumField() ||
			len(data) != reflect.TypeFor[wire.WebhookData]().NumField() {
			t.Errorf("%d names, and in the data %d", len(got), len(data))
		}
		checkPlain(t, webhook.PlainMap(e))
	}
}

// has reports what is in want and not in got.
func has(t *testing.T, at string, want, got any) {
	t.Helper()

	if w, ok := want.(map[string]any); ok {
		g, _ := got.(map[string]any)
		for key := range w {
			has(t, at+"."+key, w[key], g[key])
		}
		return
	}
	if !cmp.Equal(want, got) {
		t.Errorf("%s is %v, want %v", at, got, want)
	}
}

// checkPlain looks for values with a type of which a template could call methods, or range over.
func checkPlain(t *testing.T, v any) {
	t.Helper()

	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			checkPlain(t, inner)
		}
	case map[string]string, string, bool, int, int64:
	default:
		t.Errorf("a template sees a %T", v)
	}
}

// Whatever passes the check renders every event within the bounds, or says that it does not, and ends.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`{"text": {{json .data.text}}}`, `{{range $k, $v := .data.labels}}{{$k}}{{break}}{{end}}x`, `{{range 1000000000}}{{end}}`,
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, `{{with .data.question}}{{.toolName}}{{end}}{{.data.link}}`,
		`{{$ := 5}}{{range $}}{{end}}`, `{{$x := json .}}{{$x = json $x}}{{truncate 5 $x}}`, `{{index .data.text 100}}`,
		`{{if and (eq .type "x") (lt .data.version 0x1p3)}}{{else with 1}}{{end}}{{- "a" -}}`, "{{`a\nb`}}{{/* x */}}{{1i}}{{nil}}",
		`{{range .data.labels}}{{range $.data.labels}}{{json $}}{{continue}}{{end}}{{end}}`, `{{printf "%9999d" 1}}`,
		`{{(index .data "labels").team}}{{.data.labels.team | json | truncate 3}}`, `{{block "x" .}}{{end}}`,
	} {
		f.Add(seed)
	}
	events := wire.WebhookSamples()
	for _, piece := range []string{"x", `"`, "<", "\n", "😀"} {
		events = append(events, large(wire.WebhookRunWaiting, piece))
	}
	payloads := make([][]byte, len(events))
	for i, e := range events {
		var err error
		if payloads[i], err = wire.EncodeWebhook(e); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, template string) {
		form, err := webhook.NewForm(text(template))
		if err != nil {
			if spool.CodeOf(err) != spool.Invalid || len(spool.MessageOf(err)) > 2000 {
				t.Errorf("%q: %v", template, err)
			}
			return
		}
		for i, p := range payloads {
			body, err := form.Render(p)
			switch {
			case err != nil && (spool.CodeOf(err) != spool.Invalid || i < len(wire.WebhookKinds())):
				t.Errorf("%q: %v", template, err)
			case wire.WebhookSize(body.Bytes) > wire.MaxWebhookBytes:
				t.Errorf("%q renders %d bytes", template, len(body.Bytes))
			}
			again, _ := form.Render(p)
			if string(again.Bytes) != string(body.Bytes) {
				t.Errorf("%q renders %q and %q", template, body.Bytes, again.Bytes)
			}
		}
	})
}
