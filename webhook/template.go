package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// templateName is what text/template calls the template in its errors.
const templateName = "webhook"

const (
	// maxReason is the length of the longest reason of a failure, in characters.
	maxReason = 300
	// maxPart is how much is shown of the part that fails.
	maxPart = 24
)

// maxWork bounds what the functions of one rendering write, in bytes. What they return may be dropped, so that the
// bound of the output is none for them.
const maxWork = 1 << 20

var (
	errTooLarge = spool.Errorf(spool.Invalid, "template: the result is larger than %d bytes", wire.MaxWebhookBytes)
	errTooMuch  = errors.New("the functions write more than 1 MiB")
)

// checked is a template that passed the check. It is safe for concurrent use.
type checked struct{ tree *parse.Tree }

// render executes the template over the event. A strict rendering fails for a key that the event does not have; any
// other one writes nothing there.
func (c *checked) render(e wire.WebhookEvent, strict bool) ([]byte, error) {
	missing := "missingkey=zero"
	if strict {
		missing = "missingkey=error"
	}
	work := maxWork
	t, err := template.New(templateName).Option(missing).Funcs(functions(&work)).AddParseTree(templateName, c.tree)
	if err != nil {
		return nil, templateError(err)
	}
	out := &bounded{left: wire.MaxWebhookBytes}
	if err := t.Execute(out, plainMap(e)); err != nil {
		if out.left < 0 {
			return nil, errTooLarge
		}
		return nil, templateError(err)
	}
	return out.Bytes(), nil
}

// bounded is a writer that takes so many bytes.
type bounded struct {
	bytes.Buffer

	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// functions returns the functions of Spool's own. They count what they write.
func functions(work *int) template.FuncMap {
	count := func(text string) (string, error) {
		if *work -= len(text) + 1; *work < 0 {
			return "", errTooMuch
		}
		return text, nil
	}
	return template.FuncMap{
		"json": func(v any) (string, error) {
			var b bytes.Buffer
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(v); err != nil {
				return "", errors.New("the value has no form in JSON")
			}
			return count(string(bytes.TrimSuffix(b.Bytes(), []byte{'\n'})))
		},
		"truncate": func(limit int, text string) (string, error) { return count(cut(text, limit)) },
	}
}

// cut returns a text of at most so many characters. One that is longer ends with an ellipsis.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if limit <= 0 {
		return ""
	}
	last := 0
	for i := range text {
		if limit--; limit == 0 {
			last = i
		}
		if limit < 0 {
			return text[:last] + "…"
		}
	}
	return text
}

// failure is the form of an error of text/template: the line, the column, the part and the reason.
var failure = regexp.MustCompile(`(?s)^template: ` + templateName + `:(\d+)(?::(\d+))?: ` +
	`(?:executing "` + templateName + `" )?(?:at <(.*?)>: )?(.*)$`)

// templateError returns an error of text/template with the line, the column where it is known, and the part.
func templateError(err error) error {
	m := failure.FindStringSubmatch(err.Error())
	if m == nil {
		return spool.Errorf(spool.Invalid, "template: %s", cut(err.Error(), maxReason))
	}
	at := place(m[1], m[2])
	if m[3] != "" {
		at += ": at <" + cut(m[3], maxPart) + ">"
	}
	return spool.Errorf(spool.Invalid, "template: %s: %s", at, cut(m[4], maxReason))
}

// place returns a place in a template as people count: text/template counts columns from 0.
func place(line, column string) string {
	if n, err := strconv.Atoi(column); err == nil {
		return "line " + line + ", column " + strconv.Itoa(n+1)
	}
	return "line " + line
}

// plainMap returns an event as the template sees it: with the names of its JSON, and with all of them, so that a
// missing one is a mistake. It has no value with a method, and none to range over but the labels. What an event may
// leave out is an empty text, a zero, a false, or an empty map.
func plainMap(e wire.WebhookEvent) map[string]any {
	d := e.Data
	question, handed, schedule := map[string]string{}, map[string]string{}, map[string]string{}
	if q := d.Question; q != nil {
		question = map[string]string{
			"toolCallId": string(q.ToolCallID), "toolName": q.ToolName, "reason": q.Reason, "expiresAt": instant(q.ExpiresAt),
			"onExpiry": string(q.OnExpiry), "digest": q.Digest,
		}
	}
	if h := d.HandedOver; h != nil {
		handed = map[string]string{"from": h.From, "to": h.To}
	}
	if s := d.Schedule; s != nil {
		schedule = map[string]string{"name": s.Name, "reason": s.Reason}
	}
	expired := map[string]any{}
	if d.Expired.Questions > 0 {
		expired = map[string]any{"questions": d.Expired.Questions, "since": instant(d.Expired.Since)}
	}
	labels := d.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return map[string]any{
		"id": e.ID, "type": string(e.Type), "timestamp": instant(e.Timestamp), "test": e.Test, "data": map[string]any{
			"threadId": string(d.ThreadID), "threadCreatedAt": instant(d.ThreadCreatedAt), "version": d.Version,
			"index": d.Index, "runId": string(d.RunID), "agent": d.Agent, "labels": labels, "state": string(d.State),
			"stopReason": string(d.StopReason), "error": d.Error, "expired": expired, "question": question,
			"budget": string(d.Budget), "handedOver": handed, "schedule": schedule, "text": d.Text,
			"textBytes": d.TextBytes, "link": d.Link,
		},
	}
}

// instant returns a time as JSON has it. A zero one is an empty text.
func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}
