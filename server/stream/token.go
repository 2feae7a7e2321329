package stream

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// StreamTokenRequest is the body of a request for a token.
type StreamTokenRequest struct { //nolint:revive // the document has the name
	ThreadID spool.ThreadID `example:"t1" json:"threadId" required:"true"` // The thread of the stream.
}

// StreamToken is a token for the stream of a thread.
type StreamToken struct { //nolint:revive // the document has the name
	Token     string    `json:"token"`     // The value for the parameter token of the stream.
	ExpiresAt time.Time `json:"expiresAt"` // When the token expires. The streams that it opened end then too.
}

// Validate implements [rest.Validator].
func (in *StreamTokenRequest) Validate(context.Context) error {
	return spool.CheckID("threadId", string(in.ThreadID))
}

// Token answers with a token for the parameter token of the stream, for clients that cannot send headers, such as an
// EventSource. It opens the stream of this thread, and nothing else, until it expires; the stream ends with it. After a
// 401, get a new token and continue from the last id that you have read.
func (c Controller) Token(ctx context.Context, in StreamTokenRequest) (StreamToken, error) {
	who := call.By(ctx)
	key := who.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	thread, err := c.Engine.Thread(call.Acting(ctx), key)
	if err != nil {
		return StreamToken{}, call.About(ctx, err, key, "")
	}
	rest.ResponseOf(ctx).Header().Set("Referrer-Policy", "no-referrer")
	who.AllThreads = call.OwnThreads(ctx) && !call.OwnOnly(ctx, who)
	token, until := c.Auth.StreamToken(who, thread)
	return StreamToken{token, until.UTC()}, nil
}
