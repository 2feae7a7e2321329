package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// via is how the audit log names an answer with a link.
const via = "link"

// LinkInput is a request of a link.
type LinkInput struct {
	Token string `path:"token"`
}

// DecisionInput is an answer with a link: a form, or JSON.
type DecisionInput struct {
	LinkInput

	Body rest.Upload
}

// errNoQuestion is the error of a link whose question has an answer, or is not there any more.
var errNoQuestion = spool.Errorf(spool.Gone, "this question has an answer already, or it does not wait any more")

// Show answers GET on a link with its question. It changes nothing, however often a program that checks links asks.
func (c Controller) Show(ctx context.Context, in LinkInput) (Page, error) {
	_, _, asked, err := c.open(ctx, in.Token)
	if err != nil {
		return c.refused(ctx, err), nil
	}
	return Page{status: http.StatusOK, question: asked, body: asked}, nil
}

// Decide answers POST on a link: the answer of the approver.
func (c Controller) Decide(ctx context.Context, in DecisionInput) (Page, error) {
	g, acting, asked, err := c.open(ctx, in.Token)
	if err != nil {
		return c.refused(ctx, err), nil
	}
	d, err := readDecision(in.Body)
	if err != nil {
		return c.wrong(ctx, asked, err), nil
	}
	result, err := c.Engine.Respond(acting, g.Key(), wire.Response{
		ToolCallID: g.Call, Approved: d.Approved, By: g.Approver, Payload: d.Payload, Reason: d.Reason, Digest: g.Digest,
		Via: via, ViaBy: g.MadeBy,
	})
	switch {
	case err != nil:
		return c.wrong(ctx, asked, call.About(ctx, err, g.Key(), "")), nil
	case result.Reason == wire.ReasonSameApprover:
		return c.refused(ctx, errSameApprover), nil
	case !result.Delivered:
		return c.refused(ctx, errNoQuestion), nil
	}
	p := Page{
		status: http.StatusOK, title: "Your answer counts", text: "You have said no. You can close this page.", body: result,
	}
	if d.Approved {
		p.text = "You have said yes. You can close this page."
	}
	return p, nil
}

// open returns what a link says, a context for the engine, and the question if it still waits.
func (c Controller) open(
	ctx context.Context, token string,
) (g auth.LinkGrant, acting context.Context, asked *LinkQuestion, err error) {
	g, err = c.Auth.OpenLink(rest.RequestOf(ctx), token)
	if err != nil {
		return g, ctx, nil, err
	}
	key := g.Key()
	call.Concerns(ctx, key, "")
	acting = engine.WithActor(ctx, wire.Actor{Subject: g.Approver, Tenant: g.Tenant})
	if !MayApprove(c.Approvers, g.Approver) {
		return g, ctx, nil, auth.ErrLinkExpired
	}
	switch err = c.stillMade(acting, g); {
	case spool.CodeOf(err) == spool.NotFound, errors.Is(err, auth.ErrLinkExpired):
		return g, ctx, nil, auth.ErrLinkExpired
	case err != nil:
		return g, ctx, nil, call.About(ctx, err, key, "")
	}
	thread, err := c.Engine.Thread(acting, key)
	var q wire.Question
	if err == nil {
		q, err = c.Engine.Question(acting, key, g.Call)
	}
	switch {
	case spool.CodeOf(err) == spool.NotFound, err == nil &&
		(thread.CreatedAt.UnixMicro() != g.CreatedAt || q.Digest != g.Digest):
		return g, ctx, nil, errNoQuestion
	case err != nil:
		return g, ctx, nil, call.About(ctx, err, key, "")
	}
	return g, acting, &LinkQuestion{
		Approver: g.Approver, ToolName: q.ToolName, Agent: q.Agent, Path: q.Path, Reason: q.Reason, Arguments: q.Arguments,
		InputSchema: q.InputSchema, StartedBy: q.StartedBy, Title: q.Title, AskedAt: q.AskedAt, ExpiresAt: g.Expires(),
	}, nil
}

