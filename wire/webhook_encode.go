package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const (
	// MaxWebhookBytes is the size of the largest body of a webhook, with its links.
	MaxWebhookBytes = 20_000
	// MaxWebhookLink is the length of the longest link in the body of a webhook, in bytes.
	MaxWebhookLink = 2_048
	// WebhookLinkMark is where the link goes in a body that is stored. Neither JSON nor a URL escapes it.
	//
	// It overlaps with itself nowhere, which unmarked needs.
	WebhookLinkMark = "SPOOL_LINK_HERE_8d1f4c"
)

// unmarked replaces marks that are not ours: a mark with another first letter. As no mark has that letter, it makes
// none.
const unmarked = "-POOL_LINK_HERE_8d1f4c"

const (
	// maxWebhookReason is the length of the longest text for a person other than Text, in characters.
	maxWebhookReason = 1_000
	// maxWebhookName is that of a name that others than this engine choose.
	maxWebhookName = 200
)

// WebhookSize returns the size of a body once its marks are links of the largest size.
func WebhookSize(body []byte) int {
	return len(body) + bytes.Count(body, []byte(WebhookLinkMark))*(MaxWebhookLink-len(WebhookLinkMark))
}

// EncodeWebhook returns the body of an event, which is the same for the same event. Its texts are cut so that the body
// is not larger than [MaxWebhookBytes] by [WebhookSize]. A Link that is not empty becomes the mark, and the mark stands
// nowhere else: what users and models write as a mark is changed.
//
// EncodeWebhook returns an [spool.Invalid] error for an event that is too large without its text. No event with ids and
// labels that Spool allows is.
func EncodeWebhook(e WebhookEvent) ([]byte, error) {
	d := &e.Data
	e.Timestamp, d.ThreadCreatedAt, d.Expired.Since = e.Timestamp.UTC(), d.ThreadCreatedAt.UTC(), d.Expired.Since.UTC()
	d.Agent, d.Error = firstRunes(d.Agent, maxWebhookName), firstRunes(d.Error, maxWebhookReason)
	if d.Question != nil {
		q := *d.Question
		q.ToolName, q.Reason = firstRunes(q.ToolName, maxWebhookName), firstRunes(q.Reason, maxWebhookName)
		q.ExpiresAt = q.ExpiresAt.UTC()
		d.Question = &q
	}
	if d.HandedOver != nil {
		d.HandedOver = &WebhookHandedOver{
			From: firstRunes(d.HandedOver.From, maxWebhookName), To: firstRunes(d.HandedOver.To, maxWebhookName),
		}
	}
	if d.Schedule != nil {
		d.Schedule = &WebhookSchedule{
			Name:   firstRunes(d.Schedule.Name, maxWebhookName),
			Reason: firstRunes(d.Schedule.Reason, maxWebhookReason),
		}
	}
	if d.Link != "" {
		d.Link = WebhookLinkMark
	}
	text := d.Text
	d.Text, d.TextBytes = "", 0
	bare := encodeWebhook(e)
	room := MaxWebhookBytes - WebhookSize(bare)
	if room < 0 {
		return nil, spool.Errorf(spool.Invalid, "the event of a webhook is larger than %d bytes", MaxWebhookBytes)
	}
	if text == "" {
		return bare, nil
	}
	d.Text = text
	// Both fields with their names, the quotes, and a number of any size.
	const around = len(`,"text":"","textBytes":`) + 20
	if kept := firstEncoded(text, room-around); kept != text {
		d.Text, d.TextBytes = kept, len(text)
	}
	return encodeWebhook(e), nil
}

// encodeWebhook writes an event, and leaves its mark as the only one: the link is the last field of an event.
func encodeWebhook(e WebhookEvent) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // six bytes for each < would make a text with markup too large
	if err := encoder.Encode(e); err != nil {
		panic("spool: encode the event of a webhook: " + err.Error()) // nothing in it cannot be encoded
	}
	body, mark := bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), []byte(WebhookLinkMark)
	foreign := bytes.Count(body, mark)
	if e.Data.Link != "" {
		foreign--
	}
	return bytes.Replace(body, mark, []byte(unmarked), foreign)
}

// firstRunes returns the first characters of a text.
func firstRunes(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for i := range text {
		if limit--; limit < 0 {
			return text[:i]
		}
	}
	return text
}

// firstEncoded returns the beginning of a text that has at most so many bytes as JSON, without quotes.
func firstEncoded(text string, room int) string {
	for i, r := range text {
		switch size := utf8.RuneLen(r); {
		case r == '"', r == '\\', r == '\b', r == '\f', r == '\n', r == '\r', r == '\t':
			room -= 2
		case r < ' ', r == '\u2028', r == '\u2029', r == utf8.RuneError:
			room -= 6
		default:
			room -= size
		}
		if room < 0 {
			return text[:i]
		}
	}
	return text
}
