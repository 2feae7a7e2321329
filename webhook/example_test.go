package webhook_test

import (
	"fmt"
	"log"

	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// A body is rendered once. Only the link is made for each attempt.
func ExampleForm_Render() {
	form, err := webhook.NewForm(webhook.FormConfig{
		Form:     webhook.Template,
		Template: `{"content": {{json .data.question.toolName}}, "url": "{{.data.link}}"}`,
		Events:   []wire.WebhookType{wire.WebhookRunWaiting},
	})
	if err != nil {
		log.Fatal(err)
	}
	event := wire.WebhookSamples()[1]
	payload, err := wire.EncodeWebhook(event)
	if err != nil {
		log.Fatal(err)
	}
	body, err := form.Render(payload)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := body.WithLink("https://agents.example/links/a1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(sent.Bytes))
	// Output: {"content": "send_email", "url": "https://agents.example/links/a1"}
}

// A mistake in a template is found before an event meets it.
func ExampleNewForm() {
	_, err := webhook.NewForm(webhook.FormConfig{Form: webhook.Template, Template: "{\"text\":\n {{json .data.txt}}}"})
	fmt.Println(err)
	_, err = webhook.NewForm(webhook.FormConfig{Form: webhook.Template, Template: `{{range 1000000000}}x{{end}}`})
	fmt.Println(err)
	// Output:
	// template: line 2, column 14: at <.data.txt>: map has no entry for key "txt", for the event run.started
	// template: line 1, column 9: at <{{range 1000000000}}x{{…>: range goes over .data.labels and $.data.labels only
}
