package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spoolhq/spool/store"
)

// measureReplay measures how fast a client gets a long record from its start.
func measureReplay(b *bench) (*section, error) {
	file, err := b.fill()
	if err != nil {
		return nil, err
	}
	entries := entriesOf(b)
	s := &section{
		title: "Replay",
		how: fmt.Sprintf("A client in another process opens an event stream without a cursor on a thread with a record of %s entries and reads that to its end, from "+
			"the request to the last entry. \"Read alone\" is the same entries out of the same file in pages of 256, in the same server process, without "+
			"event stream and HTTP. There is no goal but the number.", number(float64(entries))),
	}
	c, err := b.spawn("spool", options{File: file})
	if err != nil {
		return nil, err
	}
	var replayed, read sample
	err = b.interleave(1,
		func() error { return replay(&replayed, c, entries) },
		func() error {
			var rate float64
			err := c.ask(http.MethodPost, fmt.Sprintf("/read?entries=%d", entries), &rate)
			read = append(read, rate)
			return err
		},
	)
	if err := errors.Join(err, c.stop()); err != nil {
		return nil, err
	}
	s.rows = []row{
		{"replay over HTTP", "entries/s", replayed},
		{"read alone", "entries/s", read},
		{"replay over HTTP beside read alone", "ratio", replayed.over(read)},
	}
	return s, nil
}

func replay(into *sample, c *child, entries int) error {
	began := time.Now()
	e, err := c.follow("/api/agent/stream?threadId=" + string(longRecord.ID))
	if err != nil {
		return err
	}
	defer e.close()
	if err := e.until(fmt.Sprintf(`"seq":%d,`, entries)); err != nil {
		return err
	}
	*into = append(*into, float64(entries)/time.Since(began).Seconds())
	return nil
}

// readRecord returns how many entries of the long record a second are read from the file.
func readRecord(ctx context.Context, db store.Store, entries int) (float64, error) {
	began := time.Now()
	for at := 0; at < entries; {
		err := db.View(ctx, longRecord, func(v store.View) error {
			page, err := v.Entries(store.EntryQuery{After: int64(at), Limit: 256})
			if err == nil && len(page) == 0 {
				err = fmt.Errorf("the record ends at %d", at)
			}
			at += len(page)
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return float64(entries) / time.Since(began).Seconds(), nil
}
