// Package webhook says what an endpoint is told, and makes one attempt to tell it. It knows no store and no engine:
// who keeps the events, and when an attempt is due, is for its caller.
//
//	form, err := webhook.NewForm(webhook.FormConfig{Form: webhook.Slack})
//	sender, err := webhook.NewSender(webhook.Config{})
//	...
//	payload, err := wire.EncodeWebhook(event)
//	body, err := form.Render(payload)    // stored: every attempt sends these bytes
//	sent, err := body.WithLink(link)     // but for the link, which is made for each attempt
//	outcome := sender.Send(ctx, webhook.Post{ID: event.ID, URL: url, Signer: signer, Body: sent})
//	wait, again := webhook.Wait(outcome, attempt, rand.Float64)
//
// The headers and signatures are those of Standard Webhooks 1.0, which receivers verify with its libraries.
package webhook
