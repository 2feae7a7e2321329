package wire_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// There is a kind for each constant, and a sample for each kind.
func TestWebhookKinds(t *testing.T) {
	t.Parallel()

	declared, samples := declaredTypes(t, "WebhookType"), wire.WebhookSamples()
	kinds := wire.WebhookKinds()
	if len(declared) != len(kinds) || len(samples) != len(kinds) || len(kinds) != 11 {
		t.Fatalf("%d constants, %d kinds, %d samples", len(declared), len(kinds), len(samples))
	}
	for i, k := range kinds {
		if samples[i].Type != k.Type || k.About == "" {
			t.Errorf("the sample %d is of %s, the kind is %s: %s", i, samples[i].Type, k.Type, k.About)
		}
	}
	for name, value := range declared {
		if _, known := types(kinds)[wire.WebhookType(value)]; !known {
			t.Errorf("%s is no kind", name)
		}
	}
}

// Each field of an event is in one of the samples, and what is written can be read.
func TestWebhookSamples(t *testing.T) {
	t.Parallel()

	var all wire.WebhookData
	for _, e := range wire.WebhookSamples() {
		body := encodeWebhook(t, e)
		var back wire.WebhookEvent
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Errorf("%s:\n%s", e.Type, diff)
		}
		if again := encodeWebhook(t, back); string(again) != string(body) {
			t.Errorf("written again:\n%s\n%s", again, body)
		}
		v, sum := reflect.ValueOf(e.Data), reflect.ValueOf(&all).Elem()
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				sum.Field(i).Set(v.Field(i))
			}
		}
	}
	all.Index, all.TextBytes = 1, 1 // the samples are alone, and small
	for i := range reflect.TypeOf(all).NumField() {
		if reflect.ValueOf(all).Field(i).IsZero() {
			t.Errorf("no sample has %s", reflect.TypeOf(all).Field(i).Name)
		}
	}
}

func TestEncodeWebhook(t *testing.T) {
	t.Parallel()

	zone := time.FixedZone("", 3600)
	e := wire.WebhookEvent{ID: "msg_1", Type: "run.waiting", Timestamp: time.Date(2026, 1, 2, 4, 4, 5, 6, zone)}
	e.Data = wire.WebhookData{
		ThreadID: "t1", ThreadCreatedAt: time.Date(2026, 1, 1, 1, 0, 0, 0, zone), Version: 7, Index: 1, RunID: "r1",
		Agent: "a", Labels: map[string]string{"z": "<1>", "a": "2"}, State: wire.WaitingForInput,
		Question: &wire.WebhookQuestion{ToolCallID: "c", ToolName: "t", Reason: "approval"},
		Link:     "https://hidden.example/",
	}
	const want = `{"id":"msg_1","type":"run.waiting","timestamp":"2026-01-02T03:04:05.000000006Z","data":{"threadId":"t1",` +
		`"threadCreatedAt":"2026-01-01T00:00:00Z","version":7,"index":1,"runId":"r1","agent":"a",` +
		`"labels":{"a":"2","z":"<1>"},` +
		`"state":"WAITING_FOR_INPUT","question":{"toolCallId":"c","toolName":"t","reason":"approval"},` +
		`"link":"` + wire.WebhookLinkMark + `"}}`
	if got := string(encodeWebhook(t, e)); got != want {
		t.Errorf("EncodeWebhook\n%s, want\n%s", got, want)
	}
}

// A body has its bound whatever the texts are, and the whole room is used.
func TestEncodeWebhookBound(t *testing.T) {
	t.Parallel()

	for name, piece := range map[string]string{
		"ASCII": "x", "Quotes": `"`, "Control": "\x01", "Line": "\n", "Separator": "\u2028", "Wide": "€", "Emoji": "😀",
		"NoUTF8": "\xff", "Markup": "<",
	} {
		for _, link := range []string{"", "x"} {
			t.Run(fmt.Sprintf("%s/%t", name, link != ""), func(t *testing.T) {
				t.Parallel()

				labels := make(map[string]string)
				for i := range 16 {
					value := strings.Repeat(`\`, 256)
					labels[strings.Repeat("k", 61)+fmt.Sprintf("%02d", i)] = value
				}
				if err := wire.CheckLabels(labels); err != nil {
					t.Fatal(err)
				}
				long := strings.Repeat(piece, 30_000/len(piece))
				id := strings.Repeat("x", spool.MaxIDLen)
				body := encodeWebhook(t, wire.WebhookEvent{ID: id, Type: "run.expired", Data: wire.WebhookData{
					ThreadID: spool.ThreadID(id), RunID: spool.RunID(id), Labels: labels, Text: long, Link: link,
					Question: &wire.WebhookQuestion{ToolCallID: spool.ToolCallID(id), Reason: "approval"},
				}})
				size := wire.WebhookSize(body)
				if size > wire.MaxWebhookBytes || size < wire.MaxWebhookBytes-50 {
					t.Errorf("%d bytes", size)
				}
				var back wire.WebhookEvent
				if err := json.Unmarshal(body, &back); err != nil {
					t.Fatal(err)
				}
				if back.Data.TextBytes != len(long) || back.Data.Text == "" {
					t.Errorf("a text of %d bytes is %d of %d", len(long), len(back.Data.Text), back.Data.TextBytes)
				}
				text := strings.Repeat(piece, 2000)
				failed := encodeWebhook(t, wire.WebhookEvent{ID: id, Type: "run.failed", Data: wire.WebhookData{
					Labels: labels, Error: text, Schedule: &wire.WebhookSchedule{Name: "n", Reason: "r"}, Link: link,
				}})
				if size := wire.WebhookSize(failed); size > wire.MaxWebhookBytes {
					t.Errorf("with an error of %d bytes: %d bytes", len(text), size)
				}
			})
		}
	}
	if _, err := wire.EncodeWebhook(
		wire.WebhookEvent{ID: strings.Repeat("x", 20_000)},
	); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("an id of 20,000 bytes: %v", err)
	}
}

// Nobody but the endpoint puts a link into a body.
func TestEncodeWebhookMark(t *testing.T) {
	t.Parallel()

	mark := wire.WebhookLinkMark
	// Put together of what is left when another one is taken out.
	split := mark[:5] + mark + mark[5:]
	for _, link := range []string{"", mark} {
		e := wire.WebhookEvent{ID: "msg_1", Data: wire.WebhookData{
			Agent: mark, Labels: map[string]string{"x": mark + mark}, Error: split, Text: split, Link: link,
			Schedule: &wire.WebhookSchedule{Name: "S" + mark, Reason: "-" + mark},
		}}
		body := string(encodeWebhook(t, e))
		if n := strings.Count(body, mark); n != strings.Count(link, mark) || !json.Valid([]byte(body)) {
			t.Errorf("with the link %q, %d marks:\n%s", link, n, body)
		}
		if link != "" && !strings.HasSuffix(body, `,"link":"`+mark+`"}}`) {
			t.Errorf("the mark is elsewhere:\n%s", body)
		}
	}
}

func encodeWebhook(t *testing.T, e wire.WebhookEvent) []byte {
	t.Helper()

	body, err := wire.EncodeWebhook(e)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
