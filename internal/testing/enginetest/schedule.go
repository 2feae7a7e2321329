package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// These are cases of schedules.
var scheduleTests = map[string]func(s scheduleTest){
	"Starts":  testScheduleStarts,
	"Overlap": testScheduleOverlap,
	"Missed":  testScheduleMissed,
	"Paused":  testSchedulePaused,
	"Change":  testScheduleChange,
	"Now":     testScheduleNow,
	"Once":    testScheduleOnce,
	"Right":   testScheduleRight,
	"Told":    testScheduleTold,
	"Bound":   testScheduleBound,
	"Refused": testScheduleRefused,
	"Deleted": testScheduleDeleted,
	"File":    testScheduleFile,
	"Own":     testScheduleOwn,
	"Invalid": testScheduleInvalid,
	"Killed":  testScheduleKilled,
	"Twice":   testScheduleTwice,
}

// scheduleTest is the fixture. May is what the maker may do.
type scheduleTest struct{ *engineTest }

// may is a table of rights that a case can change.
type may struct {
	mu     sync.Mutex
	rights wire.Rights
	err    error
}

func (m *may) start(context.Context, wire.Maker) (wire.Rights, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rights, m.err
}

func (m *may) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// saying returns a configuration whose runs say something, and whose makers have the rights of m.
func (s scheduleTest) saying(m *may, tools ...spool.Tool) engine.Config {
	c := s.config(talker(), tools...)
	c.Schedules.MayStart = m.start
	return c
}

// talker returns a model that calls the tool of its agent if it has one, and then says something.
func talker() spool.Model {
	return spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		if last := r.Messages[len(r.Messages)-1]; len(r.Tools) > 0 && last.Role == spool.RoleUser {
			return spooltest.Turn{Calls: []spooltest.Call{{Name: r.Tools[0].Name, Args: `{}`}}}
		}
		return spooltest.Say("Hello")
	})
}

func annToken() wire.Maker {
	return wire.Maker{Tenant: chat.Tenant, Subject: "ann", Kind: wire.MakerToken, Credentials: "hash"}
}

// everyMinutes returns a schedule of the thread of the case, unless it is changed.
func everyMinutes(n int) wire.ScheduleRequest {
	return wire.ScheduleRequest{
		Name: "report", ScheduleRule: wire.ScheduleRule{Every: fmt.Sprint(n, "m")},
		ScheduleStart: wire.ScheduleStart{Prompt: "Report.", ThreadID: chat.ID},
	}
}

func (s scheduleTest) create(e *engine.Engine, q wire.ScheduleRequest) wire.Schedule {
	s.Helper()
	made, err := e.CreateSchedule(context.Background(), chat.Tenant, q, annToken())
	if err != nil {
		s.Fatal(err)
	}
	return made
}

