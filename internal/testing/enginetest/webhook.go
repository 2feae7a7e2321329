package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// webhookTest is the fixture of the cases about the events that commits tell to endpoints.
type webhookTest struct{ *engineTest }

var webhookTests = map[string]func(s webhookTest){
	"Question":   testWebhookQuestion,
	"Expired":    testWebhookExpired,
	"Budget":     testWebhookBudget,
	"HandedOver": testWebhookHandedOver,
	"Ends":       testWebhookEnds,
	"Nested":     testWebhookNested,
	"Steered":    testWebhookSteered,
	"Redriven":   testWebhookRedriven,
	"Deleted":    testWebhookDeleted,
	"Made":       testWebhookMade,
	"Disabled":   testWebhookDisabled,
	"Filtered":   testWebhookFiltered,
	"Start":      testWebhookStart,
	"Faults":     testWebhookFaults,
	"Unread":     testWebhookUnread,
	"Managed":    testWebhookManaged,
	"Delivered":  testWebhookDelivered,
	"Replayed":   testWebhookReplayed,
	"Right":      testWebhookRight,
	"Aged":       testWebhookAged,
	"Host":       testWebhookHost,
}

const webhookSecret = "whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IG9mIG91cnM="

// drawer is a vault that keeps no secret: it turns texts around.
type drawer struct{}

func (drawer) Seal(use string, text []byte) ([]byte, error) {
	sealed := append([]byte(use+"\x00\x00"), text...)
	slices.Reverse(sealed)
	return sealed, nil
}

func (drawer) Open(use string, sealed []byte) ([]byte, error) {
	text := slices.Clone(sealed)
	slices.Reverse(text)
	text, ok := bytes.CutPrefix(text, []byte(use+"\x00\x00"))
	if !ok {
		return nil, spool.Errorf(spool.Internal, "sealed for something else")
	}
	return text, nil
}

// telling adds endpoints to a configuration.
func (s webhookTest) telling(c engine.Config, endpoints ...option.WebhookEndpoint) engine.Config {
	s.Helper()
	sender, err := webhook.NewSender(webhook.Config{Transport: tomorrow{}})
	if err != nil {
		s.Fatal(err)
	}
	for i := range endpoints {
		e := &endpoints[i]
		e.Tenant, e.URL, e.Secrets = chat.Tenant, "https://hooks.example.com/"+e.Name, []string{webhookSecret}
	}
	c.Webhooks = option.Webhooks{
		Sender: sender, Endpoints: endpoints, Vault: drawer{},
		Link: func(context.Context, option.WebhookLink) (string, error) { return "", nil },
	}
	return c
}

// toldEvent is an event that waits for its delivery.
type toldEvent struct {
	wire.WebhookEvent

	endpoint, url string
	job           wire.QueuedJob
}

// told returns the events of all endpoints, those of an endpoint in their order.
func (s webhookTest) told() (all []toldEvent) {
	s.Helper()
	queue := "spool.webhooks"
	var jobs []wire.QueuedJob
	for _, state := range []wire.JobState{"", wire.JobDead} { // nobody has taken those that a worker has tried
		some, err := s.backend.Store.Jobs(
			context.Background(), wire.JobQuery{Tenant: chat.Tenant, Queue: &queue, State: state},
		)
		if err != nil {
			s.Fatal(err)
		}
		jobs = append(jobs, some...)
	}
	ids := make(map[string]bool)
	for _, j := range jobs {
		var p struct {
			Event wire.WebhookEvent
			URL   string
		}
		if err := json.Unmarshal(j.Payload, &p); err != nil {
			s.Fatal(err)
		}
		if id := j.Subject + " " + p.Event.ID; ids[id] || j.ThreadID != p.Event.Data.ThreadID {
			s.Errorf("an endpoint gets an event twice, or of another thread: %+v", j)
		} else {
			ids[id] = true
		}
		all = append(all, toldEvent{p.Event, j.Subject, p.URL, j})
	}
	slices.SortFunc(all, func(x, y toldEvent) int {
		return compareAll(strings.Compare(x.endpoint, y.endpoint), x.Data.ThreadCreatedAt.Compare(y.Data.ThreadCreatedAt),
			int(x.Data.Version-y.Data.Version), x.Data.Index-y.Data.Index)
	})
	return all
}

