package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// publishRequest is the body of an event.
type publishRequest struct {
	ThreadID spool.ThreadID  `doc:"The thread, which has to exist."                                                                   example:"t1"             json:"threadId"`
	Type     spool.EntryType `doc:"Your own word for it. Words that the record, its notices and run streams use are refused."         example:"progress"       json:"type"              maxLength:"128" minLength:"1" pattern:"^[A-Za-z0-9._:-]+$"`
	Payload  json.RawMessage `doc:"Any JSON: up to 6144 bytes, or 65536 of a durable event. Left out: null."                          json:"payload,omitempty"`
	Durable  bool            `doc:"True: it is an entry of the record, for those who come later too. False: who follows now is told." example:"true"           json:"durable,omitempty"`
}

// publishResult is the answer to an event.
type publishResult struct {
	Accepted bool  `doc:"Always true."                                         json:"accepted"`
	Seq      int64 `doc:"The entry's place in the record, of a durable event." example:"7"     json:"seq,omitempty"`
}

// Validate implements [rest.Validator].
func (in *publishRequest) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return spool.CheckEventType(in.Type)
}

// publish answers POST /api/agent/events: 202 for a live event, 200 with its seq for one
// that is in the record now.
func (c runs) publish(ctx context.Context, in publishRequest) (publishResult, error) {
	who := call.By(ctx)
	key := who.Key(in.ThreadID)
	call.Concerns(ctx, key, "")
	entry, err := c.engine.PublishEvent(call.Acting(ctx), key, in.Type, in.Payload, engine.PublishOptions{Durable: in.Durable, By: who.Subject})
	if err != nil {
		return publishResult{}, call.About(ctx, err, key, "")
	}
	if in.Durable {
		rest.ResponseOf(ctx).SetStatus(http.StatusOK)
	}
	return publishResult{Accepted: true, Seq: entry.Seq}, nil
}

// hostState returns what the host gives to a start by who asks.
func (s *Server) hostState(ctx context.Context) (json.RawMessage, error) {
	if s.config.HostState == nil {
		return nil, nil
	}
	state, err := s.config.HostState(rest.RequestOf(ctx), call.By(ctx))
	if err != nil {
		return nil, err
	}
	if err := spool.CheckHostState(state); err != nil { // nothing that a client could do better
		return nil, &spool.Error{Code: spool.Internal, Message: "Config.HostState", Err: err}
	}
	return state, nil
}