func (s scheduleTest) schedule(e *engine.Engine) wire.Schedule {
	s.Helper()
	got, err := e.Schedule(context.Background(), chat.Tenant, "report")
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// ticks returns the history of the schedule, the oldest line first, as minutes since the schedule was made, results and
// counts.
func (s scheduleTest) ticks(e *engine.Engine) (lines []string) {
	s.Helper()
	made := s.schedule(e).CreatedAt
	ticks, err := e.ScheduleTicks(context.Background(), chat.Tenant, "report", 0)
	if err != nil {
		s.Fatal(err)
	}
	for _, t := range slices.Backward(ticks) {
		line := fmt.Sprint("now ", t.Result)
		if !t.DueAt.IsZero() {
			line = fmt.Sprint(t.DueAt.Sub(made).Round(time.Minute), " ", t.Result)
		}
		if t.Count > 0 {
			line += fmt.Sprint(" ", t.Count)
		}
		if t.Result == wire.ScheduleRefused {
			line += ": " + t.Reason
		}
		lines = append(lines, line)
		if (t.Result == wire.ScheduleStarted) != (t.RunID != "" && t.ThreadID != "") {
			s.Errorf("the tick %+v has a run, or none", t)
		}
	}
	return lines
}

// runs returns how many runs the tenant has.
func (s scheduleTest) runs() int {
	s.Helper()
	runs, err := s.backend.Store.Runs(context.Background(), wire.RunQuery{Tenant: chat.Tenant})
	if err != nil {
		s.Fatal(err)
	}
	return len(runs)
}

// testScheduleStarts has two processes. The runs of a schedule start at their times, once each, as their maker.
func testScheduleStarts(s scheduleTest) {
	m := &may{rights: wire.Rights{Scopes: []string{"boss"}}}
	c := s.saying(m)
	c.Agents[0].Access.Scopes = []string{"boss"}
	e := s.working(c)
	c = s.saying(m)
	c.Agents[0].Access.Scopes = []string{"boss"}
	s.working(c)
	q := everyMinutes(10)
	q.ThreadID, q.Title, q.Labels, q.HostState = "", "Daily", map[string]string{"kind": "report"}, json.RawMessage(`{"a":1}`)
	q.Model, q.TokenBudget = "m", 1000
	made := s.create(e, q)
	if made.InWords != "every 10 minutes" || made.MadeBy != "ann" || len(made.Next) != 5 || made.NextAt != made.Next[0] {
		s.Errorf("the schedule is %+v", made)
	}
	if text, err := json.Marshal(made); err != nil || strings.Contains(string(text), `"a":1`) {
		s.Errorf("the host state is shown: %s, %v", text, err)
	}
	<-time.After(35 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"10m0s started", "20m0s started", "30m0s started"})
	runs, err := s.backend.Store.Runs(context.Background(), wire.RunQuery{Tenant: chat.Tenant, Whole: true})
	if err != nil || len(runs) != 3 {
		s.Fatalf("there are %d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if r.StartedBy != "ann" || string(r.HostState) != `{"a":1}` || r.State != wire.Completed || r.Scopes[0] != "boss" ||
			r.Allowance.Budget.Tokens != 1000 {
			s.Errorf("the run is %+v", r)
		}
		t := s.threadOf(spool.ThreadKey{Tenant: chat.Tenant, ID: r.ThreadID})
		if t.Owner != "ann" || t.Title != "Daily" || t.Labels["kind"] != "report" {
			s.Errorf("the thread is %+v", t)
		}
	}
	got := s.schedule(e)
	if got.Last.RunID != runs[0].ID || got.LastDueAt != got.Last.DueAt ||
		!got.NextAt.Equal(got.LastDueAt.Add(10*time.Minute)) {
		s.Errorf("the schedule is %+v", got)
	}
	list, err := e.Schedules(context.Background(), wire.ScheduleQuery{Tenant: chat.Tenant})
	s.same("list", list, []wire.Schedule{got})
	if other, _ := e.Schedules(context.Background(), wire.ScheduleQuery{Tenant: "other"}); err != nil || len(other) > 0 {
		s.Errorf("another tenant has %+v, %v", other, err)
	}
}

// testScheduleOverlap has a run that waits for a person. With skip, ticks start nothing as long as it does. With
// enqueue they queue up, and with reject they are refused, each with a line of the history.
func testScheduleOverlap(s scheduleTest) {
	c := s.saying(&may{}, approved("ask", `{}`))
	c.ParkTTL = 3 * time.Hour
	e := s.working(c)
	s.create(e, everyMinutes(10))
	<-time.After(35 * time.Minute)
	change := func(overlap string) {
		_, err := e.ChangeSchedule(context.Background(), chat.Tenant, "report", wire.ScheduleChange{Overlap: &overlap}, annToken())
		if err != nil {
			s.Fatal(err)
		}
	}
	change("reject")
	<-time.After(10 * time.Minute)
	change("enqueue")
	<-time.After(10 * time.Minute)
	s.same("ticks", s.ticks(e), []string{
		"10m0s started", "20m0s overlap", "30m0s overlap", "40m0s refused: Thread has an active run", "50m0s started",
	})
	if n := s.runs(); n != 2 {
		s.Errorf("there are %d runs", n)
	}
}

// testScheduleMissed has no worker for some hours.
func testScheduleMissed(s scheduleTest) {
	e := s.engine(s.saying(&may{}))
	for _, missed := range []wire.MissedPolicy{wire.MissedSkip, wire.MissedLatest, wire.MissedAll} {
		q := everyMinutes(10)
		q.Missed, q.Overlap, q.Grace = missed, "enqueue", "5m"
		s.create(e, q)
		<-time.After(37 * time.Minute)
		stop := s.work(e)
		<-time.After(10 * time.Minute)
		stop()
		s.same("ticks of "+string(missed), s.ticks(e), map[wire.MissedPolicy][]string{
			wire.MissedSkip:   {"30m0s missed 3", "40m0s started"},
			wire.MissedLatest: {"20m0s missed 2", "30m0s started", "40m0s started"},
			wire.MissedAll:    {"10m0s started", "20m0s started", "30m0s started", "40m0s started"},
		}[missed])
		if err := e.RemoveSchedule(context.Background(), chat.Tenant, "report"); err != nil {
			s.Fatal(err)
		}
		if left := s.jobs(); left.Delayed != 0 {
			s.Errorf("%d jobs are left", left.Delayed)
		}
	}
}

// testSchedulePaused pauses and resumes a schedule. Nothing comes due in between, and nothing counts as missed.
func testSchedulePaused(s scheduleTest) {
	ctx := context.Background()
	e := s.working(s.saying(&may{}))
	s.create(e, everyMinutes(10))
	<-time.After(15 * time.Minute)
	for range 2 {
		if got, err := e.PauseSchedule(ctx, chat.Tenant, "report", "for a while"); err != nil || !got.Paused ||
			got.PausedReason != "for a while" || got.NextAt != (time.Time{}) || got.Next != nil {
			s.Errorf("paused: %+v, %v", got, err)
		}
	}
	<-time.After(30 * time.Minute)
	for range 2 {
		if got, err := e.ResumeSchedule(ctx, chat.Tenant, "report"); err != nil || got.Paused || got.PausedReason != "" {
			s.Errorf("resumed: %+v, %v", got, err)
		}
	}
	<-time.After(10 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"10m0s started", "50m0s started"})
	entries, err := s.backend.Store.Audit(ctx, wire.AuditQuery{Tenant: chat.Tenant})
	var actions []string
	for _, entry := range entries {
		actions = append(actions, string(entry.Action)+string(entry.Detail))
	}
	s.same("audit", actions, []string{
		`resume_schedule{"schedule":"report"}`, `pause_schedule{"schedule":"report"}`, `create_schedule{"schedule":"report"}`,
	})
	if err != nil {
		s.Error(err)
	}
}

