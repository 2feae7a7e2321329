//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// journal is a file in which a process writes what its store did. A process that is killed leaves all lines that
// it has written.
type journal struct{ file *os.File }

// journalLine is a claim in the database (took), a delivery to the engine (claim), an acknowledgement that the
// store has accepted, a commit of an old lease (stale), or a tool call of one (late).
type journalLine struct {
	Op    string         `json:"op"` // took, claim, ack, stale or late
	Job   int64          `json:"job,omitempty"`
	Token int64          `json:"token,omitempty"`
	Kind  store.AckKind  `json:"kind,omitempty"`
	On    spool.ThreadID `json:"on,omitempty"`
	// Fence is that of the writer, and Current that of the thread.
	Fence   int64 `json:"fence,omitempty"`
	Current int64 `json:"current,omitempty"`
	// Began and Ended are the times of the call, in nanoseconds of the machine's clock.
	Began int64 `json:"began"`
	Ended int64 `json:"ended"`
}

func openJournal(name string) (*journal, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return &journal{file}, err
}

func (j *journal) write(began time.Time, l journalLine) {
	l.Began, l.Ended = began.UnixNano(), time.Now().UnixNano()
	raw, _ := json.Marshal(l) //nolint:errchkjson // numbers and texts
	_, _ = j.file.Write(append(raw, '\n'))
}

// observed writes the claims and acknowledgements of a store to a journal. It tells [truthful] with which fence the
// engine writes.
type observed struct {
	store.Store

	journal *journal
}

// Update implements [store.Store].
func (s *observed) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	return s.Store.Update(context.WithValue(ctx, fenceOf{}, fence), key, fence, fn)
}

// fenceOf is the key of the engine's fence in a context.
type fenceOf struct{}

// truthful writes commits of old leases to a journal. It is directly before the database, below what was broken.
type truthful struct {
	store.Store

	journal *journal
}

// Update implements [store.Store].
func (s *truthful) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	own, ok := ctx.Value(fenceOf{}).(int64)
	if !ok || own == 0 {
		return s.Store.Update(ctx, key, fence, fn)
	}
	began, current := time.Now(), own
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		thread, err := tx.Thread()
		if err != nil {
			return err
		}
		current = thread.Fence
		return fn(tx)
	})
	if err == nil && current != own {
		s.journal.write(began, journalLine{Op: "stale", On: key.ID, Fence: own, Current: current})
	}
	return err
}

// Claim implements [store.Store].
func (s *truthful) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	began := time.Now()
	taken, next, err := s.Store.Claim(ctx, q)
	for _, d := range taken {
		s.journal.write(began, journalLine{Op: "took", Job: d.JobID, Token: d.Token, On: d.ThreadID})
	}
	return taken, next, err
}

// Claim implements [store.Store].
func (s *observed) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	began := time.Now()
	taken, next, err := s.Store.Claim(ctx, q)
	for _, d := range taken {
		s.journal.write(began, journalLine{Op: "claim", Job: d.JobID, Token: d.Token, On: d.ThreadID})
	}
	return taken, next, err
}

// Ack implements [store.Store].
func (s *observed) Ack(ctx context.Context, d store.Delivery, a store.Ack) error {
	began := time.Now()
	err := s.Store.Ack(ctx, d, a)
	if err == nil {
		s.journal.write(began, journalLine{Op: "ack", Job: d.JobID, Token: d.Token, Kind: a.Kind, On: d.ThreadID})
	}
	return err
}

// reader reads the journals of all processes as they grow.
type reader struct {
	offsets map[string]int64
	// claimed has the last claim of each job.
	claimed map[int64]journalLine
	// pending are acknowledgements that may be judged once all earlier claims are known.
	pending []journalLine
	// undelivered has the claims in the database that no engine has seen, by job and token.
	undelivered map[[2]int64]journalLine
	// deliveries has those of each job, without repeated ones. Settled has the jobs and tokens of final
	// acknowledgements.
	deliveries map[int64][]journalLine
	settled    map[[2]int64]bool
	// claims counts the deliveries to engines. Of those, repeated ones were delivered before, and late ones after
	// the call that took them.
	claims, acks, repeated, late int
}

