package load

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"

	"github.com/go-analyze/charts/chartdraw"
	"github.com/go-analyze/charts/chartdraw/drawing"
)

// The size of the chart in pixels. The latencies are above the rates.
const (
	chartWidth    = 1000
	latencyHeight = 520
	rateHeight    = 260
)

// colors of the measures, which can be told apart by people who see no red or no green.
var colors = []drawing.Color{
	drawing.ColorFromHex("0072b2"), drawing.ColorFromHex("e69f00"), drawing.ColorFromHex("009e73"), drawing.ColorFromHex("cc79a7"),
}

var (
	gray = drawing.ColorFromHex("999999")
	pale = drawing.ColorFromHex("e4e4e4")
	ink  = drawing.ColorFromHex("333333")
)

// ErrNoChart says that there is nothing to draw.
var ErrNoChart = errors.New("no rate was measured, so there is no chart")

// WritePNG draws the report into a file. It returns [ErrNoChart] for a report without rungs.
func (r *Report) WritePNG(path string) error {
	picture, err := r.picture()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // a report is for others to read
}

// picture draws the two charts, one above the other.
func (r *Report) picture() (image.Image, error) {
	if len(r.Rungs) == 0 {
		return nil, ErrNoChart
	}
	all := image.NewPaletted(image.Rect(0, 0, chartWidth, latencyHeight+rateHeight), palette())
	top := 0
	for _, each := range []chartdraw.Chart{r.latencyChart(), r.rateChart()} {
		var collected chartdraw.ImageWriter
		if err := each.Render(chartdraw.PNG, &collected); err != nil {
			return nil, fmt.Errorf("draw the chart: %w", err)
		}
		part, err := collected.Image()
		if err != nil {
			return nil, fmt.Errorf("draw the chart: %w", err)
		}
		draw.Draw(all, image.Rect(0, top, chartWidth, top+each.Height), part, image.Point{}, draw.Src)
		top += each.Height
	}
	return all, nil
}

// palette has the colours of the chart with shades towards white, so that the file is small.
func palette() color.Palette {
	const shades = 24
	out := color.Palette{color.White}
	for _, c := range append([]drawing.Color{gray, pale, ink}, colors...) {
		for i := 1; i <= shades; i++ {
			mix := func(v uint8) uint8 { return uint8(255 - (255-int(v))*i/shades) } //nolint:gosec // from 0 to 255
			out = append(out, color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255})
		}
	}
	return out
}

// The percentiles in the chart, and how their lines look.
var percentiles = []struct {
	name string
	of   func(l Latency) float64
	dash []float64
}{
	{"p50", func(l Latency) float64 { return l.P50 }, nil},
	{"p99", func(l Latency) float64 { return l.P99 }, []float64{6, 4}},
}

// latencyChart shows the latencies over the offered rate. Both axes are logarithmic.
func (r *Report) latencyChart() chartdraw.Chart {
	var series []chartdraw.Series
	low, high := math.Inf(1), math.Inf(-1)
	for i, m := range measures {
		for _, p := range percentiles {
			var xs, ys []float64
			for j := range r.Rungs {
				if d := m.of(&r.Rungs[j]); d.Count > 0 {
					xs, ys = append(xs, math.Log10(r.Rungs[j].OfferedPerSecond)), append(ys, math.Log10(max(p.of(d), 0.01)))
					low, high = min(low, ys[len(ys)-1]), max(high, ys[len(ys)-1])
				}
			}
			if len(xs) > 0 {
				series = append(series, line(m.name+" "+p.name, xs, ys, colors[i], p.dash))
			}
		}
	}
	if len(series) == 0 { // no run was accepted: an empty chart says so
		series, low, high = append(series, line("", r.logRates(), make([]float64, len(r.Rungs)), pale, nil)), 0, 1
	}
	c := r.chart("Latency by offered rate", latencyHeight, series)
	c.YAxis = yAxis("milliseconds", decades(low, high))
	return c
}

// rateChart shows the rate at which runs ended over the offered rate.
func (r *Report) rateChart() chartdraw.Chart {
	xs := r.logRates()
	var offered, ended []float64
	low, high := math.Inf(1), math.Inf(-1)
	for i := range r.Rungs {
		offered = append(offered, math.Log10(r.Rungs[i].OfferedPerSecond))
		ended = append(ended, math.Log10(max(r.Rungs[i].AchievedPerSecond, r.Rungs[0].OfferedPerSecond/10)))
		low, high = min(low, offered[i], ended[i]), max(high, offered[i], ended[i])
	}
	c := r.chart("Runs that ended per second", rateHeight, []chartdraw.Series{
		line("offered", xs, offered, gray, []float64{6, 4}), line("ended", xs, ended, colors[0], nil),
	})
	c.YAxis = yAxis("runs per second", decades(low, high))
	return c
}