// stillMade returns a [spool.NotFound] error for a link that was revoked. One of a webhook ends with its endpoint: when
// that is removed, also if another one gets its name, is disabled, has another approver, or when the right of its maker
// ends.
func (c Controller) stillMade(ctx context.Context, g auth.LinkGrant) error {
	if g.Webhook == "" {
		_, err := c.Engine.Link(ctx, g.Tenant, g.ID)
		return err
	}
	e, err := c.Engine.Webhook(ctx, g.Tenant, g.Webhook)
	if err == nil && (!e.DisabledAt.IsZero() || e.Approver != g.Approver ||
		auth.WebhookMaker(e.Name, e.MadeBy) != g.MadeBy || auth.WebhookBorn(e.CreatedAt) != g.WebhookBorn) {
		err = auth.ErrLinkExpired
	}
	if err != nil {
		return err
	}
	if err = c.Engine.CheckWebhookMaker(ctx, g.Tenant, g.Webhook); spool.CodeOf(err) == spool.Forbidden {
		err = auth.ErrLinkExpired
	}
	return err
}

// refused returns the page of a link that does not work.
func (c Controller) refused(ctx context.Context, err error) Page {
	p := failed(err)
	if p.status >= http.StatusInternalServerError && ctx.Err() == nil {
		c.Log.WarnContext(ctx, "a link to a question failed", "error", err, "cause", errors.Unwrap(err))
	}
	return p
}

// wrong returns the page of an answer that does not count, because it is wrong or because the store has failed: with
// the question, so that the approver can answer again.
func (c Controller) wrong(ctx context.Context, asked *LinkQuestion, err error) Page {
	p := c.refused(ctx, err)
	p.title, p.question = "Your answer does not count", asked
	return p
}

// decision is an answer with a link.
type decision struct {
	Approved bool
	Reason   string
	Payload  json.RawMessage
}

var (
	errDecision = spool.Errorf(spool.Invalid, "decision must be approve or deny")
	errBody     = spool.Errorf(call.CodeMediaType,
		"the Content-Type must be application/x-www-form-urlencoded or application/json")
)

// readDecision reads a form, or JSON.
func readDecision(body rest.Upload) (d decision, err error) {
	kind, _, err := mime.ParseMediaType(body.Type)
	if err != nil || kind != "application/x-www-form-urlencoded" && kind != "application/json" {
		return d, errBody
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return d, err
	}
	if kind == "application/json" {
		return readJSON(text)
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return d, spool.Errorf(spool.Invalid, "the form is malformed")
	}
	for _, name := range []string{"decision", "reason", "payload"} {
		if len(form[name]) > 1 {
			return d, spool.Errorf(spool.Invalid, "%s must be given only once", name)
		}
	}
	for _, name := range []string{"approved", "arguments", "editedArgs", "digest", "threadId", "toolCallId"} {
		if form.Has(name) {
			return d, call.NotHere(name, "the form of a link has decision, reason and payload")
		}
	}
	switch form.Get("decision") {
	case "approve":
		d.Approved = true
	case "deny":
	default:
		return d, errDecision
	}
	d.Reason = strings.TrimSpace(strings.ReplaceAll(form.Get("reason"), "\r\n", "\n"))
	if payload := strings.TrimSpace(form.Get("payload")); payload != "" {
		d.Payload = json.RawMessage(payload)
	}
	return d, nil
}

// readJSON reads a decision whose approved is a boolean, under exactly this name.
func readJSON(text []byte) (d decision, err error) {
	if err := spool.CheckArguments("the body", text); err != nil {
		return d, err
	}
	if !strictjson.IsObject(text) {
		return d, spool.Errorf(spool.Invalid, "the body must be a JSON object")
	}
	var body struct {
		call.OtherAnswer

		Arguments  json.RawMessage `json:"arguments"`
		Digest     json.RawMessage `json:"digest"`
		ThreadID   json.RawMessage `json:"threadId"`
		ToolCallID json.RawMessage `json:"toolCallId"`

		Approved *bool           `json:"approved"`
		Reason   string          `json:"reason"`
		Payload  json.RawMessage `json:"payload"`
	}
	if err := strictjson.Decode("", text, &body); err != nil {
		return d, err
	}
	for name, value := range map[string]json.RawMessage{
		"arguments": body.Arguments, "digest": body.Digest, "threadId": body.ThreadID, "toolCallId": body.ToolCallID,
	} {
		if value != nil {
			return d, call.NotHere(name, "a link answers its own question, with approved, reason and payload")
		}
	}
	if err := body.Check(); err != nil {
		return d, err
	}
	if body.Approved == nil {
		return d, spool.Errorf(spool.Invalid, "approved must be true or false")
	}
	return decision{*body.Approved, body.Reason, body.Payload}, nil
}
