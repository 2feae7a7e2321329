package endpoint

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Queue is the queue of the events for endpoints. The subject of a job there is the name of its endpoint, or the
// HostSubject of a start's webhook. Its thread is that of the event, also if it is gone.
const Queue = "spool.webhooks"

// HostSubject returns the subject of the events for the webhook of a start. No endpoint has such a name.
func HostSubject(host string) string { return "@" + host }

// Event is the payload of a job of Queue.
type Event struct {
	// Event is what [wire.EncodeWebhook] has written, byte for byte.
	Event json.RawMessage `json:"event"`
	// URL is the webhook of the start, as [Book.SealURL] returns it. Empty: the endpoint has the URL.
	URL string `json:"url,omitempty"`
	// FromFile is whether the configuration has the endpoint, so that a node that does not know it may have an older file.
	FromFile bool `json:"fromFile,omitempty"`
}

// Encode returns the payload.
func (e Event) Encode() json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // it would change the bytes of the event
	if err := encoder.Encode(e); err != nil {
		panic("spool: encode the event of an endpoint: " + err.Error()) // the event is JSON already
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Decode reads the payload of a job of Queue, and the event in it.
func Decode(payload json.RawMessage) (e Event, event wire.WebhookEvent, err error) {
	if err = json.Unmarshal(payload, &e); err == nil {
		err = json.Unmarshal(e.Event, &event)
	}
	if err != nil {
		err = spool.Wrap(spool.Internal, "the event cannot be read", err)
	}
	return e, event, err
}

// SubjectOf returns the subject of the events for the webhook of a start, which was checked and may be sealed.
func SubjectOf(webhook string) string {
	if _, host, ok := cutSealed(webhook); ok {
		return HostSubject(host)
	}
	u, err := url.Parse(webhook)
	if err != nil {
		return HostSubject("")
	}
	return HostSubject(hostOf(u.Hostname()))
}
