package main

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// measured are the committed unit costs.
func measured(t *testing.T) units {
	t.Helper()
	u, err := readUnits("units.json")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// planOf returns the plan of some flags.
func planOf(t *testing.T, args ...string) (p plan) {
	t.Helper()
	fs := newFlags(io.Discard)
	p.flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return p
}

// near reports whether two numbers differ by a share at most.
func near(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Max(math.Abs(a), math.Abs(b)) }

// TestStation compares a station with what queueing theory says about one server and several, with random arrivals and
// services.
func TestStation(t *testing.T) {
	t.Parallel()
	const rate, service = 80.0, 0.01
	for servers, want := range map[int]float64{
		1: service / (1 - rate*service),                      // M/M/1
		2: service / (1 - (rate*service/2)*(rate*service/2)), // M/M/2
	} {
		c := &clock{}
		r := rand.New(rand.NewPCG(1, 2))
		s := &station{clock: c, servers: servers}
		every(c, r, rate, func() { s.enter(r.ExpFloat64()*service, func() {}) })
		c.run(5000)
		if got := s.stayed / float64(s.left); !near(got, want, 0.05) {
			t.Errorf("%d servers: a stay takes %.5f s, want %.5f", servers, got, want)
		}
		if got, want := s.utilisation(), rate*service/float64(servers); !near(got, want, 0.02) {
			t.Errorf("%d servers: used %.3f, want %.3f", servers, got, want)
		}
	}
}

// TestWorkIsConserved compares both sides of Little's law, and what went in with what came out and what is still there.
func TestWorkIsConserved(t *testing.T) {
	t.Parallel()
	simulates(t)
	u := measured(t)
	for _, args := range [][]string{
		nil, {"-threads", "20000", "-seed", "7"}, {"-nats", "-tool", "0"}, {"-workers", "1", "-threads", "25000"},
	} {
		p := planOf(t, args...)
		if err := p.check(u); err != nil {
			t.Fatal(err)
		}
		out := simulate(&p, u)
		for i, s := range out.stations {
			number, product := s.little()
			if !near(number, product, 1e-6) {
				t.Errorf("%v, station %d: %.6f visits on average, but arrivals times stays are %.6f", args, i, number, product)
			}
			if here := s.arrived - s.left; here != s.busy+len(s.queue) {
				t.Errorf("%v, station %d: %d visits have not left, but %d are there", args, i, here, s.busy+len(s.queue))
			}
		}
		l := p.load(u)
		if want := (l.pgCPU + l.notifyCPU) / float64(p.shards) / float64(p.pgCores); !near(out.busy, want, 0.25) {
			t.Errorf("%v: the simulation uses %.3f of PostgreSQL, the arithmetic %.3f", args, out.busy, want)
		}
		if want := p.runs() / float64(p.shards) * p.seconds; !near(float64(out.picked), want, 0.15) {
			t.Errorf("%v: %d runs were picked up, want %.0f", args, out.picked, want)
		}
	}
}

// TestLostWork breaks a station in the ways that the law must find.
func TestLostWork(t *testing.T) {
	t.Parallel()
	for name, breakIt := range map[string]func(s *station){
		"lost":    func(s *station) { s.left++; s.busy-- },
		"doubled": func(s *station) { s.arrived++ },
	} {
		c := &clock{}
		r := rand.New(rand.NewPCG(1, 2))
		s := &station{clock: c, servers: 4}
		every(c, r, 10, func() { s.enter(0.1, func() {}) })
		c.after(50, func() { breakIt(s) })
		c.run(100)
		if number, product := s.little(); near(number, product, 1e-6) {
			t.Errorf("%s: both sides are %.6f", name, number)
		}
	}
}

// TestMore says what more load and more machines do.
func TestMore(t *testing.T) {
	t.Parallel()
	simulates(t)
	u := measured(t)
	p, twice := planOf(t), planOf(t, "-threads", "200000")
	if a, b := p.load(u), twice.load(u); !near(2*a.wal, b.wal, 1e-9) || !near(2*a.workerCPU, b.workerCPU, 1e-9) ||
		!near(2*a.kept, b.kept, 1e-9) {
		t.Errorf("twice the threads: %+v and %+v", a, b)
	}
	shards := planOf(t, "-threads", "200000", "-shards", "2")
	if a, b := twice.rows(u), shards.rows(u); b[6].share() > 0.6*a[6].share() {
		t.Errorf("two shards use %.2f of their WAL each, one %.2f", b[6].share(), a[6].share())
	}
	nats := planOf(t, "-nats")
	if a, b := p.load(u), nats.load(u); b.trips >= a.trips || b.notifies != 0 {
		t.Errorf("with NATS there are %.0f round trips, without %.0f", b.trips, a.trips)
	}
	few, many := simulate(&p, u), planOf(t, "-pg-cores", "64")
	if more := simulate(&many, u); more.p99 > few.p99*1.1 {
		t.Errorf("more cores pick up later: p99 %.4f and %.4f", more.p99, few.p99)
	}
}

// TestRefused gives the command wrong input. It must say what is wrong, and simulate nothing.
func TestRefused(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("units.json")
	if err != nil {
		t.Fatal(err)
	}
	file := func(old, next string) string {
		path := filepath.Join(t.TempDir(), "units.json")
		changed := strings.Replace(string(text), old, next, 1)
		if changed == string(text) {
			t.Fatalf("the file has no %s", old)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, args := range map[string][]string{
		"-threads: -1 must be more than 0":   {"-threads", "-1"},
		"-rate: 0 must be more than 0":       {"-rate", "0"},
		"-threads: NaN must be more than 0":  {"-threads", "NaN"},
		"-threads: +Inf must be more than 0": {"-threads", "Inf"},
		"-workers: 0 must be 1 or more":      {"-workers", "0"},
		"-peak: 0.5 must be 1 or more":       {"-peak", "0.5"},
		"-seconds: 5 must be":                {"-seconds", "5"},
		"million are the most":               {"-threads", "1e9", "-seconds", "1000"},
		`there is no argument "now"`:         {"now"},
		"flag provided but not defined":      {"-thread", "5"},
		"no such file":                       {"-units", "missing.json"},
		"unknown field":                      {"-units", file(`"notifyCpu"`, `"notify"`)},
		"it does not say":                    {"-units", file(`"date": "`, `"date": "", "machine": "`)},
		"is no cost":                         {"-units", file(`"notifyCpu": `, `"notifyCpu": -`)},
	} {
		var out bytes.Buffer
		args := append([]string{"-units", "units.json"}, args...)
		err := run(t.Context(), args, &out)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(out.String(), "bottleneck") {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// TestOverload asks for more than there is.
func TestOverload(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-units", "units.json", "-workers", "1", "-slots", "4"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "has no bound") ||
		!strings.Contains(got, "first bottleneck           worker slots") {
		t.Errorf("it says\n%s", got)
	}
}