// testScheduleChange changes the rule, and then what is started: the due time then stays.
func testScheduleChange(s scheduleTest) {
	ctx := context.Background()
	m := &may{}
	e := s.working(s.saying(m))
	s.create(e, everyMinutes(60))
	<-time.After(5 * time.Minute)
	every := "30m"
	got, err := e.ChangeSchedule(ctx, chat.Tenant, "report", wire.ScheduleChange{Every: &every}, annToken())
	if err != nil || got.Every != "30m0s" || got.NextAt.Sub(got.CreatedAt).Round(time.Minute) != 35*time.Minute {
		s.Errorf("the schedule is %+v, %v", got, err)
	}
	<-time.After(10 * time.Minute)
	prompt, bob := "Another report.", annToken()
	bob.Subject = "bob"
	after, err := e.ChangeSchedule(ctx, chat.Tenant, "report", wire.ScheduleChange{Prompt: &prompt}, bob)
	if err != nil || after.NextAt != got.NextAt || after.MadeBy != "bob" {
		s.Errorf("the schedule is %+v, %v", after, err)
	}
	<-time.After(30 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"35m0s started"})
	if messages := s.messagesOf(chat); messages[0].Content.Text() != prompt || s.runsOf(chat)[0].StartedBy != "bob" {
		s.Errorf("the messages are %+v", messages)
	}
}

