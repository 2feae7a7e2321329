package openai_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/openai"
)

const dot = "data:image/png;base64,iVBORw0KGgo="

// Images of an answer come as OpenRouter sends them, or as parts of the content. One that is elsewhere is a text,
// because a client would open an image.
func TestImagesOfAnswers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		delta string
		files int
		text  string
	}{
		"OpenRouter": {
			`{"content":"","images":[{"type":"image_url","image_url":{"url":"` + dot + `"}},{"image_url":"` + dot + `"}]}`, 2,
			"",
		},
		"part": {
			`{"content":[{"type":"text","text":"Look:"},{"type":"image_url","image_url":{"url":"` + dot + `"}}]}`, 1, "Look:",
		},
		"elsewhere": {
			`{"images":[{"image_url":{"url":"https://tracker.example/p.png"}}]}`, 0,
			"[an image at https://tracker.example/p.png, which was not fetched]",
		},
		"another scheme": {`{"images":[{"image_url":{"url":"javascript:alert(1)"}}]}`, 0, "[an image that cannot be read]"},
		"broken": {
			`{"images":[{"image_url":{"url":"data:image/png;base64,%%%"}}]}`, 0, "[an image that cannot be read]",
		},
		"other shapes": {`{"content":"Hi.","images":{"a":1}}`, 0, "Hi."},
	} {
		events, err := say(t, deltaChunk(c.delta), finishChunk("stop"))
		files := only[spool.FileMade](events)
		var text strings.Builder
		for _, d := range only[spool.TextDelta](events) {
			text.WriteString(d.Text)
		}
		if err != nil || len(files) != c.files || text.String() != c.text {
			t.Errorf("%s: %d files, %q, %v", name, len(files), text.String(), err)
		}
		for _, f := range files {
			if f.MediaType != "image/png" || string(f.Data) != "\x89PNG\r\n\x1a\n" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// A server whose model takes no images gets the results without them, and the model reads that it does not see them.
func TestRefusedImages(t *testing.T) {
	t.Parallel()

	r := spool.ModelRequest{Messages: []spool.Message{
		userSays("Draw."),
		{Role: spool.RoleAssistant, Content: spool.Content{{Type: spool.PartToolCall, ToolCallID: "a", ToolName: "draw"}}},
		{Role: spool.RoleTool, Content: spool.Content{
			{Type: spool.PartToolResult, ToolCallID: "a", ToolName: "draw", Result: []byte(`"done"`)},
			{Type: spool.PartImage, Image: dot},
		}},
	}}
	for _, c := range []struct {
		status  int
		refusal string
		again   bool
	}{
		{400, "Invalid content type. image_url is only supported by certain models.", true},
		{
			400,
			"Failed to deserialize the JSON body into the target type: messages[2]: unknown variant `image_url`, expected `text`",
			true,
		},
		{500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", true},
		{404, "No endpoints found that support image input", true},
		{400, "At most 0 image(s) may be provided in one prompt.", true},
		{429, "Rate limit reached for image input", false},
		{400, "You uploaded a picture that is broken", false},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, body string) {
			if strings.Contains(body, dot) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"error":{"message":"`+c.refusal+`"}}`)
				return
			}
			send(w, textChunk("Fine."), finishChunk("stop"))
		})
		var log bytes.Buffer
		m := p.model(t, openai.Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 2 {
			events, err := stream(t, m, r)
			if (err == nil && heard(events) == "Fine. stop") != c.again {
				t.Errorf("%s: %q, %v", c.refusal, heard(events), err)
			}
			told := spool.FilesWithheld{Text: "[an image or a file of this result is not shown: this model does not take it]"}
			if c.again && (len(events) == 0 || events[0] != spool.ModelEvent(told)) {
				t.Errorf("%s: nobody is told first that the image was not sent: %+v", c.refusal, events)
			}
		}
		all := p.requests()
		if !c.again {
			if len(all) != 2 {
				t.Errorf("%s: %d requests", c.refusal, len(all))
			}
			continue
		}
		if len(all) != 3 || !strings.Contains(all[2], "this model does not take it") ||
			!strings.Contains(log.String(), "result_images: false") {
			t.Errorf("%s: %q, %s", c.refusal, all, log.String())
		}
	}
}
