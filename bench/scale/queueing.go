package main

import (
	"container/heap"
	"math"
	"slices"
)

// clock is a discrete-event simulation: it calls functions in the order of their times.
type clock struct {
	now    float64 // seconds
	events events
	seq    int
}

// event is a function that is called at a time. Events of one time are called in the order in which they were added.
type event struct {
	at  float64
	seq int
	fn  func()
}

//nolint:recvcheck // heap.Interface needs it
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements [heap.Interface].
func (e *events) Push(x any) { *e = append(*e, x.(event)) } //nolint:errcheck,forcetypeassert // heap.Push gives it one

// Pop implements [heap.Interface].
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}

// after calls fn when so many seconds have passed.
func (c *clock) after(seconds float64, fn func()) {
	c.seq++
	heap.Push(&c.events, event{c.now + seconds, c.seq, fn})
}

// run calls what is due until the end.
func (c *clock) run(end float64) {
	for len(c.events) > 0 && c.events[0].at <= end {
		e, _ := heap.Pop(&c.events).(event)
		c.now = e.at
		e.fn()
	}
	c.now = end
}

// station has servers and one queue before them, in the order of arrival.
type station struct {
	clock   *clock
	servers int

	busy  int
	queue []*visit

	// What the checks of the simulation compare: see [station.little].
	arrived, left     int
	since             float64 // of the last change of the number of visits
	area, busyArea    float64 // visits and busy servers, each times seconds
	stayed, stillHere float64 // seconds: of visits that have left, and the arrival times of those that have not
}

// visit is one stay at a station.
type visit struct {
	arrived, service float64
	held             bool // the visitor leaves by itself: see [station.hold]
	served           func()
}

// enter asks for a service of so many seconds, and calls served at its end.
func (s *station) enter(service float64, served func()) {
	s.arrive(&visit{service: service, served: served})
}

// hold asks for a server, calls got once there is one, and keeps it until got's argument is called.
func (s *station) hold(got func(leave func())) {
	v := &visit{held: true}
	v.served = func() { got(func() { s.leave(v) }) }
	s.arrive(v)
}

func (s *station) arrive(v *visit) {
	s.count()
	v.arrived = s.clock.now
	s.arrived++
	s.stillHere += v.arrived
	if s.busy == s.servers {
		s.queue = append(s.queue, v)
		return
	}
	s.busy++
	s.begin(v)
}

func (s *station) begin(v *visit) {
	if v.held {
		v.served()
		return
	}
	s.clock.after(v.service, func() {
		s.leave(v)
		v.served()
	})
}

func (s *station) leave(v *visit) {
	s.count()
	s.left++
	s.stayed += s.clock.now - v.arrived
	s.stillHere -= v.arrived
	s.busy--
	if len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.busy++
		s.begin(next)
	}
}

// count adds the time since the last change to the areas.
func (s *station) count() {
	passed := s.clock.now - s.since
	s.area += passed * float64(s.arrived-s.left)
	s.busyArea += passed * float64(s.busy)
	s.since = s.clock.now
}

// little returns both sides of Little's law over the time so far: the mean number of visits, from the number at each
// moment, and the rate of arrivals times the mean stay, from the stays. Visits that have not left count until now. In a
// simulation that loses or doubles work the sides differ.
func (s *station) little() (number, rateTimesStay float64) {
	s.count()
	here := s.arrived - s.left
	return s.area / s.clock.now, (s.stayed + float64(here)*s.clock.now - s.stillHere) / s.clock.now
}

// utilisation returns the mean share of busy servers.
func (s *station) utilisation() float64 {
	s.count()
	return s.busyArea / s.clock.now / float64(s.servers)
}

// quantile returns the value below which the share q of the values is.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}
