// Package aisdkapi has the endpoints that clients of the AI SDK call: the post of a chat, its stream, its messages
// and its stop. Package aisdk reads the posts and writes the chunks.
package aisdkapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/aisdk"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/runs"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. All fields are required.
type Controller struct {
	Engine  *engine.Engine
	Streams *stream.Streams
	Starts  *runs.Starts
	Log     *slog.Logger
	// Artifact returns the URL of an artifact of a thread.
	Artifact func(spool.ThreadID, spool.ArtifactID) string
}

// ClientVersion says which version of the AI SDK a client is.
type ClientVersion struct {
	// Query is the major version of the AI SDK: 6 or 7. Left out: 6, which 7 understands too.
	Query  string `example:"7"               query:"version"`
	Header string `header:"X-Ai-Sdk-Version"` // The same as version, for clients that can only set headers.
}

func (v ClientVersion) read() (aisdk.Version, error) {
	if v.Query != "" {
		return aisdk.ParseVersion("version", v.Query)
	}
	return aisdk.ParseVersion("X-Ai-Sdk-Version", v.Header)
}

// Input is what a client posts.
type Input struct {
	ClientVersion

	Body *ChatRequest `required:"true"`
}

// ChatRequest is the body of a post. StartOptions and the fields after messageId are this server's own: a
// client sends them as the body of its transport.
type ChatRequest struct {
	// State and HostState must not be in a request. They are read only to refuse them.
	State     json.RawMessage `hidden:"true" json:"state,omitempty"`
	HostState json.RawMessage `hidden:"true" json:"hostState,omitempty"`

	wire.StartOptions

	// ID is the chat, which is a thread. If it does not exist, its first message creates it.
	ID spool.ThreadID `example:"t1" json:"id" required:"true"`
	// Messages are the chat as the client has it. Only the last message counts: a user's is a prompt, and an
	// assistant's has answers to questions.
	Messages []json.RawMessage `json:"messages" nullable:"false" required:"true"`
	// submit-message, or regenerate-message to answer a turn again.
	Trigger string `enum:"submit-message,regenerate-message" json:"trigger,omitempty"`
	// MessageID is the user's message that is replaced, or the message whose turn is answered again.
	MessageID *string `json:"messageId,omitempty"`
	// WhenBusy is what to do while the thread has another run. Defaults to the agent's, or reject.
	WhenBusy spool.WhenBusy `enum:"reject,enqueue,latest,interrupt,rollback,steer" json:"whenBusy,omitempty"`
	// Tools that the page executes itself. The agent's configuration says how many are allowed.
	Tools []PageTool `json:"tools,omitempty" nullable:"false"`
	// More about the answers in an assistant's message, by the id of the call.
	Answers map[spool.ToolCallID]aisdk.AnswerDetail `json:"answers,omitempty"`
}

