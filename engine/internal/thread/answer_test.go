package thread

import (
	"errors"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// asks parks the run for the given parks.
func asks(parks ...store.Park) func(s *scene) {
	return and(running, func(s *scene) {
		s.work(func(tx *Tx) error { return errors.Join(ask(tx, parks...), Park(tx)) })
	})
}

// changed is a question with changes, and the digest that fits them.
func changed(change func(p *store.Park)) store.Park {
	p := question("c1")
	p.RunID = "r"
	change(&p)
	p.Digest = p.DigestOf(nil)
	return p
}

//nolint:dupword // a transition delivers two answers
func TestAnswer(t *testing.T) {
	t.Parallel()
	digested := changed(func(*store.Park) {})
	another := question("c2")
	fails := changed(func(p *store.Park) { p.ToolCallID, p.Expiry.Then = "c2", spool.ExpireFail })
	again := changed(func(p *store.Park) { p.Occurrence = 2 })
	distinct := changed(func(p *store.Park) { p.DistinctApprover = true })
	extended := changed(func(p *store.Park) { p.Expiry = spool.Expiry{Then: spool.ExpireExtend}.Or(time.Hour) })
	tampered := digested
	tampered.Args = []byte(`{"to":2}`)
	yes := Response{ToolCallID: "c1", Approved: true, By: "bob", Reason: "fine"}
	with := func(change func(r *Response)) Response {
		r := yes
		change(&r)
		return r
	}
	check(t, []row{
		{"no thread", nil, answers(yes), `
			error: Thread not found`},
		{"a queued run", queued, answers(yes), `
			unchanged answered, no_park: No matching pending input request`},
		{"a run that has ended", said, answers(yes), `
			unchanged answered, no_park: No matching pending input request`},
		{"a run whose end is decided", and(parked, decided(wire.Cancelled)), answers(yes), `
			unchanged answered, no_park: No matching pending input request`},
		{"the last question", asks(digested), answers(yes), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"no", asks(digested), answers(Response{ToolCallID: "c1", Payload: []byte(`{"why":1}`)}), `
			answered, delivered, resumed, note answer of r
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:false,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Digest=sha256:2531 Payload={why:1}}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"one of two questions", asks(digested, another), answers(yes), `
			answered, delivered, note answer of r by bob
			+ entry 5 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			- job hitl-expiry:r:c1`},
		{"both questions", asks(digested, another), answers(yes, Response{ToolCallID: "c2"}), `
			answered, delivered, delivered, resumed, note answer of r by bob, note answer of r
			+ entry 5 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			+ entry 6 Type=HITL_RESPONSE Payload={toolCallId:c2,approved:false} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			park c2 State=answered Answer={}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1
			- job hitl-expiry:r:c2`},
		{"a call that does not wait, and one that does", asks(digested), answers(Response{ToolCallID: "c3"}, yes), `
			answered, no_park: No matching pending input request, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"twice", and(asks(digested, another), answered1), answers(yes), `
			unchanged answered, already_answered: This request was already answered`},
		{"at the end of the time", and(asks(digested), func(s *scene) { s.later(time.Hour) }), answers(yes), `
			unchanged answered, already_answered: This request was already answered`},
		{"before the end of the time", and(asks(digested), func(s *scene) { s.later(time.Hour - 1) }), answers(yes), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=59m59.999999999s State=ready
			- job hitl-expiry:r:c1`},
		{"a run that has failed, because nobody answered another call", and(asks(digested, fails), func(s *scene) {
			s.Rows.Parks[1].State = wire.ParkExpired
		}), answers(yes), `
			unchanged answered, no_park: No matching pending input request`},
		{"a pending call", asks(pendingCall("c1")), answers(yes), `
			unchanged answered, no_park: No matching pending input request`},
		{"somebody else's question, by the same subject", asks(distinct), answers(with(func(r *Response) { r.By = "ann" })), `
			unchanged answered, same_approver: This request is for somebody else than who started the run`},
		{"somebody else's question, by nobody known", asks(distinct), answers(with(func(r *Response) { r.By = "" })), `
			unchanged answered, same_approver: This request is for somebody else than who started the run`},
		{
			"somebody else's question, by a link that the same subject made", asks(distinct),
			answers(with(func(r *Response) { r.Via, r.ViaBy = "link", "ann" })), `
			unchanged answered, same_approver: This request is for somebody else than who started the run`,
		},
		{
			"somebody else's question, by another subject's link", asks(distinct),
			answers(with(func(r *Response) { r.Via, r.ViaBy = "link", "eve" })), `
			answered, delivered, resumed, note answer of r by bob {via:link,viaBy:eve}
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,via:link,viaBy:eve,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`,
		},
		{
			"somebody else's question, of a run that nobody known has started",
			and(asks(distinct), func(s *scene) { s.Rows.Runs[0].StartedBy = "" }), answers(yes), `
			unchanged answered, same_approver: This request is for somebody else than who started the run`,
		},
		{
			"after it was extended, with the digest of before",
			and(asks(extended), after(time.Hour), func(s *scene) { reclaims(s) }, after(time.Minute)),
			answers(with(func(r *Response) { r.Digest = digested.Digest })), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 6 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=1h1m0s State=ready
			- job hitl-expiry:r:c1`,
		},
		{
			"a question from before there were digests, with one", asks(question("c1")),
			answers(with(func(r *Response) { r.Digest = digested.Digest })), `
			unchanged answered, changed: This request is not the one that was shown`,
		},
		{"with the digest that was shown", asks(digested), answers(with(func(r *Response) { r.Digest = digested.Digest })), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"with another digest", asks(digested), answers(with(func(r *Response) { r.Digest = again.Digest })), `
			unchanged answered, changed: This request is not the one that was shown`},
		{"a question that was tampered with", asks(tampered), answers(yes), `
			unchanged answered, changed: This request is not the one that was shown`},
		{"a second question, without a digest", asks(again), answers(yes), `
			unchanged answered, changed: This call has asked before: the answer must name the digest of this request`},
		{"a second question, with its digest", asks(again), answers(with(func(r *Response) { r.Digest = again.Digest })), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:5ad7} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:5ad7 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"with other arguments", asks(digested), answers(with(func(r *Response) { r.Args = []byte(`{"to":2}`) })), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,arguments:{to:2},digest:sha256:3a2b} RunID=r
			park c1 State=answered Answer={Approved=true Args={to:2} Reason=fine Digest=sha256:3a2b By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{"with the same arguments", asks(digested), answers(with(func(r *Response) { r.Args = []byte(`{ "to": 1 }`) })), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:2531} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:2531 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`},
		{
			"with arguments of a call that cannot be edited", asks(changed(func(p *store.Park) { p.Reason = "own" })),
			answers(with(func(r *Response) { r.Args = []byte(`{"to":2}`) })), `
			unchanged answered, not_editable: The arguments of this request cannot be edited`,
		},
		{
			"that a call of unknown outcome may run again",
			asks(changed(func(p *store.Park) { p.Reason = wire.ParkOutcomeUnknown })), answers(yes), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,reason:fine,digest:sha256:442e} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:442e By=bob}
			+ effect c1 RunID=r Step=1 ToolCallID=c1 State=void
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`,
		},
		{
			"that a call of unknown outcome may not run again",
			asks(changed(func(p *store.Park) { p.Reason = wire.ParkOutcomeUnknown })), answers(Response{ToolCallID: "c1"}), `
			answered, delivered, resumed, note answer of r
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:false,digest:sha256:442e} RunID=r
			park c1 State=answered Answer={Digest=sha256:442e}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`,
		},
		{
			"a question of a revision, by a link", asks(changed(func(p *store.Park) { p.Revision = "v1" })),
			answers(with(func(r *Response) { r.Via, r.ViaBy = "link", "eve" })), `
			answered, delivered, resumed, note answer of r by bob {revision:v1,via:link,viaBy:eve}
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:c1,approved:true,answeredBy:bob,via:link,viaBy:eve,reason:fine,digest:sha256:3168} RunID=r
			park c1 State=answered Answer={Approved=true Reason=fine Digest=sha256:3168 By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:c1`,
		},
	})
}

