package main

import (
	"errors"
	"fmt"
	"net/http"
)

const (
	// manyClients are so many that fewer rounds are enough, and that the limit of open files matters.
	manyClients, manyRounds = 15_000, 3
	// memoryGoal is the most resident memory of an idle client, in KiB.
	memoryGoal = 15
)

// measureMemory measures how much memory an idle client uses in the server.
func measureMemory(b *bench) (*section, error) {
	s := &section{
		title: "Memory per idle client",
		how: "Clients connect to one thread, get their first events and wait. What the server process has more than before they came, per " +
			"client, after a garbage collection: resident memory, and what Go's heap and stacks take of it. What the kernel takes for " +
			"the sockets is the same for all and not in it. \"Spool\" takes each connection over from net/http, as it does by default; " +
			"\"Spool in handlers\" leaves it there. \"Bare\" is the broadcaster of the fan-out, a handler of net/http.",
	}
	for _, clients := range size(b, []int{1000, 4000, manyClients}, []int{50}) {
		// The server and this process have a file for each client, and some others.
		if limit := openFiles(); limit < uint64(clients)+500 {
			s.notes = append(s.notes, fmt.Sprintf(
				"%d clients were not measured: a process may have only %d open files here, and the limit could not be raised.",
				clients, limit,
			))
			continue
		}
		if err := b.idle(s, clients); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// idle adds the rows and the goals for a number of clients.
func (b *bench) idle(s *section, clients int) error {
	few := *b
	if clients >= manyClients {
		few.rounds = min(few.rounds, manyRounds)
	}
	var spools, inside, bares idle
	err := few.interleave(1,
		func() error { return b.idleSpool(&spools, clients, options{}) },
		func() error { return b.idleSpool(&inside, clients, options{NoTakeover: true}) },
		func() error { return b.idleBare(&bares, clients) },
	)
	if err != nil {
		return err
	}
	for _, arm := range []struct {
		name string
		idle
	}{{"Spool", spools}, {"Spool in handlers", inside}, {"bare", bares}} {
		s.rows = append(s.rows,
			row{fmt.Sprintf("%s, %d clients, resident", arm.name, clients), "KiB/client", arm.rss},
			row{fmt.Sprintf("%s, %d clients, heap", arm.name, clients), "KiB/client", arm.heap},
			row{fmt.Sprintf("%s, %d clients, stacks", arm.name, clients), "KiB/client", arm.stack},
		)
	}
	s.goals = append(s.goals,
		ratioGoal(fmt.Sprintf("Resident memory per idle client beside bare, %d clients", clients), spools.rss, bares.rss, 1.1,
			false),
		ratioGoal(fmt.Sprintf("Heap and stacks per idle client beside bare, %d clients", clients), spools.both, bares.both,
			1.1, false),
		goal{
			what: fmt.Sprintf("Resident memory per idle client, %d clients", clients),
			want: fmt.Sprintf("at most %d KiB", memoryGoal),
			got: fmt.Sprintf("%s KiB (rounds: %s to %s)", number(spools.rss.median()), number(spools.rss.min()),
				number(spools.rss.max())),
			met: spools.rss.median() <= memoryGoal,
		},
	)
	return nil
}

// idle is the memory that a client uses, in KiB.
type idle struct{ rss, heap, stack, both sample }

func (b *bench) idleSpool(into *idle, clients int, o options) (err error) {
	o.File = b.newFile("memory")
	c, thread, err := b.serve(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return into.measure(c, "/api/agent/stream?threadId="+string(thread), clients)
}

func (b *bench) idleBare(into *idle, clients int) (err error) {
	c, err := b.spawn("broadcaster", options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	return into.measure(c, "/", clients)
}

func (i *idle) measure(c *child, path string, clients int) error {
	var before, after memory
	// Some clients come first, so that one-time costs of the process do not count.
	first, err := join(c.Public, path, 64, 0)
	if err != nil {
		return err
	}
	defer first.leave() //nolint:errcheck // it has served its purpose
	if err := c.ask(http.MethodGet, "/memory", &before); err != nil {
		return err
	}
	crowd, err := join(c.Public, path, clients, 0)
	if err != nil {
		return err
	}
	defer crowd.leave() //nolint:errcheck // as above
	if err := c.ask(http.MethodGet, "/memory", &after); err != nil {
		return err
	}
	each := func(before, after float64) float64 { return (after - before) / 1024 / float64(clients) }
	i.rss = append(i.rss, each(before.RSS, after.RSS))
	i.heap = append(i.heap, each(before.Heap, after.Heap))
	i.stack = append(i.stack, each(before.Stack, after.Stack))
	i.both = append(i.both, each(before.Heap+before.Stack, after.Heap+after.Stack))
	return nil
}
