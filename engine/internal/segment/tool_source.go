package segment

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
)

// resolveTools gives the segment's agent the tools of its sources. A source whose list the run has already
// keeps that list. The others are asked, and the run keeps their answers before it uses them.
func (s *segment) resolveTools(ctx context.Context) error {
	if s.configured == nil {
		return nil
	}
	sources := s.configured.Sources()
	if len(sources) == 0 {
		return nil
	}
	lists, missing := make(map[string]json.RawMessage, len(sources)), []spool.ToolSource(nil)
	for _, source := range sources {
		list, known, err := s.pinnedList(ctx, source.Name())
		switch {
		case err != nil:
			return active.FromStore(err)
		case known:
			lists[source.Name()] = list
		default:
			missing = append(missing, source)
		}
	}
	if len(missing) > 0 {
		if err := s.pinLists(ctx, missing, lists); err != nil {
			return err
		}
	}
	agent, err := s.configured.WithLists(lists)
	if err != nil {
		return err
	}
	s.warnLeftOut(ctx, agent)
	s.run.SetAgent(agent.Permitted(s.run.Row()))
	return nil
}

// warnLeftOut logs which tools of its sources an agent does not get. It logs again only if they are others.
func (s *segment) warnLeftOut(ctx context.Context, agent *registry.Agent) {
	const most = 1000
	names := strings.Join(agent.LeftOut, ", ")
	names = strings.ToValidUTF8(names[:min(len(names), most)], "")
	if was, _ := s.runner.leftOut.Swap(agent.Name, names); was == names || names == "" {
		return
	}
	s.runner.Log.WarnContext(ctx,
		"tools of sources are left out: another tool of the agent has the name, or the name or the schema is bad",
		"agent", agent.Name, "tools", names)
}

// pinnedList returns the list that the run has from a source. It reports false if there is none, or if the
// store no longer has it.
func (s *segment) pinnedList(ctx context.Context, source string) (json.RawMessage, bool, error) {
	pinned := s.run.Row().ToolLists
	i := slices.IndexFunc(pinned, func(p store.PinnedTools) bool { return p.Source == source })
	if i < 0 {
		return nil, false, nil
	}
	list, err := s.runner.ToolLists.Get(ctx, pinned[i].List)
	if spool.CodeOf(err) == spool.NotFound {
		s.run.Log().WarnContext(ctx, "the run's list of tools is gone and read anew", "source", source)
		return nil, false, nil
	}
	return list, err == nil, err
}

// pinLists asks the sources for their lists, stores them and notes them in the run.
func (s *segment) pinLists(ctx context.Context, sources []spool.ToolSource, lists map[string]json.RawMessage) error {
	answers, errs := make([]json.RawMessage, len(sources)), make([]error, len(sources))
	var all sync.WaitGroup
	for i, source := range sources {
		all.Go(func() { answers[i], errs[i] = s.listTools(ctx, source) })
	}
	all.Wait()
	pinned := slices.DeleteFunc(slices.Clone(s.run.Row().ToolLists), func(p store.PinnedTools) bool {
		return slices.ContainsFunc(sources, func(s spool.ToolSource) bool { return s.Name() == p.Source })
	})
	for i, source := range sources {
		if errs[i] != nil {
			return errs[i]
		}
		id, before, err := s.runner.ToolLists.Keep(ctx, source.Name(), answers[i])
		switch {
		case spool.CodeOf(err) == spool.Limit:
			return err
		case err != nil:
			return active.FromStore(err)
		case before != "":
			s.warnChanged(ctx, source, before, answers[i])
		}
		lists[source.Name()] = answers[i]
		pinned = append(pinned, store.PinnedTools{Source: source.Name(), List: id})
	}
	return s.run.Update(ctx, func(tx *thread.Tx) error {
		tx.Run.ToolLists = pinned
		return tx.PutUnseen()
	})
}

// warnChanged logs which tools of a source are others than those of an earlier list. A description is text for the
// model: who changes it can change what agents do.
func (s *segment) warnChanged(ctx context.Context, source spool.ToolSource, before string, list json.RawMessage) {
	was, err := s.runner.ToolLists.Get(ctx, before)
	if err != nil {
		return // it has expired
	}
	added, removed, changed := registry.ChangedTools(source, was, list)
	if len(added)+len(removed)+len(changed) == 0 {
		return
	}
	s.runner.Log.WarnContext(ctx, "the tools of a source are others than before",
		"source", source.Name(), "changed", changed, "added", added, "removed", removed, "list", before)
}

// listTools asks a source for its list. The source is application code.
func (s *segment) listTools(ctx context.Context, source spool.ToolSource) (list json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &spool.Error{
				Code: spool.Internal, Message: "the tool source " + source.Name() + " panicked",
				Err: fmt.Errorf("panic: %v\n%s", r, debug.Stack()),
			}
		}
	}()
	return source.List(ctx, s.Key.Tenant, s.run.Row().StartedBy)
}

// hasLists reports whether the run has the lists of all its sources.
func (s *segment) hasLists(ctx context.Context) (bool, error) {
	for _, source := range s.configured.Sources() {
		if _, known, err := s.pinnedList(ctx, source.Name()); !known || err != nil {
			return false, err
		}
	}
	return true, nil
}