func compareAll(by ...int) int {
	for _, c := range by {
		if c != 0 {
			return c
		}
	}
	return 0
}

// tells checks the events of an endpoint, without their order among other endpoints.
func (s webhookTest) tells(endpoint string, want ...string) (all []toldEvent) {
	s.Helper()
	var lines []string
	for _, e := range s.told() {
		if e.endpoint == endpoint {
			all, lines = append(all, e), append(lines, e.line())
		}
	}
	s.lines("events for "+endpoint, lines, want...)
	return all
}

// line returns the type of an event, and what it is about.
func (e toldEvent) line() string {
	d := e.Data
	parts := []string{string(e.Type), string(d.RunID), string(d.State), string(d.Budget)}
	if d.StopReason != "" {
		parts = append(parts, string(d.StopReason))
	}
	if q := d.Question; q != nil {
		parts = append(parts, string(q.ToolCallID), q.ToolName, q.Reason)
	}
	if h := d.HandedOver; h != nil {
		parts = append(parts, h.From+">"+h.To, "for", d.Agent)
	}
	if d.Link != "" {
		parts = append(parts, "link")
	}
	if d.Text != "" {
		parts = append(parts, fmt.Sprintf("%q", d.Text))
	}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// testWebhookQuestion has a run that asks, and three endpoints: they get the same events, with what each asks for.
func testWebhookQuestion(s webhookTest) {
	e := s.working(s.telling(s.config(sending(), approved("send", `"sent"`)), option.WebhookEndpoint{Name: "bare"},
		option.WebhookEndpoint{Name: "linked", Approver: "ann"}, option.WebhookEndpoint{Name: "texts", Text: true}))
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Labels: map[string]string{"team": "x"}})
	s.becomes(wire.WaitingForInput)
	s.answer(e, "c1", true, "")
	s.ended(wire.Completed)
	bare := s.tells("bare", "run.started r1 RUNNING", "run.waiting r1 WAITING_FOR_INPUT c1 send approval",
		"run.completed r1 COMPLETED completed")
	linked := s.tells("linked", "run.started r1 RUNNING", "run.waiting r1 WAITING_FOR_INPUT c1 send approval link",
		"run.completed r1 COMPLETED completed")
	s.tells("texts", "run.started r1 RUNNING", "run.waiting r1 WAITING_FOR_INPUT c1 send approval",
		`run.completed r1 COMPLETED completed "done"`)
	park, thread := s.shown("c1"), s.thread()
	last := int64(0)
	for i, event := range bare {
		d := event.Data
		if d.Version <= last || d.Index != 0 || !d.ThreadCreatedAt.Equal(thread.CreatedAt) || d.Labels["team"] != "x" ||
			d.Agent != "a" || event.ID != linked[i].ID || !strings.HasPrefix(event.ID, "msg") || event.Timestamp.IsZero() {
			s.Errorf("event %d: %+v", i, event)
		}
		last = d.Version
	}
	q := bare[1].Data.Question
	if q.Digest != park.Digest || !q.ExpiresAt.Equal(park.ExpiresAt) || q.Digest == "" {
		s.Errorf("the question is %+v, the park %+v", q, park)
	}
	if linked[1].Data.Link != wire.WebhookLinkMark {
		s.Errorf("the link is %q", linked[1].Data.Link)
	}
	s.view(func(v store.View) error {
		deltas, err := v.Deltas(store.DeltaQuery{After: last - 1})
		if len(deltas) == 0 || deltas[0].Version != last || deltas[0].RunID != "" && deltas[0].RunID != "r1" {
			s.Errorf("the version %d of the end is %+v", last, deltas)
		}
		return err
	})
}

