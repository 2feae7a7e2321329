package wire

import "time"

// WebhookSamples returns an event of each kind, in the order of [WebhookKinds]: for documents, and to try templates
// with. Each has a text, and those about a question that waits have a link, whether an endpoint asks for these or not.
func WebhookSamples() []WebhookEvent {
	made := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	until := made.Add(24 * time.Hour)
	question := func(data *WebhookData) {
		data.Question = &WebhookQuestion{
			ToolCallID: "call_1", ToolName: "send_email", Reason: ParkApproval, ExpiresAt: until,
			Digest: "sha256:0b7f4c1d9a3e5f6872c0d4b1a9e8f7061524334251607f8e9dacbd0e1f2a3b4c",
		}
		data.State, data.Link = WaitingForInput, WebhookLinkMark
	}
	change := map[WebhookType]func(*WebhookData){
		WebhookRunStarted:  func(d *WebhookData) { d.State, d.Text = Running, "" },
		WebhookRunWaiting:  question,
		WebhookRunExpiring: question,
		WebhookRunExpired: func(d *WebhookData) {
			question(d)
			d.Expired, d.Link = Expired{Questions: 1, Since: until}, ""
		},
		WebhookRunBudgetReached: func(d *WebhookData) { d.State, d.Budget = Running, StopTokenBudget },
		WebhookRunHandedOver: func(d *WebhookData) {
			d.State, d.HandedOver = Running, &WebhookHandedOver{From: "triage", To: "assistant"}
		},
		WebhookRunCompleted: func(d *WebhookData) { d.State, d.StopReason = Completed, StopCompleted },
		WebhookRunFailed: func(d *WebhookData) {
			d.State, d.StopReason, d.Error = Failed, StopFailed, `the model answered "overloaded"`
		},
		WebhookRunCancelled:  func(d *WebhookData) { d.State, d.StopReason = Cancelled, StopCancelled },
		WebhookThreadDeleted: func(d *WebhookData) { d.RunID, d.Agent, d.Text = "", "", "" },
		WebhookSchedulePaused: func(d *WebhookData) {
			*d = WebhookData{Agent: d.Agent, Schedule: &WebhookSchedule{
				Name: "nightly", Reason: "the right to start runs has ended",
			}}
		},
	}
	kinds := WebhookKinds()
	samples := make([]WebhookEvent, len(kinds))
	for i, k := range kinds {
		samples[i] = WebhookEvent{
			ID: "msg_2N8tq4Vw6cYd", Type: k.Type, Timestamp: made.Add(time.Minute), Data: WebhookData{
				ThreadID: "t1", ThreadCreatedAt: made, Version: int64(i) + 1, RunID: "r1", Agent: "assistant",
				Labels: map[string]string{"team": "billing"}, Text: "The invoice is \"INV-7\".\nShall I send it?",
			},
		}
		change[k.Type](&samples[i].Data)
	}
	return samples
}
