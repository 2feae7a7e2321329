package intake

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/actor"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Fork makes a thread that begins with the messages of a snapshot. An empty id stands for a new one.
func (h *Handler) Fork(
	ctx context.Context, from spool.ThreadKey, at *wire.Snapshot, id spool.ThreadID,
) (wire.ForkResult, error) {
	if id == "" {
		id = spool.ThreadID(h.Rules.Random.ID("thr"))
	} else if err := spool.CheckID("newThreadId", string(id)); err != nil {
		return wire.ForkResult{}, err
	}
	result := wire.ForkResult{ThreadID: id}
	key := spool.ThreadKey{Tenant: from.Tenant, ID: id}
	messages := h.forked(key, at.Messages)
	if len(messages) == 0 {
		return result, spool.Errorf(spool.Invalid, "version: the thread has no messages then")
	}
	if err := h.CheckRoom(ctx, key.Tenant); err != nil {
		return result, err
	}
	err := h.Store.View(ctx, key, unused) // before artifacts are copied to it
	if err == nil {
		err = h.copyArtifacts(ctx, from, key, messages)
	}
	if err == nil {
		err = h.Store.Update(ctx, key, 0, func(tx store.Tx) error {
			if err := unused(tx); err != nil {
				return err
			}
			t := wire.Thread{
				Tenant: key.Tenant, ID: key.ID, State: wire.Idle, CreatedAt: tx.Now(), Owner: actor.Of(ctx).Subject,
				Title: at.Thread.Title, Labels: at.Thread.Labels, Model: at.Thread.Model,
			}
			return tx.Write(store.Changes{Thread: &t, Messages: copies(messages), Entries: summaries(messages)})
		})
	}
	if no, ok := errors.AsType[*thread.RefusedError](err); ok {
		result.Reason, result.Error = no.Reason, no.Text
		return result, nil
	}
	if err != nil {
		return result, err
	}
	h.Announce(key, false)
	result.Accepted, result.Messages = true, len(messages)
	return result, nil
}

// unused returns a refusal if the thread exists.
func unused(v store.View) error {
	_, err := v.Thread()
	switch {
	case err == nil:
		return thread.Refuse(wire.ReasonThreadUsed, "There is a thread with this id")
	case record.Missing(err):
		return nil
	default:
		return err
	}
}

// forked returns the messages of the main agent for another thread, up to the last one behind which no call waits for
// its result. They have new ids, and keep their times and the ids of their runs.
func (h *Handler) forked(key spool.ThreadKey, all []spool.Message) []spool.Message {
	var out []spool.Message
	whole := 0
	open := make(map[spool.ToolCallID]bool)
	ids := make(map[spool.MessageID]spool.MessageID)
	for _, m := range all {
		if m.AgentID != record.MainAgent {
			continue
		}
		for _, p := range m.ToolCalls() {
			open[p.ToolCallID] = true
		}
		for _, p := range m.ToolResults() {
			delete(open, p.ToolCallID)
		}
		was := m.ID
		m.ID, m.ThreadID, m.ClientMessageID = spool.MessageID(h.Rules.Random.ID("msg")), key.ID, ""
		ids[was] = m.ID
		if s, ok := m.Content.Summary(); ok {
			s.ThroughMessageID = ids[s.ThroughMessageID]
			m.Content = spool.Content{s}
		}
		out = append(out, m)
		if len(open) == 0 {
			whole = len(out)
		}
	}
	return out[:whole]
}

// copies returns messages for one try of a transaction.
func copies(messages []spool.Message) []*spool.Message {
	out := make([]*spool.Message, len(messages))
	for i := range messages {
		m := messages[i]
		out[i] = &m
	}
	return out
}

// summaries returns the entries about the summaries among messages, because a record has one for each summary.
func summaries(messages []spool.Message) (entries []*wire.Entry) {
	at, covered := make(map[spool.MessageID]int, len(messages)), 0
	for i, m := range messages {
		at[m.ID] = i + 1
		if s, ok := m.Content.Summary(); ok {
			through := at[s.ThroughMessageID]
			entries = append(entries, wire.NewEntry(wire.EntryContextCompacted, "", wire.ContextCompacted{
				SummarizedMessages: max(1, through-covered), MessageID: m.ID,
			}))
			covered = through
		}
	}
	return entries
}

// artifactIDs matches the ids of artifacts.
var artifactIDs = regexp.MustCompile(`art_[0-9a-f]{32}`)

// copyArtifacts copies the artifacts that messages name to another thread, and makes the messages name the copies. A
// name without an artifact stays as it is.
func (h *Handler) copyArtifacts(ctx context.Context, from, to spool.ThreadKey, messages []spool.Message) error {
	store := h.Attachments.Artifacts
	if store == nil {
		return nil
	}
	var pairs []string
	seen := make(map[string]bool)
	for _, m := range messages {
		for _, p := range m.Content {
			for _, text := range []string{p.Text, p.Image, p.File, string(p.Args), string(p.Result)} {
				for _, id := range artifactIDs.FindAllString(text, -1) {
					if seen[id] {
						continue
					}
					seen[id] = true
					copied, err := copyArtifact(ctx, store, from, to, spool.ArtifactID(id))
					if err != nil {
						return err
					}
					if copied != "" {
						pairs = append(pairs, id, string(copied))
					}
				}
			}
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	names := strings.NewReplacer(pairs...)
	for i := range messages {
		messages[i].Content = renamed(messages[i].Content, names)
	}
	return nil
}

// copyArtifact copies an artifact. It returns "" if there is none.
func copyArtifact(
	ctx context.Context, db store.ArtifactStore, from, to spool.ThreadKey, id spool.ArtifactID,
) (spool.ArtifactID, error) {
	a, data, err := db.OpenArtifact(ctx, from, id)
	if record.Missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer data.Close()
	copied, err := db.SaveArtifact(ctx, to,
		spool.NewArtifact{Name: a.Name, MediaType: a.MediaType, Data: data, Key: "fork:" + string(id)})
	return copied.ID, err
}

// renamed returns the content with other names of artifacts. The data of providers stays as it is.
func renamed(c spool.Content, names *strings.Replacer) spool.Content {
	out := make(spool.Content, len(c))
	for i, p := range c {
		p.Text, p.Image, p.File = names.Replace(p.Text), names.Replace(p.Image), names.Replace(p.File)
		if p.Args != nil {
			p.Args = []byte(names.Replace(string(p.Args)))
		}
		if p.Result != nil {
			p.Result = []byte(names.Replace(string(p.Result)))
		}
		out[i] = p
	}
	return out
}