// testScheduleNow runs a schedule at once, also while it is paused. The due time stays.
func testScheduleNow(s scheduleTest) {
	ctx := context.Background()
	e := s.working(s.saying(&may{}))
	q := everyMinutes(60)
	q.Paused = true
	s.create(e, q)
	run := func(want wire.ScheduleResult) {
		s.Helper()
		if tick, err := e.RunScheduleNow(ctx, chat.Tenant, "report"); err != nil || tick.Result != want {
			s.Errorf("run now: %+v, %v", tick, err)
		}
	}
	run(wire.ScheduleStarted)
	run(wire.ScheduleOverlap)
	s.ended(wire.Completed)
	if _, err := e.ResumeSchedule(ctx, chat.Tenant, "report"); err != nil {
		s.Fatal(err)
	}
	before := s.schedule(e).NextAt
	run(wire.ScheduleStarted)
	if next := s.schedule(e).NextAt; next != before {
		s.Errorf("the due time moves from %s to %s", before, next)
	}
	<-time.After(time.Hour)
	s.same("ticks", s.ticks(e), []string{"now started", "now overlap", "now started", "1h0m0s started"})
}

// testScheduleOnce has a schedule that comes due once. It is then finished, and stays.
func testScheduleOnce(s scheduleTest) {
	e := s.working(s.saying(&may{}))
	q := everyMinutes(1)
	q.ScheduleRule = wire.ScheduleRule{At: s.now().Add(10 * time.Minute)}
	s.create(e, q)
	<-time.After(time.Hour)
	s.same("ticks", s.ticks(e), []string{"10m0s started"})
	if got := s.schedule(e); !got.NextAt.IsZero() || got.Paused || s.jobs().Delayed > 0 {
		s.Errorf("the schedule is %+v", got)
	}
}

// testScheduleRight has a right that cannot be looked up for a while, and then ends.
func testScheduleRight(s scheduleTest) {
	m := &may{}
	e := s.working(s.saying(m))
	q := everyMinutes(10)
	q.Grace = "30m"
	s.create(e, q)
	m.fail(spool.Errorf(spool.Unavailable, "no file of tokens"))
	<-time.After(12 * time.Minute)
	s.same("ticks without the file", s.ticks(e), []string(nil))
	m.fail(nil)
	<-time.After(3 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"10m0s started"})
	m.fail(spool.Errorf(spool.Forbidden, "The token is not in the file any more"))
	<-time.After(30 * time.Minute)
	s.same("ticks behind the right", s.ticks(e),
		[]string{"10m0s started", "20m0s refused: The token is not in the file any more"})
	if got := s.schedule(e); !got.Paused || got.PausedReason != "The token is not in the file any more" {
		s.Errorf("the schedule is %+v", got)
	}
	if dead := s.deadJobs(); len(dead) > 0 {
		s.Errorf("dead jobs: %+v", dead)
	}

	principal := wire.Maker{
		Tenant: chat.Tenant, Subject: "jwt", Kind: wire.MakerPrincipal,
		Rights: wire.Rights{Scopes: []string{"boss", "admin"}},
	}
	nobody := s.engine(s.config(talker()))
	c := s.config(talker())
	c.Schedules.MaxScopes = []string{"boss"}
	bounded := s.engine(c)
	for maker, e := range map[string]*engine.Engine{"no lookup": nobody, "no date": bounded} {
		if _, err := e.CreateSchedule(context.Background(), chat.Tenant, everyMinutes(5), principal); spool.CodeOf(err) !=
			spool.Forbidden {
			s.Errorf("%s: %v", maker, err)
		}
	}
	principal.Until = s.now().Add(25 * time.Minute)
	q = everyMinutes(20)
	q.Name, q.ThreadID = "jwt", ""
	if _, err := bounded.CreateSchedule(context.Background(), chat.Tenant, q, principal); err != nil {
		s.Fatal(err)
	}
	s.rest()
	s.work(bounded)
	<-time.After(time.Hour)
	ticks, err := bounded.ScheduleTicks(context.Background(), chat.Tenant, "jwt", 0)
	if err != nil || len(ticks) != 2 || ticks[1].Result != wire.ScheduleStarted ||
		ticks[0].Result != wire.ScheduleRefused {
		s.Fatalf("the ticks are %+v, %v", ticks, err)
	}
	run := s.runsOf(spool.ThreadKey{Tenant: chat.Tenant, ID: ticks[1].ThreadID})[0]
	s.same("scopes", run.Scopes, []string{"boss"})
}

