package webhook_test

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

func TestWithLink(t *testing.T) {
	t.Parallel()

	const link = "https://agents.example/api/agent/inbox/links/eyJ0Ijoi-_.pT2x?a=%20;b=1"
	const mark = wire.WebhookLinkMark
	body := webhook.Body{ContentType: "text/plain", Bytes: []byte("go to " + mark + ", " + mark)}
	sent, err := body.WithLink(link)
	if err != nil || string(sent.Bytes) != "go to "+link+", "+link || sent.ContentType != "text/plain" {
		t.Errorf("WithLink = %s, %v", sent.Bytes, err)
	}
	if strings.Contains(string(body.Bytes), link) || !body.Linked() {
		t.Errorf("the stored body has changed: %s", body.Bytes)
	}
	for name, bad := range map[string]string{
		"Empty": "", "Quote": `https://hidden/"`, "Ampersand": "https://hidden/?a=1&b=2", "Less": "https://hidden/<",
		"Space": "https://hidden/ ", "Letter": "https://hidden/ä", "Line": "https://hidden/\n", "Escape": `https://hidden/\`,
		"Long": "https://hidden/" + strings.Repeat("x", wire.MaxWebhookLink),
	} {
		if _, err := body.WithLink(bad); spool.CodeOf(err) != spool.Invalid || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := webhook.Body{Bytes: []byte("nothing")}
	if sent, err := plain.WithLink(""); err != nil || string(sent.Bytes) != "nothing" || plain.Linked() {
		t.Errorf("without a mark: %s, %v", sent.Bytes, err)
	}
}
