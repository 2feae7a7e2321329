package load

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// The places in the chart, in units of its own: it has no size, and fills what shows it.
const (
	chartWidth, chartHeight  = 800, 668
	chartLeft, chartRight    = 60.0, 784.0
	latencyTop, latencyFloor = 136.0, 426.0
	rateTop, rateFloor       = 496.0, 620.0
	// letter is how wide a letter is, about, and tickSpace how far apart the labels of an axis are at least.
	letter, tickSpace = 7.0, 18.0
)

// chartStyle is how the chart looks on light and on dark pages. Its colours can be told apart by people who see no red
// or no green. What p99 looks like does not depend on a line, which a single rate has not.
const chartStyle = `
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
.small { font-size: 12px; fill: #57606a }
.end { text-anchor: end }
.middle { text-anchor: middle }
.back { fill: #fff }
.grid { stroke: #d8dee4 }
path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round }
circle { fill: currentColor; stroke: currentColor; stroke-width: 2 }
path.p99 { stroke-dasharray: 6 4 }
circle.p99 { fill: #fff }
.plain { color: #6e7781 }
.m0 { color: #0072b2 }
.m1 { color: #d55e00 }
.m2 { color: #009e73 }
.m3 { color: #b8639a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9da7b1 }
.back, circle.p99 { fill: #0d1117 }
.grid { stroke: #30363d }
.plain { color: #8b949e }
.m0 { color: #56b4e9 }
.m1 { color: #f0883e }
.m2 { color: #2bc08f }
.m3 { color: #d98fbb }
}
`

// ErrNoChart says that there is nothing to draw.
var ErrNoChart = errors.New("no rate was measured, so there is no chart")

// WriteSVG draws the report into a file. It returns [ErrNoChart] for a report without rungs.
func (r *Report) WriteSVG(path string) error {
	if len(r.Rungs) == 0 {
		return ErrNoChart
	}
	return os.WriteFile(path, []byte(r.svg()), 0o644) //nolint:gosec // a report is for others to read
}

// svg draws the latencies above the rates, both over the offered rate.
func (r *Report) svg() string {
	var c chart
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">`+"\n", chartWidth, chartHeight)
	title := "spool load " + r.Command.Server
	c.printf("<title>%s</title>\n<style>%s</style>\n", escaped(title), chartStyle)
	c.printf(`<rect class="back" width="%d" height="%d"/>`+"\n", chartWidth, chartHeight)
	c.text(16, 28, "title", title)
	c.text(16, 50, "small", r.verdict())

	offered := make([]float64, len(r.Rungs))
	for i := range r.Rungs {
		offered[i] = r.Rungs[i].OfferedPerSecond
	}
	x := newScale(offered, chartLeft, chartRight)
	c.latencies(r, x)
	c.rates(r, x)
	c.text((chartLeft+chartRight)/2, rateFloor+40, "small middle", "offered rate, runs per second")
	c.b.WriteString("</svg>\n")
	return c.b.String()
}

// chart writes the elements of a chart.
type chart struct{ b strings.Builder }

// latencies draws two percentiles of each measure.
func (c *chart) latencies(r *Report, x scale) {
	percentiles := []struct {
		name string
		of   func(l Latency) float64
	}{
		{"p50", func(l Latency) float64 { return l.P50 }},
		{"p99", func(l Latency) float64 { return l.P99 }},
	}
	var all []float64
	var lines []line
	for i, m := range measures {
		for _, p := range percentiles {
			l := line{name: m.name + " " + p.name, class: "m" + strconv.Itoa(i), mark: p.name, unit: "ms"}
			for j := range r.Rungs {
				if d := m.of(&r.Rungs[j]); d.Count > 0 {
					l.add(r.Rungs[j].OfferedPerSecond, max(p.of(d), 0.01))
				}
			}
			lines, all = append(lines, l), append(all, l.ys...)
		}
	}
	c.text(16, latencyTop-42, "title", "Latency, milliseconds")
	at := chartLeft
	for i, m := range measures {
		at = c.legend(at, latencyTop-20, "m"+strconv.Itoa(i), "p50", m.name)
	}
	for _, p := range percentiles {
		at = c.legend(at, latencyTop-20, "plain", p.name, p.name)
	}
	c.plot(x, newScale(all, latencyFloor, latencyTop), lines)
}

// rates draws the rate at which runs ended.
func (c *chart) rates(r *Report, x scale) {
	offered := line{name: "offered", class: "plain", mark: "p99", unit: "runs per second"}
	ended := line{name: "ended", class: "m0", mark: "p50", unit: "runs per second"}
	for i := range r.Rungs {
		rate := r.Rungs[i].OfferedPerSecond
		offered.add(rate, rate)
		// A logarithmic axis has no zero.
		ended.add(rate, max(r.Rungs[i].AchievedPerSecond, r.Rungs[0].OfferedPerSecond/10))
	}
	c.text(16, rateTop-20, "title", "Runs that ended per second")
	at := chartRight - 200
	for _, l := range []line{offered, ended} {
		at = c.legend(at, rateTop-20, l.class, l.mark, l.name)
	}
	c.plot(x, newScale(slices.Concat(offered.ys, ended.ys), rateFloor, rateTop), []line{offered, ended})
}