// testScheduleTold has a schedule whose right ends while two processes work. It pauses, and the endpoint is told of it
// once. A person who pauses it is told to nobody.
func testScheduleTold(s scheduleTest) {
	m, hook := &may{}, webhookTest(s)
	config := func() engine.Config {
		return hook.telling(s.saying(m), option.WebhookEndpoint{
			Name: "desk", Filter: wire.WebhookFilter{Events: []wire.WebhookType{wire.WebhookSchedulePaused}},
		})
	}
	e := s.working(config())
	s.working(config())
	s.create(e, everyMinutes(10))
	if _, err := e.PauseSchedule(context.Background(), chat.Tenant, "report", "for a while"); err != nil {
		s.Fatal(err)
	}
	if _, err := e.ResumeSchedule(context.Background(), chat.Tenant, "report"); err != nil {
		s.Fatal(err)
	}
	m.fail(spool.Errorf(spool.Forbidden, "The token is not in the file any more"))
	<-time.After(35 * time.Minute)
	told := hook.told()
	if len(told) != 1 {
		s.Fatalf("the events are %+v", told)
	}
	if got := told[0]; got.Type != wire.WebhookSchedulePaused || got.endpoint != "desk" || got.Data.Schedule == nil ||
		got.Data.Schedule.Name != "report" || got.Data.Schedule.Reason != "The token is not in the file any more" {
		s.Errorf("the event is %+v", got)
	}
	if got := s.schedule(e); !got.Paused {
		s.Errorf("the schedule is %+v", got)
	}
}

// testScheduleBound has runs that wait for a person, and a bound of two for each maker.
func testScheduleBound(s scheduleTest) {
	c := s.saying(&may{}, approved("ask", `{}`))
	c.Schedules.MaxRuns, c.ParkTTL = 2, 25*time.Minute
	e := s.working(c)
	q := everyMinutes(10)
	q.ThreadID, q.Overlap = "", "enqueue"
	s.create(e, q)
	<-time.After(55 * time.Minute)
	const refused = " refused: Too many runs of the schedules of its maker are active"
	s.same("ticks", s.ticks(e), []string{
		"10m0s started", "20m0s started", "30m0s" + refused, "40m0s started", "50m0s started",
	})
}

// testScheduleRefused has an agent that does not exist any more. Each tick says so, and the schedule goes on.
func testScheduleRefused(s scheduleTest) {
	m := &may{}
	c := s.saying(m)
	c.Agents = append(c.Agents, spool.Agent{Name: "b", Model: "m"})
	q := everyMinutes(10)
	q.Agent = "b"
	s.create(s.engine(c), q)
	s.working(s.saying(m))
	<-time.After(25 * time.Minute)
	s.rest()
	both := s.working(c)
	<-time.After(10 * time.Minute)
	const none = ` refused: agent: there is none of the name "b"`
	s.same("ticks", s.ticks(both), []string{"10m0s" + none, "20m0s" + none, "30m0s started"})
}

// testScheduleDeleted deletes the thread of a schedule, which makes it again.
func testScheduleDeleted(s scheduleTest) {
	e := s.working(s.saying(&may{}))
	s.create(e, everyMinutes(10))
	for range 2 {
		<-time.After(11 * time.Minute)
		if _, err := e.DeleteThread(context.Background(), chat); err != nil {
			s.Fatal(err)
		}
	}
	<-time.After(9 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"10m0s started", "20m0s started", "30m0s started"})
	if n := s.runs(); n != 1 {
		s.Errorf("there are %d runs", n)
	}
}