func (r *Report) logRates() []float64 {
	xs := make([]float64, len(r.Rungs))
	for i := range r.Rungs {
		xs[i] = math.Log10(r.Rungs[i].OfferedPerSecond)
	}
	return xs
}

// chart returns a chart over the offered rates.
func (r *Report) chart(title string, height int, series []chartdraw.Series) chartdraw.Chart {
	xs := r.logRates()
	var ticks []chartdraw.Tick
	for i, x := range xs {
		ticks = append(ticks, chartdraw.Tick{Value: x, Label: rate(r.Rungs[i].OfferedPerSecond)})
	}
	if len(xs) == 1 { // it stands in the middle
		ticks = []chartdraw.Tick{{Value: xs[0] - 1}, ticks[0], {Value: xs[0] + 1}}
	}
	text := chartdraw.FontStyle{FontSize: 9, FontColor: ink}
	c := chartdraw.Chart{
		Title: title, TitleStyle: chartdraw.Style{FontStyle: chartdraw.FontStyle{FontSize: 11, FontColor: ink}},
		Width: chartWidth, Height: height,
		Background: chartdraw.Style{Padding: chartdraw.Box{Top: 40, Left: 170, Right: 20, Bottom: 20, IsSet: true}},
		XAxis: chartdraw.XAxis{
			Name: "offered rate, runs per second", NameStyle: chartdraw.Style{FontStyle: text}, Style: chartdraw.Style{FontStyle: text, StrokeColor: gray}, Ticks: ticks,
			Range: &chartdraw.ContinuousRange{Min: ticks[0].Value, Max: ticks[len(ticks)-1].Value},
		},
		YAxisSecondary: chartdraw.YAxis{Style: chartdraw.Hidden()},
		Series:         series,
	}
	c.Elements = []chartdraw.Renderable{chartdraw.LegendLeft(&c, chartdraw.Style{FontStyle: text, StrokeColor: pale})}
	return c
}

// line returns a line with a dot for each rung.
func line(name string, xs, ys []float64, c drawing.Color, dash []float64) chartdraw.Series {
	return chartdraw.ContinuousSeries{
		Name: name, XValues: xs, YValues: ys,
		Style: chartdraw.Style{StrokeColor: c, StrokeWidth: 2, StrokeDashArray: dash, DotColor: c, DotWidth: 3},
	}
}

// yAxis returns an axis from the first to the last of its ticks, with a line at each.
func yAxis(name string, ticks []chartdraw.Tick) chartdraw.YAxis {
	text := chartdraw.FontStyle{FontSize: 9, FontColor: ink}
	return chartdraw.YAxis{
		Name: name, NameStyle: chartdraw.Style{FontStyle: text}, Style: chartdraw.Style{FontStyle: text, StrokeColor: gray}, Ticks: ticks,
		GridMajorStyle: chartdraw.Style{StrokeColor: pale, StrokeWidth: 1}, GridMinorStyle: chartdraw.Style{StrokeColor: pale, StrokeWidth: 1},
		Range: &chartdraw.ContinuousRange{Min: ticks[0].Value, Max: ticks[len(ticks)-1].Value},
	}
}

// decades returns ticks at 1, 2 and 5 of each power of ten, so that they include the range. The range and the
// ticks are logarithms.
func decades(low, high float64) []chartdraw.Tick {
	var all []chartdraw.Tick
	for power := math.Floor(low) - 1; power <= math.Ceil(high)+1; power++ {
		for _, step := range []float64{1, 2, 5} {
			value := step * math.Pow(10, power)
			all = append(all, chartdraw.Tick{Value: math.Log10(value), Label: fmt.Sprintf("%g", round(value, 4))})
		}
	}
	first, last := 0, len(all)-1
	for first+2 < len(all) && all[first+1].Value <= low {
		first++
	}
	for last-1 > first+1 && all[last-1].Value >= high {
		last--
	}
	return all[first : last+1]
}

// round returns n with some decimals.
func round(n float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(n*scale) / scale
}
