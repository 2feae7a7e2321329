package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/artifact"
	"github.com/spoolhq/spool/engine/internal/toolresult"
)

// lookForArtifacts finds out whether the thread has artifacts, when a segment begins.
func (s *segment) lookForArtifacts(ctx context.Context) error {
	if s.runner.Artifacts == nil {
		return nil
	}
	all, err := s.runner.Artifacts.Artifacts(ctx, s.Key)
	if err != nil {
		return storeError{err}
	}
	s.hasArtifacts.Store(len(all) > 0)
	return nil
}

// offerArtifacts gives the loop's agent the tool that reads artifacts once the thread has any. An agent with a catalogue
// has it from the beginning: it would come before the tools that were described meanwhile, whose place must not change.
func (l *runState) offerArtifacts() {
	if l.s.hasArtifacts.Load() || l.agent.Catalogue != nil && l.s.runner.Artifacts != nil {
		l.agent = l.agent.WithTool(artifactTool(l.s.runner.Limits.ResultBytes))
	}
}

// saveArtifactFunc returns the function with which a call saves its files, or nil if the engine stores none.
func (l *calls) saveArtifactFunc(key string) func(context.Context, spool.NewArtifact) (spool.Artifact, error) {
	s := l.s
	if s.runner.Artifacts == nil {
		return nil
	}
	return func(ctx context.Context, a spool.NewArtifact) (spool.Artifact, error) {
		a.Key = key
		saved, err := artifact.Save(ctx, s.runner.Artifacts, s.Key, a)
		if err == nil {
			s.hasArtifacts.Store(true)
		}
		return saved, err
	}
}

// saveAnswerFile saves the n-th file of the model's answer. An answer that is read again, with the same data, has the same
// artifacts.
func (l *runState) saveAnswerFile(ctx context.Context, n int, file spool.FileMade) (spool.Part, error) {
	s := l.s
	if s.runner.Artifacts == nil {
		return spool.Part{}, spool.ErrNoArtifacts
	}
	saved, err := artifact.Save(ctx, s.runner.Artifacts, s.Key, spool.NewArtifact{
		Name: file.Name, MediaType: file.MediaType, Data: bytes.NewReader(file.Data),
		Key: "answer:" + l.run.CallKey(l.run.Steps+1, spool.ToolCallID(strconv.Itoa(n))),
	})
	if err != nil {
		return spool.Part{}, err
	}
	s.hasArtifacts.Store(true)
	if strings.HasPrefix(saved.MediaType, "image/") {
		return spool.Part{Type: spool.PartImage, Image: saved.ID.URI(), MIMEType: saved.MediaType}, nil
	}
	return spool.Part{Type: spool.PartFile, File: saved.ID.URI(), MIMEType: saved.MediaType, FileName: saved.Name}, nil
}

// openArtifactFunc returns the function with which a call reads files of the thread, or nil if the engine stores none.
func (l *calls) openArtifactFunc() func(context.Context, spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
	s := l.s
	if s.runner.Artifacts == nil {
		return nil
	}
	return func(ctx context.Context, id spool.ArtifactID) (spool.Artifact, io.ReadCloser, error) {
		found, data, err := s.runner.Artifacts.OpenArtifact(ctx, s.Key, id)
		if spool.CodeOf(err) == spool.NotFound {
			err = spool.Errorf(spool.NotFound, "this conversation has no artifact %q", id)
		}
		return found, data, err
	}
}

// storeResult returns a result that is small enough for a message: the result itself, or the reference to its artifact.
// A result that cannot be saved stays as it is.
func (l *calls) storeResult(ctx context.Context, p *plannedCall, result json.RawMessage) json.RawMessage {
	if !l.s.runner.StoreResults || p.spawns || len(result) <= l.s.runner.Limits.ResultBytes || p.call.Name == spool.ArtifactTool || l.isDescribe(p) {
		return result
	}
	text, mediaType, extension := toolresult.AsText(result)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout) // the tool has run
	defer cancel()
	saved, err := p.call.SaveArtifact(ctx, p.call.Name+extension, mediaType, strings.NewReader(text))
	if err != nil {
		l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "a large tool result was not saved as an artifact", "tool", p.call.Name, "bytes", len(result), "error", err)
		return result
	}
	return toolresult.Stored(saved, text)
}