// testWebhookExpired has a question about whose end the events tell, with the mark of the run.
func testWebhookExpired(s webhookTest) {
	c := s.telling(s.config(sending(), approved("send", `"sent"`)), option.WebhookEndpoint{Name: "all", Approver: "ann"})
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	all := s.tells("all", "run.started r1 RUNNING", "run.waiting r1 WAITING_FOR_INPUT c1 send approval link",
		"run.expiring r1 WAITING_FOR_INPUT c1 send approval link", "run.expired r1 RUNNING c1 send approval",
		"run.completed r1 COMPLETED completed")
	asked, warned, expired := all[1].Data.Question, all[2].Data.Question, all[3].Data
	if warned.Digest != asked.Digest || !warned.ExpiresAt.Equal(asked.ExpiresAt) ||
		!expired.Question.ExpiresAt.Equal(asked.ExpiresAt) || expired.Expired.Questions != 1 {
		s.Errorf("asked %+v, warned %+v, expired %+v", asked, warned, expired)
	}
}

// testWebhookBudget has a run that asks for a larger budget, and one that ends at its budget.
func testWebhookBudget(s webhookTest) {
	b := budgetTest(s)
	e := s.working(s.telling(b.asksForMore(spool.Budget{Tokens: 230}, frugal(40, looking)),
		option.WebhookEndpoint{Name: "all"}))
	s.start(e, "r1", "go")
	id := b.budgetPark().ToolCallID
	s.answer(e, id, false, "")
	s.ended(wire.Completed)
	asked := fmt.Sprintf("%s budget budget_reached", id)
	got := s.told()
	asked = strings.Replace(asked, " budget ", " "+got[1].Data.Question.ToolName+" ", 1)
	s.tells("all", "run.started r1 RUNNING", "run.waiting r1 WAITING_FOR_INPUT "+asked,
		"run.budget_reached r1 WAITING_FOR_INPUT token_budget "+asked,
		"run.budget_reached r1 COMPLETED token_budget token_budget", //nolint:dupword // the reason, and the budget
		"run.completed r1 COMPLETED token_budget")
	if x, y := got[1].Data, got[2].Data; x.Version != y.Version || x.Index != 0 || y.Index != 1 || got[1].ID == got[2].ID {
		s.Errorf("two events of one commit: %+v, %+v", got[1], got[2])
	}
}

func testWebhookHandedOver(s webhookTest) {
	t := transferTest(s)
	m := spooltest.NewModel(spooltest.Use(hand("c1", "b", "It is about b.")))
	e := s.working(s.telling(t.configOf(m, spooltest.NewModel(spooltest.Say("done")), ""),
		option.WebhookEndpoint{Name: "all"},
		option.WebhookEndpoint{Name: "of-a", Filter: wire.WebhookFilter{Agents: []string{"a"}}}))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.tells("all", "run.started r1 RUNNING", "run.handed_over r1 QUEUED a>b for b", "run.completed r1 COMPLETED completed")
	s.tells("of-a", "run.started r1 RUNNING")
}

// testWebhookEnds has runs that fail, that are stopped, and that never ran.
func testWebhookEnds(s webhookTest) {
	gate := make(chan struct{})
	broken := spooltest.Turn{Err: &spool.Error{Code: spool.Invalid, Message: "the model refuses"}}
	m := spooltest.NewModel(broken, spooltest.Turn{Text: []string{"hi"}, Gate: gate}, spooltest.Say("bye"))
	e := s.working(s.telling(s.config(m), option.WebhookEndpoint{Name: "all"}))
	s.start(e, "r1", "go")
	s.ended(wire.Failed)
	s.start(e, "r2", "go")
	s.becomes(wire.Running)
	s.startAs(e, chat, wire.StartRequest{RunID: "r3", Prompt: "later", WhenBusy: spool.BusyEnqueue})
	s.stop(e)
	s.ended(wire.Cancelled)
	close(gate)
	all := s.tells("all", "run.started r1 RUNNING", "run.failed r1 FAILED failed", "run.started r2 RUNNING",
		"run.cancelled r3 CANCELLED cancelled", "run.cancelled r2 CANCELLED cancelled")
	if text := all[1].Data.Error; !strings.Contains(text, "the model refuses") {
		s.Errorf("the error is %q", text)
	}
}