// PageTool is a tool of the page.
type PageTool struct {
	Name        string `json:"name"                  required:"true"` // The tool's name. No tool of the agent has it.
	Description string `json:"description,omitempty"`                 // What it does, for the model.
	// Parameters are the JSON Schema of its arguments, an object's. Left out: any object.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Validate implements [rest.Validator].
func (in *Input) Validate(context.Context) error {
	for name, value := range map[string]json.RawMessage{"state": in.Body.State, "hostState": in.Body.HostState} {
		if value != nil && string(value) != "null" {
			return spool.Errorf(spool.Invalid,
				"%s is not taken from a request: what the tools of a run get comes from the host's session", name)
		}
	}
	return spool.CheckID("id", string(in.Body.ID))
}

// ChatRefusal is why there is nothing to stream. Nothing was changed.
type ChatRefusal struct {
	Accepted bool           `json:"accepted"`                      // Always false.
	ThreadID spool.ThreadID `example:"t1"         json:"threadId"` // The thread.
	Reason   string         `example:"active_run" json:"reason"`   // The reason of the refusal, for a program.
	Error    string         `json:"error"`                         // The reason of the refusal, for a person.
	// queue_full in a 503: the same request may be accepted later. Left out in all other cases.
	Code spool.Code `json:"code,omitempty"`

	// retryAfter is when. Zero: the refusal is for now.
	retryAfter time.Duration
}

// Answer is the stream of a message, a refusal, or nothing. The events that it embeds are for the document alone.
type Answer struct {
	rest.Events[aisdk.Chunk]

	live    *stream.Live
	refusal *ChatRefusal
}

// Respond implements [rest.Responder].
func (a Answer) Respond(w http.ResponseWriter, r *http.Request) error {
	switch {
	case a.live != nil:
		w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
		return a.live.Respond(w, r)
	case a.refusal == nil:
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return call.Refuse(w, a.refusal, a.refusal.retryAfter)
}

// The useChat of the AI SDK posts here. Only the last message counts. A user's message starts a run, and the answer is
// the assistant's message as a UI message stream, until the run ends or waits. A message that the thread already has is
// shown again, and starts nothing. With the trigger regenerate-message, the run answers a turn again.
//
// If the last message is an assistant's, its answers to open questions count, and the stream has only what follows. The
// id of a question names the question that the person saw, and an answer to another one is refused.
//
// Closing the connection does not stop the run. The post also needs the scope read, and approve for answers.
func (c Controller) Post(ctx context.Context, in Input) (Answer, error) {
	who, body := call.By(ctx), in.Body
	key := who.Key(body.ID)
	call.Concerns(ctx, key, "")
	version, err := in.read()
	if err != nil {
		return Answer{}, err
	}
	if !who.May(access.ScopeRead) {
		return Answer{}, access.Lacks(access.ScopeRead, "the answer")
	}
	if body.WhenBusy.Stops() && !who.May(access.ScopeStop) {
		return Answer{}, access.Lacks(access.ScopeStop, "whenBusy "+string(body.WhenBusy))
	}
	// Before anything is started that nobody could see then.
	slot, err := c.Streams.Take(rest.RequestOf(ctx), who)
	if err != nil {
		return Answer{}, call.About(ctx, err, key, "")
	}
	show, refusal, err := c.read(call.Acting(ctx), key, body, who)
	if err != nil || refusal != nil {
		slot.Release()
		return Answer{refusal: refusal}, call.About(ctx, err, key, "")
	}
	show.Version = version
	return c.follow(ctx, key, who, show, slot)
}

// follow opens the stream of a message, of the request alone: it outlives what rest keeps for a call.
func (c Controller) follow(
	ctx context.Context, key spool.ThreadKey, who access.Principal, o aisdk.Options, slot *stream.Slot,
) (Answer, error) {
	r := rest.RequestOf(ctx)
	lasts, forget := access.Lifetime(call.ActingAs(r.Context(), who), who, who.Until)
	o.Address = c.address(key)
	o.Questions = c.questions(lasts, key)             //nolint:contextcheck // as below
	opened, err := c.Streams.OpenAISDK(lasts, key, o) //nolint:contextcheck // see above
	if err != nil {
		slot.Release()
		forget()
		return Answer{}, call.About(ctx, err, key, o.RunID)
	}
	opened.Slot, opened.Until, opened.Forget = slot, who.Until, forget
	return Answer{live: opened}, nil
}

// StreamInput asks for the stream of a chat.
type StreamInput struct {
	ClientVersion
	Chat

	// running: only a message that is being written. last: also the last message of a chat in which nothing runs,
	// for a client that may have lost a part of it.
	Replay string `default:"running" enum:"running,last" query:"replay"`
}

// Chat names a chat in the path.
type Chat struct {
	// ID is the chat, which is a thread.
	ID spool.ThreadID `example:"t1" maxLength:"128" path:"id" pattern:"^[A-Za-z0-9._:-]+$"`
}

// Stream answers with the message that is being written, from its start, so a client replaces what it has of the
// message. If nothing runs, the answer is 204. With replay=last, it then is the last message once more.
func (c Controller) Stream(ctx context.Context, in StreamInput) (Answer, error) {
	who := call.By(ctx)
	key := who.Key(in.ID)
	call.Concerns(ctx, key, "")
	version, err := in.read()
	if err != nil {
		return Answer{}, err
	}
	thread, err := c.Engine.Thread(call.Acting(ctx), key)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		return Answer{}, nil
	case err != nil:
		return Answer{}, call.About(ctx, err, key, "")
	case thread.RunID == "", in.Replay != "last" && thread.State != wire.Queued && thread.State != wire.Running:
		return Answer{}, nil
	}
	slot, err := c.Streams.Take(rest.RequestOf(ctx), who)
	if err != nil {
		return Answer{}, call.About(ctx, err, key, "")
	}
	answer, err := c.follow(ctx, key, who, aisdk.Options{RunID: thread.RunID, Version: version}, slot)
	if spool.CodeOf(err) == spool.NotFound { // it was deleted in this moment
		return Answer{}, nil
	}
	return answer, err
}

// Stop stops the run of the chat. The stop of useChat itself only closes the connection.
func (c Controller) Stop(ctx context.Context, in Chat) (wire.StopResult, error) {
	key := call.By(ctx).Key(in.ID)
	call.Concerns(ctx, key, "")
	result, err := c.Engine.Stop(call.Acting(ctx), key)
	return call.Result(ctx, result, result.Accepted, err, key, "")
}

// MessagesInput asks for the messages of a chat.
type MessagesInput struct {
	ClientVersion
	Chat

	// Limit is how many saved messages of the thread are read, the newest first. A step has one or two.
	Limit int `default:"200" maximum:"1000" minimum:"1" query:"limit"`
	// Before is the before of the page that has the newer messages.
	Before spool.MessageID `query:"before"`
}

// ChatMessages are messages of a chat.
type ChatMessages struct {
	Messages []aisdk.Message `json:"messages"`         // The messages, the oldest first.
	Before   spool.MessageID `json:"before,omitempty"` // Ask with it for older messages. Left out: there are none.
}

// Messages answers with the saved messages of a chat, as useChat keeps them. What a run says after its last finished
// step comes with the stream. A chat that does not exist has no messages.
func (c Controller) Messages(ctx context.Context, in MessagesInput) (ChatMessages, error) {
	key := call.By(ctx).Key(in.ID)
	call.Concerns(ctx, key, "")
	version, err := in.read()
	if err != nil {
		return ChatMessages{}, err
	}
	if err := call.CheckOptionalID("before", string(in.Before)); err != nil {
		return ChatMessages{}, err
	}
	s, err := c.Engine.Snapshot(call.Acting(ctx), key, &wire.SnapshotOptions{Limit: in.Limit + 1, Before: in.Before})
	if spool.CodeOf(err) == spool.NotFound {
		return ChatMessages{Messages: []aisdk.Message{}}, nil
	}
	if err != nil {
		return ChatMessages{}, call.About(ctx, err, key, "")
	}
	var out ChatMessages
	if len(s.Messages) > in.Limit {
		s.Messages = fromTurn(s.Messages)
		out.Before = s.Messages[0].ID
	}
	out.Messages, err = aisdk.Messages(version, s, c.questions(call.Acting(ctx), key), c.address(key))
	return out, call.About(ctx, err, key, "")
}

// questions reads what the runs of a thread have asked.
func (c Controller) questions(ctx context.Context, key spool.ThreadKey) aisdk.Questions {
	return func(run spool.RunID) ([]wire.ParkDetail, error) {
		return c.Engine.Parks(ctx, key, run)
	}
}

// address returns the URLs of the artifacts of a thread.
func (c Controller) address(key spool.ThreadKey) aisdk.Address {
	return func(id spool.ArtifactID) string { return c.Artifact(key.ID, id) }
}

// fromTurn leaves out the messages before the first turn, which are a part of an answer. If there is no turn, it
// leaves out only the first message.
func fromTurn(messages []spool.Message) []spool.Message {
	for i, m := range messages[1:] {
		if m.Role == spool.RoleUser && m.AgentID == "" {
			return messages[i+1:]
		}
	}
	return messages[1:]
}
