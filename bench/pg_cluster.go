package main

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// flushWindow is the engine's default.
const flushWindow = 50 * time.Millisecond

// measurePgCluster measures what happens on one node after something has happened on another one.
func measurePgCluster(b *bench) (s *section, err error) {
	runs, deltas := size(b, 40, 3), size(b, 300, 20)
	server, err := b.postgres()
	if err != nil {
		return nil, err
	}
	s = &section{
		title: "Two nodes over PostgreSQL",
		how: fmt.Sprintf("Two processes over one database: A has no worker, and B carries out all runs. A client in a third process talks to A alone. A stop "+
			"is posted to `/api/agent/control` of A while B streams a delta every 5 ms, and ends with the RUN_ENDED entry and the notice that the run is "+
			"cancelled on the event stream of A, %d runs a round; before each, A commits one row. A token is a delta of %d, one each %s, into which B's "+
			"model writes when it was made; its delay ends when the client has read its frame from A, in the default window of %s. %s",
			runs, deltas, latencyGap, flushWindow, server.about),
	}
	var stops, commits, tokens quantiles
	var allStops, allTokens sample
	err = b.onCluster(options{}, options{}, func(a, _ *child) error {
		thread, err := a.finished()
		if err != nil {
			return err
		}
		return b.interleave(1, func() error {
			var ofStops, ofCommits sample
			for range runs {
				if err := stopOnce(&ofStops, &ofCommits, a); err != nil {
					return err
				}
			}
			stops.add(ofStops)
			commits.add(ofCommits)
			allStops = append(allStops, ofStops...)
			return nil
		}, func() error {
			return delay(&tokens, a, "/api/agent/stream?threadId="+string(thread), deltas, func() error {
				_, err := a.start(thread, fmt.Sprintf("pace %d %s", deltas, latencyGap))
				return err
			})
		})
	})
	if err != nil {
		return nil, err
	}
	allTokens = tokens.p50
	s.rows = []row{
		{"stop on the other node, p50", "ms", stops.p50},
		{"stop on the other node, p99", "ms", stops.p99},
		{"bare commit, p50", "ms", commits.p50},
		{"bare commit, p99", "ms", commits.p99},
		{"token of the other node, p50", "ms", tokens.p50},
		{"token of the other node, p99", "ms", tokens.p99},
	}
	s.goals = []goal{
		atMost(fmt.Sprintf("Stop on the other node, p99 of all %d runs in ms", len(allStops)), allStops.quantile(0.99), 150),
		atMost("Token of the other node, p50 in ms (the window and 10 ms)", allTokens.median(), milliseconds(flushWindow)+10),
	}
	return s, nil
}

// onCluster starts two nodes over a new database: A without a worker, and B with one.
func (b *bench) onCluster(ofA, ofB options, do func(a, b *child) error) error {
	return b.onFresh(func(url string) (err error) {
		ofA.Postgres, ofB.Postgres = url, url
		a, err := b.spawn("spool", ofA)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.stop()) }()
		other, err := b.spawn("spool", ofB)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, other.stop()) }()
		if err := other.ask(http.MethodPost, "/work", nil); err != nil {
			return err
		}
		return do(a, other)
	})
}