// ofFile returns a configuration with a schedule.
func (s scheduleTest) ofFile(prompt string, rule wire.ScheduleRule) engine.Config {
	c := s.saying(&may{})
	q := everyMinutes(10)
	q.Prompt, q.ScheduleRule = prompt, rule
	c.Schedules.Schedules = []option.Schedule{{
		Tenant: chat.Tenant, Subject: "file", ScheduleRequest: q,
		Rights: wire.Rights{Scopes: []string{"boss"}},
	}}
	return c
}

// testScheduleFile has schedules of the configuration, which change, go, and come again.
func testScheduleFile(s scheduleTest) {
	ctx := context.Background()
	tenMinutes := wire.ScheduleRule{Every: "10m"}
	e := s.working(s.ofFile("One.", tenMinutes))
	<-time.After(15 * time.Minute)
	s.rest()
	made := s.schedule(e)
	if !made.FromFile || made.MadeBy != "file" {
		s.Errorf("the schedule is %+v", made)
	}
	title := "no"
	for what, err := range map[string]error{
		"change": func() error {
			_, err := e.ChangeSchedule(ctx, chat.Tenant, "report", wire.ScheduleChange{Title: &title}, annToken())
			return err
		}(),
		"remove": e.RemoveSchedule(ctx, chat.Tenant, "report"),
	} {
		if spool.CodeOf(err) != spool.Conflict {
			s.Errorf("%s: %v", what, err)
		}
	}

	e = s.working(s.ofFile("Two.", tenMinutes)) // the due times stay
	<-time.After(10 * time.Minute)
	s.rest()
	s.same("ticks", s.ticks(e), []string{"10m0s started", "20m0s started"})
	if runs := s.runsOf(chat); runs[0].Scopes[0] != "boss" || runs[0].StartedBy != "file" {
		s.Errorf("the run is %+v", runs[0])
	}
	if n := len(s.messagesOf(chat)); n != 4 || s.messagesOf(chat)[2].Content.Text() != "Two." {
		s.Errorf("the messages are %+v", s.messagesOf(chat))
	}

	without := s.saying(&may{})
	e = s.working(without)
	<-time.After(30 * time.Minute)
	s.rest()
	if got := s.schedule(e); !got.Paused || got.PausedReason != "It is not in the configuration any more" {
		s.Errorf("the schedule is %+v", got)
	}
	e = s.working(s.ofFile("Two.", tenMinutes))
	<-time.After(10 * time.Minute)
	s.rest()
	s.same("ticks", s.ticks(e), []string{"10m0s started", "20m0s started", "1h0m0s started"})

	// A schedule that somebody has paused stays so, whatever the configuration says.
	if _, err := e.PauseSchedule(ctx, chat.Tenant, "report", "holidays"); err != nil {
		s.Fatal(err)
	}
	e = s.working(s.ofFile("Three.", tenMinutes))
	<-time.After(30 * time.Minute)
	s.rest()
	if got := s.schedule(e); got.Prompt != "Three." || got.PausedReason != "holidays" || len(s.ticks(e)) != 3 {
		s.Errorf("the schedule is %+v", got)
	}
	if _, err := e.ResumeSchedule(ctx, chat.Tenant, "report"); err != nil {
		s.Fatal(err)
	}
	e = s.working(without)
	<-time.After(time.Minute)
	s.rest()
	if err := e.RemoveSchedule(ctx, chat.Tenant, "report"); err != nil {
		s.Error(err)
	}
	if _, err := engine.New(s.join(), s.ofFile("", tenMinutes)); spool.CodeOf(err) != spool.Invalid ||
		!strings.Contains(spool.MessageOf(err), `the schedule "report": prompt is required`) {
		s.Errorf("a schedule without a prompt: %v", err)
	}
}

