package main

import (
	"errors"
	"fmt"
	"net/http"
)

// measureMemory measures how much memory an idle client uses in the server.
func measureMemory(b *bench) (*section, error) {
	s := &section{
		title: "Memory per idle client",
		how: "Clients connect to one thread, get their first events and wait. What the server process has more than before they came, per " +
			"client, after a garbage collection: resident memory, and what Go's heap and stacks take of it. What the kernel takes for " +
			"the sockets is the same for both and not in it. \"Bare\" is the broadcaster of the fan-out.",
	}
	for _, clients := range size(b, []int{1000, 4000}, []int{50}) {
		var spools, bares idle
		err := b.interleave(1,
			func() error { return b.idleSpool(&spools, clients) },
			func() error { return b.idleBare(&bares, clients) },
		)
		if err != nil {
			return nil, err
		}
		s.rows = append(s.rows,
			row{fmt.Sprintf("Spool, %d clients, resident", clients), "KiB/client", spools.rss},
			row{fmt.Sprintf("bare, %d clients, resident", clients), "KiB/client", bares.rss},
			row{fmt.Sprintf("Spool, %d clients, heap", clients), "KiB/client", spools.heap},
			row{fmt.Sprintf("bare, %d clients, heap", clients), "KiB/client", bares.heap},
			row{fmt.Sprintf("Spool, %d clients, stacks", clients), "KiB/client", spools.stack},
			row{fmt.Sprintf("bare, %d clients, stacks", clients), "KiB/client", bares.stack},
		)
		s.goals = append(s.goals,
			ratioGoal(fmt.Sprintf("Resident memory per idle client beside bare, %d clients", clients), spools.rss, bares.rss, 1.1, false),
			ratioGoal(fmt.Sprintf("Heap and stacks per idle client beside bare, %d clients", clients), spools.both, bares.both, 1.1, false),
		)
	}
	return s, nil
}

// idle is the memory that a client uses, in KiB.
type idle struct{ rss, heap, stack, both sample }

func (b *bench) idleSpool(into *idle, clients int) (err error) {
	c, thread, err := b.serve(options{File: b.newFile("memory")})
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
