package anthropic_test

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
)

// An image that another model made is in the message behind its answer: the service takes images from a user only,
// and with results.
func TestImagesOfOtherAnswers(t *testing.T) {
	t.Parallel()

	peer, url := newPeer(t, say(blocks(fake.Text("A cat."))))
	m := newModel(t, url, anthropic.Config{})
	image := spool.Part{Type: spool.PartImage, Image: "data:image/png;base64,iVBORw0KGgo=", MIMEType: "image/png"}
	r := asks("Draw.")
	r.Messages = append(r.Messages, spool.Message{Role: spool.RoleAssistant, Content: spool.Content{image}},
		user("What is it?"))
	if events, err := stream(t, m, r); err != nil || texts(events) != "A cat." {
		t.Fatalf("got %q, %v", texts(events), err)
	}
	const want = `{"role":"assistant","content":[{"type":"text","text":"[an image, which follows]"}]},` +
		`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"What is it?"`
	if body := peer.Requests()[0]; !strings.Contains(body, want) {
		t.Errorf("the request is %s", body)
	}
}