// testScheduleOwn has two subjects that see only what is their own.
func testScheduleOwn(s scheduleTest) {
	m := &may{rights: wire.Rights{OwnOnly: true}}
	e := s.working(s.saying(m))
	own := func(subject string) context.Context {
		return engine.WithActor(context.Background(), wire.Actor{Tenant: chat.Tenant, Subject: subject, OwnOnly: true})
	}
	maker := annToken()
	maker.OwnOnly = true
	if _, err := e.CreateSchedule(own("ann"), chat.Tenant, everyMinutes(10), maker); err != nil {
		s.Fatal(err)
	}
	_, get := e.Schedule(own("bob"), chat.Tenant, "report")
	_, ticks := e.ScheduleTicks(own("bob"), chat.Tenant, "report", 0)
	_, now := e.RunScheduleNow(own("bob"), chat.Tenant, "report")
	_, pause := e.PauseSchedule(own("bob"), chat.Tenant, "report", "")
	remove := e.RemoveSchedule(own("bob"), chat.Tenant, "report")
	for _, err := range []error{get, ticks, now, pause, remove} {
		if spool.CodeOf(err) != spool.NotFound {
			s.Errorf("another subject: %v", err)
		}
	}
	for subject, want := range map[string]int{"ann": 1, "bob": 0} {
		list, err := e.Schedules(own(subject), wire.ScheduleQuery{Tenant: chat.Tenant, Limit: 1})
		if err != nil || len(list) != want {
			s.Errorf("%s sees %+v, %v", subject, list, err)
		}
	}
	// The thread is somebody else's, which the tick does not see.
	s.startAs(e, chat, wire.StartRequest{Prompt: "x", By: "bob"})
	<-time.After(15 * time.Minute)
	s.same("ticks", s.ticks(e), []string{"10m0s refused: Thread not found"})
}

// testScheduleInvalid has requests that are refused, with the name of the field.
func testScheduleInvalid(s scheduleTest) {
	c := s.saying(&may{})
	c.Schedules.Max = 1
	e := s.engine(c)
	<-time.After(time.Hour)
	for want, change := range map[string]func(q *wire.ScheduleRequest){
		"name":                              func(q *wire.ScheduleRequest) { q.Name = "a b" },
		"cron, every or at is required":     func(q *wire.ScheduleRequest) { q.Every = "" },
		"cron, every and at exclude":        func(q *wire.ScheduleRequest) { q.Cron = "* * * * *" },
		"every must be a duration":          func(q *wire.ScheduleRequest) { q.Every = "often" },
		"every: 1s is shorter":              func(q *wire.ScheduleRequest) { q.Every = "1s" },
		"zone is only for cron":             func(q *wire.ScheduleRequest) { q.Zone = "UTC" },
		"cron: field 1 (minute)":            func(q *wire.ScheduleRequest) { q.Every, q.Cron, q.Zone = "", "60 * * * *", "UTC" },
		"cron never comes due":              func(q *wire.ScheduleRequest) { q.Every, q.Cron, q.Zone = "", "0 0 31 2 *", "UTC" },
		"zone: \"Mars\"":                    func(q *wire.ScheduleRequest) { q.Every, q.Cron, q.Zone = "", "0 0 * * *", "Mars" },
		"at is in the past":                 func(q *wire.ScheduleRequest) { q.Every, q.At = "", s.now().Add(-time.Minute) },
		"prompt is required":                func(q *wire.ScheduleRequest) { q.Prompt = "" },
		"agent: there is none":              func(q *wire.ScheduleRequest) { q.Agent = "none" },
		"model: there is none":              func(q *wire.ScheduleRequest) { q.Model = "none" },
		"overlap must be":                   func(q *wire.ScheduleRequest) { q.Overlap = "none" },
		"missed must be":                    func(q *wire.ScheduleRequest) { q.Missed = "none" },
		"jitter must be from 0s to 24h0m0s": func(q *wire.ScheduleRequest) { q.Jitter = "25h" },
		"grace must be from 1s to 720h0m0s": func(q *wire.ScheduleRequest) { q.Grace = "1ms" },
		"threadId":                          func(q *wire.ScheduleRequest) { q.ThreadID = "a b" },
		"labels":                            func(q *wire.ScheduleRequest) { q.Labels = map[string]string{"": "x"} },
	} {
		q := everyMinutes(10)
		change(&q)
		_, err := e.CreateSchedule(context.Background(), chat.Tenant, q, annToken())
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), want) {
			s.Errorf("%v, want %s", err, want)
		}
	}
	s.create(e, everyMinutes(10))
	q := everyMinutes(10)
	if _, err := e.CreateSchedule(context.Background(), chat.Tenant, q, annToken()); spool.CodeOf(err) != spool.Limit {
		s.Errorf("beyond the bound: %v", err)
	}
	e = s.engine(s.saying(&may{}))
	if _, err := e.CreateSchedule(context.Background(), chat.Tenant, q, annToken()); spool.CodeOf(err) != spool.Conflict {
		s.Errorf("a used name: %v", err)
	}
}