// testWebhookNested has a nested run that asks. Its question is an event of the dispatched run, and its start and its
// end are none.
func testWebhookNested(s webhookTest) {
	n := nestedTest(s)
	e := s.working(s.telling(n.treeConfig(mailing(), plain("look", `"seen"`), approved("send", `"sent"`)),
		option.WebhookEndpoint{Name: "all"}))
	s.start(e, "r1", "go")
	s.becomes(wire.WaitingForInput)
	asked := n.waiting()["mail:send"].ToolCallID
	n.answerAs(e, "mail:send", true)
	s.ended(wire.Completed)
	s.same("runs", len(s.runsOf(chat)), 2)
	s.tells("all", "run.started r1 RUNNING", fmt.Sprintf("run.waiting r1 WAITING_FOR_INPUT %s send approval", asked),
		"run.completed r1 COMPLETED completed")
}

// testWebhookSteered has a run that is only a message for another one.
func testWebhookSteered(s webhookTest) {
	gate := make(chan struct{})
	m := spooltest.NewModel(
		spooltest.Turn{Calls: []spooltest.Call{{ID: "c1", Name: "look"}}, Gate: gate}, spooltest.Say("done"))
	e := s.working(s.telling(s.config(m, plain("look", "1")), option.WebhookEndpoint{Name: "all"}))
	s.start(e, "r1", "go")
	s.becomes(wire.Running)
	s.startAs(e, chat, wire.StartRequest{RunID: "r2", Prompt: "and", WhenBusy: spool.BusySteer})
	close(gate)
	s.ended(wire.Completed)
	s.same("the steer", s.run("r2").StopReason, wire.StopSteered)
	s.tells("all", "run.started r1 RUNNING", "run.completed r1 COMPLETED completed")
}

// testWebhookRedriven has a run that goes on with the work of a failed one: it is a run of its own.
func testWebhookRedriven(s webhookTest) {
	d := redriveTest(s)
	e := s.engine(s.telling(s.config(spooltest.NewModel(spooltest.Say("hi"))), option.WebhookEndpoint{Name: "all"}))
	s.start(e, "r1", "go")
	job := d.die(e)
	s.ended(wire.Failed)
	s.tells("all", "run.failed r1 FAILED failed")
	next := d.redrive(e, job).RunID
	s.work(e)
	s.ended(wire.Completed)
	s.tells("all", "run.failed r1 FAILED failed", fmt.Sprintf("run.started %s RUNNING", next),
		fmt.Sprintf("run.completed %s COMPLETED completed", next))
}

// testWebhookDeleted removes a thread, makes it again, and removes it by its age.
func testWebhookDeleted(s webhookTest) {
	s.lasts(24 * time.Hour)
	e := s.working(s.telling(s.config(spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))),
		option.WebhookEndpoint{Name: "all", Filter: wire.WebhookFilter{Labels: map[string]string{"team": "x"}}},
		option.WebhookEndpoint{Name: "else", Filter: wire.WebhookFilter{Labels: map[string]string{"team": "y"}}}))
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", Labels: map[string]string{"team": "x"}})
	s.ended(wire.Completed)
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatalf("%+v, %v", r, err)
	}
	s.history.Threads = nil
	s.startAs(e, chat, wire.StartRequest{RunID: "r2", Prompt: "again", Labels: map[string]string{"team": "x"}})
	s.ended(wire.Completed)
	<-time.After(time.Minute)
	before := s.now().Add(-30 * time.Second)
	if r, err := e.Prune(context.Background(), wire.PruneOptions{Tenant: chat.Tenant, Before: before}); err != nil ||
		len(r.Threads) != 1 {
		s.Fatalf("%+v, %v", r, err)
	}
	all := s.tells("all", "run.started r1 RUNNING", "run.completed r1 COMPLETED completed", "thread.deleted",
		"run.started r2 RUNNING", "run.completed r2 COMPLETED completed", "thread.deleted")
	s.tells("else")
	for i, x := range all[:5] {
		y := all[i+1].Data
		later := y.ThreadCreatedAt.Compare(x.Data.ThreadCreatedAt)
		if later < 0 || later == 0 && y.Version <= x.Data.Version {
			s.Errorf("event %d is not behind the one before: %+v, %+v", i+1, x.Data, y)
		}
	}
	if x, y := all[2].Data, all[5].Data; x.ThreadID != chat.ID || !y.ThreadCreatedAt.After(x.ThreadCreatedAt) ||
		x.Labels["team"] != "x" {
		s.Errorf("the ends are %+v, %+v", x, y)
	}
}

