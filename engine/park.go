package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
)

// newPark returns a park of the call. A ttl of zero is the engine's.
func (s *segment) newPark(call spool.ToolCall, reason string, args json.RawMessage, ttl time.Duration) *spool.Park {
	if ttl <= 0 {
		ttl = s.e.config.ParkTTL
	}
	return &spool.Park{
		RunID: call.RunID, ToolCallID: call.ID, ToolName: call.Name, Step: call.Step, Args: args,
		Reason: reason, State: spool.ParkOpen,
		ExpiresAt: time.Time{}.Add(ttl), // counted from the commit: see park
	}
}

// parkFor returns the park that a tool asked for. What it shows is the tool's payload;
// what the call resumes with is its own arguments.
func (s *segment) parkFor(call spool.ToolCall, r *spool.ParkRequest) *spool.Park {
	reason := r.Reason
	if reason == "" {
		reason = "input"
	}
	p := s.newPark(call, reason, call.Args, r.TTL)
	if r.Payload != nil {
		if shown, err := json.Marshal(r.Payload); err == nil {
			p.Shown = shown
		}
	}
	return p
}

// park is the transition to WAITING_FOR_INPUT. The parks, the entries that tell of them
// and the jobs by which they expire are written with the step; the lease is given up.
// The entries stand behind the ahead-th item from here, which is STEP_FINISHED.
func (s *segment) park(h *held, ahead int64) ([]*spool.Entry, error) {
	var entries []*spool.Entry
	for _, p := range s.plan {
		if p.park == nil {
			continue
		}
		park := *p.park
		park.CreatedAt = h.now
		park.ExpiresAt = h.now.Add(park.ExpiresAt.Sub(time.Time{}))
		park.Digest = park.DigestOf(nil)
		if err := h.PutPark(park); err != nil {
			return nil, err
		}
		if p.ran { // the tool has parked itself, and is called again with the answer
			if err := h.PutEffect(p.effect(spool.EffectVoid)); err != nil {
				return nil, err
			}
		}
		expiry := h.job(spool.JobExpiry, park.ExpiresAt.Sub(h.now))
		expiry.Key = expiryKey(park)
		if err := h.Enqueue(expiry); err != nil {
			return nil, err
		}
		entry := spool.NewEntry(spool.EntryInputRequired, h.run.ID, inputRequired(park))
		entry.Stream, entry.After = h.run.Stream(), s.writer.next(ahead)
		entries = append(entries, entry)
	}
	if err := h.AppendEntries(entries...); err != nil {
		return nil, err
	}
	end := s.writer.next(ahead + int64(len(entries)) + 1)
	if err := h.closeSegment(spool.SegmentParked, "", end); err != nil {
		return nil, err
	}
	if err := h.move(spool.WaitingForInput); err != nil {
		return nil, err
	}
	h.letGo()
	return entries, h.save()
}

// parked announces the parks and ends the stream.
func (s *segment) parked(ctx context.Context, entries []*spool.Entry) {
	s.writer.seq = entries[len(entries)-1].Seq // the entries come first, all of them
	for _, entry := range entries {
		s.writer.emit(ctx, spool.ItemInputRequired, entry.Payload)
	}
	s.writer.close(ctx, spool.ItemRunFinished, spool.StreamFinished{Status: spool.SegmentParked})
	s.e.bus.Wake(spool.JobsTopic, spool.WakeJobs) // for its next due time
}

func inputRequired(p spool.Park) spool.InputRequired {
	shown := p.Args
	if p.Shown != nil {
		shown = p.Shown
	}
	return spool.InputRequired{
		ToolCallID: p.ToolCallID, ToolName: p.ToolName, Arguments: shown, Frames: []spool.ParkFrame{},
		Reason: p.Reason, Digest: p.Digest, ExpiresAt: p.ExpiresAt,
	}
}

func expiryKey(p spool.Park) string {
	return "hitl-expiry:" + string(p.RunID) + ":" + string(p.ToolCallID)
}