// testScheduleKilled kills a worker at each kind of call that a tick makes, before and after it happens. Another one
// takes over. Each due time starts one run.
func testScheduleKilled(s scheduleTest) {
	m := &may{}
	e := s.engine(s.saying(m))
	q := everyMinutes(10)
	q.Missed, q.Overlap = wire.MissedAll, "enqueue"
	made := s.create(e, q)
	var want []string
	for _, on := range []string{"Store.Claim", "Store.Rows", "Store.View", "Store.Update", "Store.Ack"} {
		for _, kind := range []spooltest.FaultKind{spooltest.CrashBefore, spooltest.CrashAfter} {
			due := made.NextAt.Add(time.Duration(len(want)) * 10 * time.Minute)
			s.killAt(due, on, kind, m)
			stop := s.work(e)
			<-time.After(2 * time.Minute)
			stop()
			want = append(want, fmt.Sprint(due.Sub(made.CreatedAt).Round(time.Minute), " started"))
		}
	}
	s.same("ticks", s.ticks(e), want)
	if n := s.runs(); n != len(want) {
		s.Errorf("there are %d runs, want %d", n, len(want))
	}
}

// killAt lets a worker die at the next call of a kind, right before a due time.
func (s scheduleTest) killAt(due time.Time, on string, kind spooltest.FaultKind, m *may) {
	s.Helper()
	f := spooltest.NewFaulty(s.join())
	<-time.After(time.Until(due.Add(-30 * time.Second)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	victim := s.over(f.Backend(), s.saying(m))
	go func() { done <- victim.Work(ctx, engine.WorkOptions{}) }()
	<-time.After(time.Until(due.Add(-100 * time.Millisecond)))
	calls := 1
	for _, call := range f.Log() {
		if strings.HasPrefix(call, on) {
			calls++
		}
	}
	f.Plan(spooltest.Fault{Call: calls, On: on, Kind: kind})
	<-time.After(10 * time.Second)
	select {
	case <-f.Crashed():
	default:
		s.Errorf("no worker dies at a call of %s", on)
	}
	cancel()
	if err := <-done; err != nil {
		s.Error(err)
	}
}

// testScheduleTwice delivers each tick to two workers at once.
func testScheduleTwice(s scheduleTest) {
	m := &may{}
	f := spooltest.NewFaulty(s.join())
	var faults []spooltest.Fault
	for n := range 3000 {
		faults = append(faults, spooltest.Fault{Call: n + 1, On: "Store.Claim", Kind: spooltest.Duplicate})
	}
	f.Plan(faults...)
	q := everyMinutes(5)
	q.ThreadID = ""
	e := s.over(f.Backend(), s.saying(m))
	s.create(e, q)
	s.work(e)
	s.working(s.saying(m))
	<-time.After(31 * time.Minute)
	s.same("ticks", s.ticks(e), []string{
		"5m0s started", "10m0s started", "15m0s started", "20m0s started", "25m0s started", "30m0s started",
	})
	if n := s.runs(); n != 6 {
		s.Errorf("there are %d runs", n)
	}
}