// testWebhookMade has two processes. What one makes, the other one tells, from a second behind the answer on.
func testWebhookMade(s webhookTest) {
	m := spooltest.NewReplayModel(spooltest.Say("hi"))
	here := s.engine(s.telling(s.config(m)))
	there := s.working(s.telling(s.config(m)))
	run := func(id spool.RunID) {
		s.Helper()
		s.start(there, id, "go")
		s.ended(wire.Completed)
	}
	run("r1") // the other process has read that there is no endpoint
	made, err := here.CreateWebhook(context.Background(), chat.Tenant, wire.WebhookCreate{
		Name: "made", URL: "https://hooks.example.com/secret-path",
		WebhookFilter: wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunCompleted}},
	})
	if err != nil || made.Secret == "" || made.Origin != "https://hooks.example.com" || made.Secrets != 1 {
		s.Fatalf("%+v, %v", made, err)
	}
	<-time.After(time.Second)
	run("r2")
	s.tells("made", "run.completed r2 COMPLETED completed")
	// An event whose first attempt comes after the endpoint is removed would be dropped.
	s.until("the first attempt", func() bool { return s.told()[0].job.State == wire.JobDelayed })
	if err := here.RemoveWebhook(context.Background(), chat.Tenant, "made"); err != nil {
		s.Fatal(err)
	}
	<-time.After(time.Second)
	run("r3")
	s.tells("made", "run.completed r2 COMPLETED completed")
}

// testWebhookDisabled takes an endpoint of the configuration out of use, until its definition is another one.
func testWebhookDisabled(s webhookTest) {
	ctx, yes, no := context.Background(), true, false
	only := wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunCompleted}}
	c := s.config(spooltest.NewReplayModel(spooltest.Say("hi")))
	e := s.working(s.telling(c, option.WebhookEndpoint{Name: "file", Filter: only}))
	run := func(e *engine.Engine, id spool.RunID) {
		s.Helper()
		s.start(e, id, "go")
		s.ended(wire.Completed)
	}
	got, err := e.ChangeWebhook(ctx, chat.Tenant, "file", wire.WebhookChange{Disabled: &yes})
	if err != nil || got.DisabledAt.IsZero() || got.DisabledReason == "" || !got.FromFile {
		s.Fatalf("%+v, %v", got, err)
	}
	run(e, "r1")
	if _, err = e.ChangeWebhook(ctx, chat.Tenant, "file", wire.WebhookChange{Disabled: &no}); err != nil {
		s.Fatal(err)
	}
	run(e, "r2")
	if _, err = e.ChangeWebhook(ctx, chat.Tenant, "file", wire.WebhookChange{Disabled: &yes}); err != nil {
		s.Fatal(err)
	}
	s.rest()
	same := s.working(s.telling(c, option.WebhookEndpoint{Name: "file", Filter: only}))
	run(same, "r3")
	s.rest()
	other := s.working(s.telling(c, option.WebhookEndpoint{Name: "file", Filter: only, Text: true}))
	run(other, "r4")
	s.tells("file", "run.completed r2 COMPLETED completed", `run.completed r4 COMPLETED completed "hi"`)
	for name, c := range map[string]wire.WebhookChange{"text": {Text: &yes}, "filter": {Filter: &only}} {
		if _, err := e.ChangeWebhook(ctx, chat.Tenant, "file", c); spool.CodeOf(err) != spool.Forbidden {
			s.Errorf("a change of %s: %v", name, err)
		}
	}
	if err := e.RemoveWebhook(ctx, chat.Tenant, "file"); spool.CodeOf(err) != spool.Forbidden {
		s.Errorf("a removal: %v", err)
	}
}

