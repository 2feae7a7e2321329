package command

import (
	"context"
	"errors"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/store"
)

// maxArtifactKept bounds an artifact that an import adds without a place, unless the configuration has a larger
// bound: it is what an engine keeps by itself.
const maxArtifactKept = 4 << 20

// openPlace returns the artifacts in the place that the configuration or a flag names. Named is false if neither
// does: then they are those that an engine keeps in its database.
func openPlace(ctx context.Context, o options, h host, db store.Store) (place *artifact.Store, named bool, err error) {
	c := &config.Config{}
	if o.config != "" {
		if c, err = config.Load(o.config, h.lookup); err != nil {
			return nil, false, &usageError{err}
		}
	}
	section, err := artifactsOf(c.Artifacts, o.artifacts)
	if err != nil {
		return nil, false, err
	}
	if named = section.Type != ""; !named {
		section = config.Artifacts{
			Type: config.ArtifactsDatabase, MaxBytes: max(maxArtifactKept, int64(c.Limits.MaxFileBytes)),
		}
	}
	all, err := openArtifacts(ctx, db, section)
	place, _ = all.(*artifact.Store)
	return place, named, err
}

// errNoPlace is the error of an export that needs the place of artifacts.
var errNoPlace = errors.New("there are artifacts: name their place with --config or --artifacts, as the servers do")

// writeArtifacts writes the artifacts of a thread. It returns how many there are, and those whose data are lost.
func writeArtifacts(
	ctx context.Context, w *archive.Writer, from *artifact.Store, thread store.Section,
) (n int, lost []spool.Artifact, err error) {
	s := store.Section{Kind: archive.Artifacts, Tenant: thread.Tenant, Name: thread.Name}
	_, err = w.Rows(s, func(row func(line []byte) error) error {
		lost, err = from.Archive(ctx, thread.Thread(), func(a artifact.Archived, data io.Reader) error {
			n++
			return archive.AppendArtifact(archive.Artifact{
				ID: a.ID, Name: a.Name, MediaType: a.MediaType, Size: a.Size, SHA256: a.SHA256, Epoch: a.Epoch,
			}, data, row)
		})
		return err
	})
	return n, lost, err
}

// heldThread is a thread of a file that is added when its artifacts are there: a worker may continue it at once.
type heldThread struct {
	store.Section

	lines [][]byte
}

// damagedError is an error of the file.
type damagedError struct{ error }

// addHeld adds the thread whose artifacts do not follow.
func (i *importing) addHeld(ctx context.Context, p *progress) error {
	if i.held == nil {
		return nil
	}
	s := *i.held
	i.held = nil
	_, err := i.add(ctx, s.Section, s.lines, p)
	return err
}

// addArtifacts adds the artifacts of a section, and then the thread before it. If one of them is refused, the target
// has none of them.
func (i *importing) addArtifacts(ctx context.Context, s store.Section, p *progress) error {
	if i.to == nil {
		return i.eachArtifact(func(archive.Artifact, io.Reader) error { return nil })
	}
	held := i.held
	if held == nil || held.Tenant != s.Tenant || held.Name != s.Name {
		return damagedError{spool.Errorf(spool.Invalid, "the %s do not follow their thread", s)}
	}
	i.held = nil
	there, wanted, err := i.wants(ctx, *held, p)
	if err != nil {
		return err
	}
	var added []spool.ArtifactID
	var refused error
	err = i.eachArtifact(func(a archive.Artifact, data io.Reader) error {
		switch {
		case !wanted || refused != nil:
			return nil //nolint:nilerr // the rest is still checked
		case there:
			a.Epoch = ""
		}
		isNew, err := i.artifacts.Restore(ctx, held.Thread(), artifact.Archived{
			Artifact: spool.Artifact{ID: a.ID, Name: a.Name, MediaType: a.MediaType, Size: a.Size}, SHA256: a.SHA256,
			Epoch: a.Epoch,
		}, data)
		if isNew && err == nil {
			added = append(added, a.ID)
		}
		if isRefusal(err) {
			refused, err = err, nil
		}
		return err
	})
	switch {
	case errors.As(err, new(damagedError)):
		return errors.Join(err, i.withdraw(ctx, *held, added))
	case err != nil:
		return err
	case refused != nil && there:
		i.refuse(archive.Artifacts, s, refused, p)
	case refused != nil:
		i.refuse(store.SectionThread, held.Section, refused, p)
	case wanted && !there:
		imported, err := i.add(ctx, held.Section, held.lines, p)
		if err != nil || imported {
			i.added[archive.Artifacts] += len(added)
			return err
		}
	default:
		i.added[archive.Artifacts] += len(added)
		return nil
	}
	return i.withdraw(ctx, *held, added)
}

// wants reports whether the target has the thread, and whether it should have its artifacts. A thread that is there, or
// was there, has no more to add.
func (i *importing) wants(ctx context.Context, held heldThread, p *progress) (there, wanted bool, err error) {
	createdAt, err := archive.CreatedAt(held.lines)
	if err != nil {
		i.refuse(held.Kind, held.Section, err, p)
		return false, false, nil
	}
	same := false
	err = i.store.View(ctx, held.Thread(), func(v store.View) error {
		thread, err := v.Thread()
		there, same = err == nil, err == nil && thread.CreatedAt.Equal(createdAt)
		return err
	})
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		return false, false, err
	}
	before, err := archive.Imported(ctx, i.store, held.Section, archive.SumOf(held.Section, held.lines))
	if err != nil || !there && !before {
		return false, err == nil, err
	}
	imported, err := i.add(ctx, held.Section, held.lines, p)
	return there, imported && there && same, err
}

// eachArtifact calls fn with each artifact of the section that is being read.
func (i *importing) eachArtifact(fn func(a archive.Artifact, data io.Reader) error) error {
	for {
		a, from, err := i.from.NextArtifact()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return damagedError{err}
		}
		data := &noting{Reader: from}
		err = fn(a, data)
		switch {
		case data.err != nil:
			return damagedError{data.err}
		case err != nil:
			return err
		}
		i.seen[archive.Artifacts]++
	}
}

// noting keeps the error of a reader.
type noting struct {
	io.Reader

	err error
}

// Read implements [io.Reader].
func (n *noting) Read(p []byte) (int, error) {
	count, err := n.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return count, err
}

// withdraw removes artifacts that this import has added for a thread that is refused.
func (i *importing) withdraw(ctx context.Context, held heldThread, ids []spool.ArtifactID) error {
	if len(ids) == 0 {
		return nil
	}
	return i.artifacts.Withdraw(ctx, held.Thread(), ids...)
}

// addRows adds the rows with which an older version counts the artifacts of a tenant. They are right only together, so
// a tenant that has artifacts gets none of them.
func (i *importing) addRows(ctx context.Context, s store.Section, lines [][]byte, p *progress) error {
	fits, known := i.fits[s.Tenant]
	if !known {
		before, err := archive.Imported(ctx, i.store, s, archive.SumOf(s, lines))
		if err != nil {
			return err
		}
		rows, err := i.store.Rows(ctx, store.RowQuery{Tenant: s.Tenant, Kind: "artifact_account", Limit: 1})
		if err != nil {
			return err
		}
		fits = before || len(rows) == 0
		i.fits[s.Tenant] = fits
	}
	if !fits {
		i.refuse(s.Kind, s, spool.Errorf(spool.Conflict,
			"an older version wrote them, and the tenant has artifacts: export again with this version"), p)
		return nil
	}
	_, err := i.add(ctx, s, lines, p)
	return err
}
