package calls

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/artifact"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// OfferArtifacts gives the run's agent the tool that reads artifacts once the thread has any. An agent with a catalogue
// has it from the beginning: it would come before the tools that were described meanwhile, whose place must not change.
func (c *Calls) OfferArtifacts() {
	if c.run.Segment().HasArtifacts() || c.run.Agent().Catalogue != nil && c.run.Host().Artifacts != nil {
		c.run.SetAgent(c.run.Agent().WithTool(artifactTool(c.run.Host().Limits.ResultBytes)))
	}
}

// saveArtifactFunc returns the function with which a call saves its files, or nil if the engine stores none.
func (c *Calls) saveArtifactFunc(key string) func(context.Context, spool.NewArtifact) (spool.Artifact, error) {
	s := c.run.Segment()
	if s.Host.Artifacts == nil {
		return nil
	}
	return func(ctx context.Context, a spool.NewArtifact) (spool.Artifact, error) {
		a.Key = key
		saved, err := artifact.Save(ctx, s.Host.Artifacts, s.Key, a)
		if err == nil {
			s.NoteArtifact()
		}
		return saved, err
	}
}

// openArtifactFunc returns the function with which a call reads files of the thread, or nil if the engine stores none.
func (c *Calls) openArtifactFunc() func(context.Context, spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
	s := c.run.Segment()
	if s.Host.Artifacts == nil {
		return nil
	}
	return func(ctx context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
		found, data, err := s.Host.Artifacts.OpenArtifact(ctx, s.Key, id)
		if spool.CodeOf(err) == spool.NotFound {
			err = spool.Errorf(spool.NotFound, "this conversation has no artifact %q", id)
		}
		return found, data, err
	}
}

// storeResult returns a result that is small enough for a message: the result itself, or the reference to its artifact.
// A result that cannot be saved stays as it is.
func (c *Calls) storeResult(ctx context.Context, p *Call, result json.RawMessage) json.RawMessage {
	if !c.run.Host().StoreResults || p.spawns || len(result) <= c.run.Host().Limits.ResultBytes ||
		p.call.Name == spool.ArtifactTool || c.isDescribe(p) {
		return result
	}
	text, mediaType, extension := toolresult.AsText(result)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), active.SaveTimeout) // the tool has run
	defer cancel()
	saved, err := p.call.SaveArtifact(ctx, p.call.Name+extension, mediaType, strings.NewReader(text))
	if err != nil {
		c.run.Log().WarnContext(ctx, "a large tool result was not saved as an artifact", "tool", p.call.Name, "bytes",
			len(result), "error", err)
		return result
	}
	return toolresult.Stored(saved, text)
}