// testWebhookFiltered has endpoints of subjects that see only their own threads, and another tenant.
func testWebhookFiltered(s webhookTest) {
	e := s.working(s.telling(s.config(spooltest.NewReplayModel(spooltest.Say("hi")))))
	only := wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookRunCompleted}}
	as := func(subject string, own bool) context.Context {
		return engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: subject, OwnOnly: own})
	}
	for name, ctx := range map[string]context.Context{
		"ann": as("ann", true), "ben": as("ben", true), "all": as("ann", false),
	} {
		if _, err := e.CreateWebhook(ctx, chat.Tenant, wire.WebhookCreate{
			Name: name, URL: "https://hooks.example.com/", WebhookFilter: only,
		}); err != nil {
			s.Fatal(err)
		}
	}
	if _, err := e.CreateWebhook(context.Background(), "other", wire.WebhookCreate{
		Name: "foreign", URL: "https://hooks.example.com/",
	}); err != nil {
		s.Fatal(err)
	}
	<-time.After(time.Second)
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", By: "ann"})
	s.ended(wire.Completed)
	s.tells("ann", "run.completed r1 COMPLETED completed")
	s.tells("all", "run.completed r1 COMPLETED completed")
	s.tells("ben")
	s.tells("foreign")
	for subject, want := range map[string]int{"ann": 1, "ben": 1, "eve": 0, "": 0} {
		if list, err := e.Webhooks(as(subject, true), chat.Tenant); err != nil || len(list) != want {
			s.Errorf("%s sees %+v, %v", subject, list, err)
		}
	}
	if _, err := e.Webhook(as("ben", true), chat.Tenant, "all"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("the endpoint of somebody else: %v", err)
	}
	if err := e.RemoveWebhook(as("ben", true), chat.Tenant, "ann"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("a removal by somebody else: %v", err)
	}
}

// testWebhookStart has a start that names a webhook of its own, with a nested run.
func testWebhookStart(s webhookTest) {
	c := s.telling(s.config(spooltest.NewReplayModel(spooltest.Say("hi"))))
	c.Webhooks.Hosts = []option.WebhookHost{
		{Host: "Hooks.Example.com", Tenant: chat.Tenant, Secrets: []string{webhookSecret}},
		{Host: "foreign.example.com", Tenant: "other", Secrets: []string{webhookSecret}},
	}
	e := s.working(c)
	const (
		url       = "https://hooks.example.com:8443/in?key=hidden"
		notListed = "webhook: the configuration does not list the host "
	)
	for text, want := range map[string]string{
		"https://elsewhere.example.com/hidden":                         notListed + "elsewhere.example.com",
		"https://foreign.example.com/hidden":                           notListed + "foreign.example.com",
		"http://hooks.example.com/hidden":                              "webhook must be an https URL",
		"https://u:hidden@hooks.example.com/":                          "webhook must not have a user or a password",
		"https://hooks.example.com/hidden" + strings.Repeat("x", 2048): "webhook is longer than 2048 bytes",
		"hidden": "webhook must be an https URL",
	} {
		r, err := e.Run(context.Background(), chat, wire.StartRequest{
			RunID: "r0", Prompt: "go", StartOptions: wire.StartOptions{Webhook: text},
		})
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) ||
			strings.Contains(err.Error(), "hidden") || r.Accepted {
			s.Errorf("%s: %+v, %v", text, r, err)
		}
	}
	s.startAs(e, chat, wire.StartRequest{RunID: "r1", Prompt: "go", StartOptions: wire.StartOptions{Webhook: url}})
	s.ended(wire.Completed)
	s.start(e, "r2", "and one without")
	s.ended(wire.Completed)
	all := s.tells("@hooks.example.com", "run.started r1 RUNNING", "run.completed r1 COMPLETED completed")
	for _, event := range all {
		if !strings.HasPrefix(event.url, "sealed:") || strings.Contains(event.url, "key=") {
			s.Errorf("the event has %s", event.url)
		}
	}
	err := s.backend.Store.Update(context.Background(), chat, 0, func(tx store.Tx) error {
		row, err := store.FindRun(tx, "r1")
		if err == nil && (row.Options == nil || row.Options.Webhook != all[0].url) {
			s.Errorf("the run is kept with %+v", row.Options)
		}
		return err
	})
	if err != nil {
		s.Error(err)
	}

	s.startAs(e, chat, wire.StartRequest{
		RunID: "r3", Prompt: "later", StartAt: s.now().Add(soon), StartOptions: wire.StartOptions{Webhook: url},
	})
	asked, err := s.backend.Store.Rows(context.Background(), store.RowQuery{Tenant: chat.Tenant, Kind: "delayed_asked"})
	if err != nil || len(asked) != 1 || !bytes.Contains(asked[0].Value, []byte("sealed:")) ||
		bytes.Contains(asked[0].Value, []byte("key=")) {
		s.Errorf("the delayed start is kept as %+v, %v", asked, err)
	}
	s.until("the delayed start", func() bool { return len(s.runsOf(chat)) == 3 })
	s.ended(wire.Completed)
	s.tells("@hooks.example.com", "run.started r1 RUNNING", "run.completed r1 COMPLETED completed",
		"run.started r3 RUNNING", "run.completed r3 COMPLETED completed")
}

