package webhook

import (
	"encoding/json"
	"mime"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// FormName names a form of bodies.
type FormName string

// The forms of a body.
const (
	Plain    FormName = "plain"    // Plain is the event as it is.
	Slack    FormName = "slack"    // Slack is a message in the blocks of Slack, for an incoming webhook there.
	Template FormName = "template" // Template is what a template of the user's makes of the event.
)

const (
	contentJSON = "application/json"
	// maxContentType is the length of the longest media type, in bytes.
	maxContentType = 200
)

// FormConfig configures a form.
type FormConfig struct {
	// Form is the form. Defaults to [Plain].
	Form FormName
	// Template is the text of the template, in the language of [text/template]. Required for a [Template], and for
	// nothing else.
	Template string
	// ContentType is the media type of what the template makes. Defaults to application/json.
	ContentType string
	// Events are the kinds of event that the template has to be able to render. Defaults to all.
	Events []wire.WebhookType
}

// Form makes bodies of events. It is safe for concurrent use.
type Form struct {
	name        FormName
	contentType string
	isJSON      bool
	template    *checked
}

// NewForm returns a form. It returns an [spool.Invalid] error that names the field for a form that is not known, for a
// template with parts that could take long or make much, and for one that cannot render a sample of each event. The
// error of a template has the line, the column where it is known, and the part.
func NewForm(c FormConfig) (*Form, error) {
	f := &Form{name: c.Form, contentType: contentJSON, isJSON: true}
	switch c.Form {
	case "":
		f.name = Plain
	case Plain, Slack, Template:
	default:
		return nil, spool.Errorf(spool.Invalid, "form must be plain, slack or template")
	}
	if f.name != Template {
		if c.Template != "" || c.ContentType != "" {
			return nil, spool.Errorf(spool.Invalid, "form must be template if there is a template or a content type")
		}
		return f, nil
	}
	if c.ContentType != "" {
		kind, _, err := mime.ParseMediaType(c.ContentType)
		if err != nil || !strings.Contains(kind, "/") || len(c.ContentType) > maxContentType {
			return nil, spool.Errorf(spool.Invalid, "content_type must be a media type such as text/plain")
		}
		f.contentType, f.isJSON = c.ContentType, kind == contentJSON || strings.HasSuffix(kind, "+json")
	}
	var err error
	if f.template, err = parseTemplate(c.Template); err != nil {
		return nil, err
	}
	return f, f.try(c.Events)
}

// try renders the samples, strictly.
func (f *Form) try(events []wire.WebhookType) error {
	for _, e := range trials() {
		if len(events) > 0 && !slices.Contains(events, e.Type) {
			continue
		}
		payload, err := wire.EncodeWebhook(e)
		if err != nil {
			return err
		}
		if _, err := f.render(payload, true); err != nil {
			return spool.Errorf(spool.Invalid, "%s, for the event %s", spool.MessageOf(err), e.Type)
		}
	}
	return nil
}

// trials are the samples as documents have them, and with characters in their texts that a template has to escape.
func trials() []wire.WebhookEvent {
	all := wire.WebhookSamples()
	const hard = "\"\\\n\t<&>'{{}}\u2028é😀"
	for _, e := range wire.WebhookSamples() {
		d := &e.Data
		for _, text := range []*string{&d.Error, &d.Text} {
			if *text != "" {
				*text = hard
			}
		}
		for key := range d.Labels {
			d.Labels[key] = `"\<&>'{{}}é😀`
		}
		if d.Schedule != nil {
			d.Schedule.Reason = hard
		}
		all = append(all, e)
	}
	return all
}

// Render returns the body of an event that [wire.EncodeWebhook] has written. It is the same for the same event, and has
// at most 20,000 bytes with its links. Render returns an [spool.Invalid] error for a template that fails with this
// event, or whose result is empty, too large, or not the JSON that its content type promises.
func (f *Form) Render(payload []byte) (Body, error) { return f.render(payload, false) }

func (f *Form) render(payload []byte, strict bool) (Body, error) {
	if f.name == Plain {
		return Body{ContentType: f.contentType, Bytes: payload}, nil
	}
	var e wire.WebhookEvent
	if err := json.Unmarshal(payload, &e); err != nil {
		return Body{}, spool.Wrap(spool.Internal, "read the event of a webhook", err)
	}
	b := Body{ContentType: f.contentType}
	if f.name == Slack {
		b.Bytes = slackMessage(e)
	} else {
		text, err := f.template.render(e, strict)
		if err != nil {
			return Body{}, err
		}
		b.Bytes = text
	}
	switch {
	case len(strings.TrimSpace(string(b.Bytes))) == 0:
		return Body{}, spool.Errorf(spool.Invalid, "template: the result is empty")
	case wire.WebhookSize(b.Bytes) > wire.MaxWebhookBytes:
		return Body{}, errTooLarge
	case f.isJSON && !json.Valid(b.Bytes):
		return Body{}, spool.Errorf(spool.Invalid,
			"template: the result is not JSON, as its content type says; write texts with json, such as {{json .data.text}}")
	}
	return b, nil
}