func newReader() *reader {
	return &reader{
		offsets: make(map[string]int64), claimed: make(map[int64]journalLine), undelivered: make(map[[2]int64]journalLine),
		deliveries: make(map[int64][]journalLine), settled: make(map[[2]int64]bool),
	}
}

// read reads the new lines of some journals, and returns what must not be there: a commit of an old lease, and
// an accepted acknowledgement of a job that another worker had claimed before.
func (r *reader) read(names []string) (found []string, err error) {
	acks := r.pending
	r.pending = nil
	for _, name := range names {
		lines, err := r.more(name)
		if err != nil {
			return found, err
		}
		for _, l := range lines {
			switch l.Op {
			case "stale":
				found = append(found, fmt.Sprintf("thread %s has a commit with the fence %d, and its fence was %d", l.On, l.Fence,
					l.Current))
			case "late":
				found = append(found, fmt.Sprintf(
					"call of a tool in thread %s with the fence %d, and its fence was %d, or its run had ended", l.On, l.Fence,
					l.Current,
				))
			case "took":
				r.undelivered[[2]int64{l.Job, l.Token}] = l
			case "claim":
				r.delivered(l)
				if l.Token > r.claimed[l.Job].Token {
					r.claimed[l.Job] = l
				}
			case "ack":
				r.acks++
				if l.Kind != store.AckExtend {
					r.settled[[2]int64{l.Job, l.Token}] = true
				}
				acks = append(acks, l)
			}
		}
	}
	for _, l := range acks {
		if last := r.claimed[l.Job]; last.Token > l.Token && last.Ended < l.Began {
			found = append(found,
				fmt.Sprintf("job %d of thread %s was acknowledged (%s) with the token %d, and had been claimed with %d",
					l.Job, l.On, l.Kind, l.Token, last.Token))
		} else {
			r.pending = append(r.pending, l)
		}
	}
	r.forget()
	return found, nil
}

// delivered counts a delivery.
func (r *reader) delivered(l journalLine) {
	r.claims++
	at := [2]int64{l.Job, l.Token}
	took, first := r.undelivered[at]
	if !first {
		r.repeated++
		return
	}
	if took.Ended < l.Began {
		r.late++
	}
	delete(r.undelivered, at)
	r.deliveries[l.Job] = append(r.deliveries[l.Job], l)
}

// lost returns the deliveries that were followed by another one, although their worker has neither finished nor
// released the job: it has died, or lost it to another worker.
func (r *reader) lost() (lines []journalLine) {
	for _, all := range r.deliveries {
		slices.SortFunc(all, func(a, b journalLine) int { return cmp.Compare(a.Token, b.Token) })
		for _, l := range all[:len(all)-1] {
			if !r.settled[[2]int64{l.Job, l.Token}] {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// forget drops acknowledgements so old that the claims before them are known.
func (r *reader) forget() {
	before := time.Now().Add(-10 * time.Second).UnixNano()
	kept := r.pending[:0]
	for _, l := range r.pending {
		if l.Ended > before {
			kept = append(kept, l)
		}
	}
	r.pending = kept
}

// more returns the whole lines that a journal has got since the last call.
func (r *reader) more(name string) (lines []journalLine, err error) {
	file, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(r.offsets[name], io.SeekStart); err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(file)
	for {
		text, err := buffered.ReadBytes('\n')
		if err != nil {
			return lines, nil // the rest of the line comes later
		}
		var l journalLine
		if err := json.Unmarshal(text, &l); err != nil {
			return lines, err
		}
		r.offsets[name] += int64(len(text))
		lines = append(lines, l)
	}
}