// testWebhookFaults causes a fault at the commit of a start that claims nothing, and at that of a stop. The events are
// there exactly if the change is.
func testWebhookFaults(s webhookTest) {
	c := s.telling(s.config(spooltest.NewModel()), option.WebhookEndpoint{Name: "all"})
	quiet := s.engine(c)
	for i, kind := range []spooltest.FaultKind{
		spooltest.FailBefore, spooltest.FailAfter, spooltest.CrashBefore, spooltest.CrashAfter, spooltest.Rerun,
	} {
		id := spool.RunID(fmt.Sprintf("r%d", i))
		s.start(quiet, id, "go")
		before := len(s.told())
		f := spooltest.NewFaulty(s.join())
		f.Plan(spooltest.Fault{Call: 1, On: "Store.Update", Kind: kind})
		e := s.over(f.Backend(), c)
		_, err := e.Stop(context.Background(), chat)
		happened := kind != spooltest.FailBefore && kind != spooltest.CrashBefore
		if stopped := s.run(id).State == wire.Cancelled; stopped != happened {
			s.Fatalf("%s: the run is %s, %v", kind, s.run(id).State, err)
		}
		added := s.told()[before:]
		if want := map[bool]int{true: 1, false: 0}[happened]; len(added) != want {
			s.Errorf("%s: %d events", kind, len(added))
		}
		e.Close()
		if !happened {
			s.stop(quiet)
		}
	}
}

// testWebhookUnread has a store whose rows cannot be read: a transaction that may have missed an endpoint does not
// begin.
func testWebhookUnread(s webhookTest) {
	c := s.telling(s.config(spooltest.NewModel()), option.WebhookEndpoint{Name: "all"})
	f := spooltest.NewFaulty(s.join())
	f.Plan(spooltest.Fault{Call: 1, On: "Store.Rows", Kind: spooltest.FailBefore})
	e := s.over(f.Backend(), c)
	_, err := e.Run(context.Background(), chat, wire.StartRequest{RunID: "r1", Prompt: "go"})
	if err == nil {
		s.Error("a start is accepted that may have missed an endpoint")
	}
	s.start(e, "r1", "go") // with the next read
	plain := s.config(spooltest.NewModel())
	f = spooltest.NewFaulty(s.join())
	e = s.over(f.Backend(), plain)
	if _, err := e.UpdateThread(context.Background(), chat, wire.ThreadChange{}); err != nil {
		s.Error(err)
	}
	for _, call := range f.Log() {
		if strings.HasPrefix(call, "Store.Rows") {
			s.Errorf("without webhooks, there is %s", call)
		}
	}
}