// line is a line with a dot for each rung. What points at a dot shows its numbers.
type line struct {
	name, class, mark, unit string
	xs, ys                  []float64
}

func (l *line) add(x, y float64) { l.xs, l.ys = append(l.xs, x), append(l.ys, y) }

// plot draws lines, with an axis below and one to the left.
func (c *chart) plot(x, y scale, lines []line) {
	for _, v := range y.ticks() {
		c.printf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x.from, x.to, y.at(v), y.at(v))
		c.text(x.from-8, y.at(v)+4, "small end y", tickLabel(v))
	}
	for _, v := range x.ticks() {
		c.printf(`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x.at(v), x.at(v), y.from, y.to)
		c.text(x.at(v), y.from+18, "small middle x", tickLabel(v))
	}
	for _, l := range lines {
		if len(l.xs) == 0 {
			continue
		}
		var points []string
		for i := range l.xs {
			points = append(points, fmt.Sprintf("%.1f %.1f", x.at(l.xs[i]), y.at(l.ys[i])))
		}
		c.printf(`<g class="%s"><path class="%s" d="M%s"/>`+"\n", l.class, l.mark, strings.Join(points, "L"))
		for i := range l.xs {
			c.printf(`<circle class="%s" cx="%.1f" cy="%.1f" r="3.5"><title>%s, %s offered: %s %s</title></circle>`+"\n",
				l.mark, x.at(l.xs[i]), y.at(l.ys[i]), escaped(l.name), tickLabel(l.xs[i]), number(l.ys[i]), l.unit)
		}
		c.printf("</g>\n")
	}
}

// legend writes the entry of a line, and returns where the next one begins.
func (c *chart) legend(x, y float64, class, mark, name string) float64 {
	c.printf(`<g class="%s"><path class="%s" d="M%.1f %.1fh26"/><circle class="%s" cx="%.1f" cy="%.1f" r="3.5"/></g>`,
		class, mark, x, y-4, mark, x+13, y-4)
	c.text(x+33, y, "small", name)
	return x + 33 + letter*float64(len(name)) + 20
}

func (c *chart) text(x, y float64, class, text string) {
	c.printf(`<text x="%.1f" y="%.1f" class="%s">%s</text>`+"\n", x, y, class, escaped(text))
}

func (c *chart) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// escaped returns text as it stands in XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder does not fail
	return b.String()
}

// scale is a logarithmic axis: values from low to high are at places from one to another.
type scale struct{ low, high, from, to float64 }

// newScale returns an axis that has room for the values, and for a little more on both sides.
func newScale(values []float64, from, to float64) scale {
	if len(values) == 0 { // no run was accepted: an empty chart says so
		return scale{1, 10, from, to}
	}
	low, high := slices.Min(values), slices.Max(values)
	room := math.Pow(high/low, 0.04)
	if high < 1.5*low {
		room = 1.5
	}
	return scale{low / room, high * room, from, to}
}

// at returns the place of a value.
func (s scale) at(v float64) float64 {
	return s.from + (s.to-s.from)*math.Log(v/s.low)/math.Log(s.high/s.low)
}

// ticks returns round numbers on the axis: 1, 2 and 5 of each power of ten. A long axis has only the powers, and a
// short one equal steps.
func (s scale) ticks() []float64 {
	fine := s.decades(1, 2, 5)
	switch {
	case len(fine) > int(math.Abs(s.to-s.from)/tickSpace):
		return s.decades(1)
	case len(fine) >= 3:
		return fine
	}
	least := (s.high - s.low) / 5
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{2, 2.5, 2} { // 2, 5 and 10 of the power
		if step < least {
			step *= times
		}
	}
	var out []float64
	for n := math.Ceil(s.low / step); n*step <= s.high; n++ {
		out = append(out, n*step)
	}
	return out
}

// decades returns the steps of each power of ten that are on the axis.
func (s scale) decades(steps ...float64) []float64 {
	var out []float64
	for power := math.Floor(math.Log10(s.low)); power <= math.Log10(s.high); power++ {
		for _, step := range steps {
			if v := step * math.Pow(10, power); v >= s.low && v <= s.high {
				out = append(out, v)
			}
		}
	}
	return out
}

// tickLabel returns the label of a value on an axis.
func tickLabel(v float64) string { return strconv.FormatFloat(round(v, 4), 'f', -1, 64) }

// round returns n with some decimals.
func round(n float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(n*scale) / scale
}