// An answer may raise the budget that is used up.
func TestAnswerBudget(t *testing.T) {
	t.Parallel()
	usedUp := and(running, with("r", func(r *store.RunRow) {
		r.Allowance = &wire.Allowance{Budget: spool.Budget{Tokens: 100}, Spent: wire.Spent{Tokens: 100}}
	}), func(s *scene) {
		s.rules.MaxBudget = spool.Budget{Tokens: 1000}
		s.work(func(tx *Tx) error { return ParkForBudget(tx, wire.StopTokenBudget, false) })
	})
	raise := func(payload string, approved bool) func(s *scene) string {
		return func(s *scene) string {
			return answers(Response{
				ToolCallID: s.Rows.Parks[0].ToolCallID, Approved: approved, Payload: []byte(payload), By: "bob",
			})(s)
		}
	}
	check(t, []row{
		{"more", usedUp, raise(`{"tokenBudget":200}`, true), `
			answered, delivered, resumed, note answer of r by bob, note raise_budget of r by bob {tokenBudget:200}
			run r Allowance={Budget={Tokens=200} Spent={Tokens=100} Parks=1}
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:budget2,approved:true,answeredBy:bob,digest:sha256} RunID=r
			park budget2 State=answered Answer={Approved=true Digest=sha256 Payload={tokenBudget:200} By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:budget2`},
		{"not more", usedUp, raise(`{"tokenBudget":100}`, true), `
			error: payload.tokenBudget must be larger than the 100 that are spent`},
		{"more than any run may have", usedUp, raise(`{"tokenBudget":1001}`, true), `
			error: payload.tokenBudget may be 1000 at the most`},
		{"more of what is not used up", usedUp, raise(`{"toolCallBudget":5}`, true), `
			error: payload.tokenBudget is required: it is what is used up`},
		{"no", usedUp, raise(`{}`, false), `
			answered, delivered, resumed, note answer of r by bob
			+ entry 4 Type=HITL_RESPONSE Payload={toolCallId:budget2,approved:false,answeredBy:bob,digest:sha256} RunID=r
			park budget2 State=answered Answer={Digest=sha256 Payload={} By=bob}
			+ job run:r:2 RunID=r Model=m Agent=a Kind=resume Segment=2 Subject=ann Queue=of a DueAt=0s State=ready
			- job hitl-expiry:r:budget2`},
	})
}