// testWebhookManaged makes, changes and removes endpoints.
func testWebhookManaged(s webhookTest) {
	c := s.telling(s.config(spooltest.NewModel()), option.WebhookEndpoint{Name: "file"})
	c.Webhooks.MaxEndpoints = 2
	c.Webhooks.MayApprove = func(subject string) bool { return subject == "ann" }
	e := s.engine(c)
	ctx := engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: "eve"})
	const url = "https://hooks.example.com/hidden?key=hidden"
	good := wire.WebhookCreate{Name: "one", URL: url, Form: "slack", Approver: "ann"}
	for want, change := range map[string]func(c *wire.WebhookCreate){
		"name is required":              func(c *wire.WebhookCreate) { c.Name = "" },
		"name: there is an endpoint":    func(c *wire.WebhookCreate) { c.Name = "file" },
		"url must be an https URL":      func(c *wire.WebhookCreate) { c.URL = "ftp://hidden/" },
		"url must not lead there":       func(c *wire.WebhookCreate) { c.URL = "https://127.0.0.1/hidden" },
		"form must be plain or slack":   func(c *wire.WebhookCreate) { c.Form = "template" },
		"events[0] is no kind of event": func(c *wire.WebhookCreate) { c.Events = []wire.WebhookType{"x"} },
		"approver must be a subject":    func(c *wire.WebhookCreate) { c.Approver = "bob" },
	} {
		bad := good
		change(&bad)
		if _, err := e.CreateWebhook(ctx, chat.Tenant, bad); err == nil || strings.Contains(err.Error(), "hidden") ||
			!strings.HasPrefix(spool.MessageOf(err), want) {
			s.Errorf("%v, want %s", err, want)
		}
	}
	one, err := e.CreateWebhook(ctx, chat.Tenant, good)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := e.CreateWebhook(ctx, chat.Tenant, good); spool.CodeOf(err) != spool.Conflict {
		s.Errorf("the same name again: %v", err)
	}
	if _, err := e.CreateWebhook(ctx, chat.Tenant, wire.WebhookCreate{Name: "two", URL: url}); err != nil {
		s.Fatal(err)
	}
	_, err = e.CreateWebhook(ctx, chat.Tenant, wire.WebhookCreate{Name: "three", URL: url})
	if spool.CodeOf(err) != spool.Limit {
		s.Errorf("one too many: %v", err)
	}
	second, err := e.RotateWebhookSecret(ctx, chat.Tenant, "one", wire.WebhookRotation{})
	if err != nil || second.Secrets != 2 || second.Secret == "" || second.Secret == one.Secret {
		s.Fatalf("%+v, %v", second, err)
	}
	_, err = e.RotateWebhookSecret(ctx, chat.Tenant, "one", wire.WebhookRotation{})
	if spool.CodeOf(err) != spool.Conflict {
		s.Errorf("a third secret: %v", err)
	}
	last, err := e.RotateWebhookSecret(ctx, chat.Tenant, "one", wire.WebhookRotation{Finish: true})
	if err != nil || last.Secrets != 1 || last.Secret != "" {
		s.Fatalf("%+v, %v", last, err)
	}
	other, form, yes := "https://hooks.example.org/hidden", "plain", true
	changed, err := e.ChangeWebhook(ctx, chat.Tenant, "one", wire.WebhookChange{URL: &other, Form: &form, Disabled: &yes})
	want := one.WebhookEndpoint
	want.Origin, want.Form, want.DisabledAt, want.DisabledReason = "https://hooks.example.org", "plain",
		changed.DisabledAt, changed.DisabledReason
	if err != nil || changed.DisabledAt.IsZero() {
		s.Fatalf("%+v, %v", changed, err)
	}
	s.same("the endpoint", changed, want)
	rows, err := s.backend.Store.Rows(ctx, store.RowQuery{Tenant: chat.Tenant, Kind: "webhook"})
	if err != nil {
		s.Fatal(err)
	}
	text, err := json.Marshal(struct {
		Rows    []store.Row
		Answers []any
	}{rows, []any{one.WebhookEndpoint, second.WebhookEndpoint, last, changed}})
	for _, secret := range []string{"hidden", one.Secret, second.Secret} {
		if err != nil || bytes.Contains(text, []byte(secret)) {
			s.Errorf("%s is in %s, %v", secret, text, err)
		}
	}
	for _, name := range []string{"one", "two"} {
		if err := e.RemoveWebhook(ctx, chat.Tenant, name); err != nil {
			s.Error(err)
		}
	}
	if err := e.RemoveWebhook(ctx, chat.Tenant, "one"); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("a removal of nothing: %v", err)
	}
	list, err := e.Audit(ctx, chat.Tenant, wire.AuditQuery{})
	if err != nil {
		s.Fatal(err)
	}
	acts := make(map[wire.AuditAction]int)
	for _, a := range list {
		acts[a.Action]++
		if a.By != "eve" || bytes.Contains(a.Detail, []byte("hidden")) {
			s.Errorf("an entry of the audit log: %+v", a)
		}
	}
	if want := map[wire.AuditAction]int{
		wire.AuditCreateWebhook: 2, wire.AuditChangeWebhook: 3, wire.AuditRemoveWebhook: 2,
	}; !maps.Equal(acts, want) {
		s.Errorf("the audit log has %v", acts)
	}
}
